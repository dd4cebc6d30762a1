// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/LineClient.h"

#include "core/rpc/LineStream.h"
#include "core/rpc/UnixAddress.h"

#include <sys/socket.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto endAfterCancel = std::chrono::seconds(5);
constexpr auto cancelSlice = std::chrono::milliseconds(20);

} // namespace

struct LineClient::State {
    struct Pending {
        std::deque<Progress> progress;
        std::optional<Result<Json>> result;
    };

    void readLoop();
    void deliver(RpcMessage message);

    std::shared_ptr<LineStream> stream;
    std::thread reader;
    mutable std::mutex mutex; // guards everything below
    std::condition_variable changed;
    std::map<std::int64_t, Pending> pending;
    std::int64_t nextId = 1;
    bool isConnected = true;
};

void LineClient::State::deliver(RpcMessage message)
{
    const std::lock_guard lock(mutex);
    const Json &id = message.method == "$/progress" ? memberOr(message.params, "id") : message.id;
    if (!id.is_number_integer())
        return;
    const auto found = pending.find(id.get<std::int64_t>());
    if (found == pending.end())
        return;
    if (message.method == "$/progress")
        found->second.progress.push_back(Progress{stringOr(message.params, "phase"),
                                                  numberOr(message.params, "fraction", -1.0),
                                                  stringOr(message.params, "detail")});
    else if (message.method.empty())
        found->second.result =
            message.error ? Result<Json>(std::move(*message.error)) : Result<Json>(std::move(message.result));
    changed.notify_all();
}

void LineClient::State::readLoop()
{
    while (auto line = stream->readLine()) {
        // A line that is no message is noise (a login banner through ssh): it must not end the connection.
        if (auto message = parseRpcMessage(*line))
            deliver(std::move(message).value());
    }
    const std::lock_guard lock(mutex);
    isConnected = false;
    changed.notify_all();
}

LineClient::LineClient(std::shared_ptr<State> state) : m_state(std::move(state))
{
    m_state->reader = std::thread([reading = m_state.get()] { reading->readLoop(); });
}

LineClient::~LineClient()
{
    m_state->stream->interrupt();
    m_state->reader.join();
}

Result<std::unique_ptr<LineClient>> LineClient::fromPipes(Fd input, Fd output)
{
    auto state = std::make_shared<State>();
    HEDDLE_TRY(state->stream, LineStream::create(std::move(input), std::move(output)));
    return std::unique_ptr<LineClient>(new LineClient(std::move(state)));
}

Result<std::unique_ptr<LineClient>> LineClient::connect(const std::filesystem::path &path)
{
    HEDDLE_TRY(const sockaddr_un address, unixAddress(path));
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.value(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0) {
        const bool isAbsent = errno == ENOENT || errno == ECONNREFUSED;
        return Error(isAbsent ? Code::NotFound : Code::Io,
                     std::string("cannot connect to the worker: ") + std::strerror(errno), path.string());
    }
    return fromPipes(std::move(socket), Fd());
}

bool LineClient::isConnected() const
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->isConnected;
}

Result<Json> LineClient::call(const std::string &method, const Json &params, const CallOptions &options)
{
    std::unique_lock lock(m_state->mutex);
    const std::int64_t id = m_state->nextId++;
    State::Pending &pending = m_state->pending[id];
    lock.unlock();
    m_state->stream->write(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    lock.lock();
    auto deadline = Clock::now() + options.timeout;
    std::optional<Error> ending; // why we asked for the end
    const auto finish = [&](Result<Json> result) {
        m_state->pending.erase(id);
        return result;
    };
    while (true) {
        while (!pending.progress.empty()) {
            const Progress step = std::move(pending.progress.front());
            pending.progress.pop_front();
            lock.unlock();
            if (options.progress)
                options.progress(step);
            lock.lock();
        }
        if (pending.result)
            return finish(std::move(*pending.result));
        if (!m_state->isConnected)
            return finish(Error(Code::Crashed, "the connection to the worker was lost", method,
                                "try again; the worker is started again on demand"));
        if (ending && Clock::now() >= deadline)
            return finish(std::move(*ending));
        if (!ending && (options.cancel.stop_requested() || Clock::now() >= deadline)) {
            ending = options.cancel.stop_requested()
                ? Error(Code::Cancelled, "the request was cancelled", method)
                : Error(Code::TimedOut, "the worker did not answer in time", method);
            deadline = Clock::now() + endAfterCancel;
            lock.unlock();
            m_state->stream->write(
                Json{{"jsonrpc", "2.0"}, {"method", "$/cancel"}, {"params", Json{{"id", id}}}});
            lock.lock();
            continue;
        }
        auto until = deadline;
        if (!ending && options.cancel.stop_possible())
            until = std::min(until, Clock::now() + cancelSlice);
        m_state->changed.wait_until(lock, until);
    }
}

} // namespace heddle
