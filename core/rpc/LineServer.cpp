// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/LineServer.h"

#include "core/rpc/LineStream.h"
#include "core/rpc/UnixAddress.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <thread>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

// More than any front end asks for at once; a peer that floods us gets errors, not threads.
constexpr std::size_t maximumRequests = 64;

Error systemError(const char *what, const std::filesystem::path &path)
{
    return Error(Code::Io, std::string(what) + ": " + std::strerror(errno), path.string());
}

bool isSameUser(int socket)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

Result<Json> runHandler(const RequestHandler &handler, const RpcMessage &request, const CancelToken &cancel,
                        const ProgressSink &progress)
{
    // Our functions throw nothing, but a library below (JSON access, allocation) may: one request must not end the server.
    try {
        return handler(request.method, request.params, cancel, progress);
    } catch (const std::exception &exception) {
        return Error(Code::Internal, std::string("an exception left the handler: ") + exception.what(),
                     request.method);
    }
}

} // namespace

struct LineServer::State {
    struct Connection {
        std::shared_ptr<LineStream> stream;
        std::mutex mutex; // guards requests and running
        std::condition_variable changed;
        std::map<std::string, CancelSource> requests; // by the id's JSON text
        std::size_t running = 0;
    };

    explicit State(RequestHandler requestHandler) : handler(std::move(requestHandler)) {}

    void serveConnection(const std::shared_ptr<Connection> &connection);
    void startRequest(const std::shared_ptr<Connection> &connection, RpcMessage message);
    void runRequest(const std::shared_ptr<Connection> &connection, const RpcMessage &message,
                    const CancelToken &cancel);
    bool addConnection(const std::shared_ptr<Connection> &connection);
    void removeConnection(const std::shared_ptr<Connection> &connection);
    void acceptLoop();
    void touch(int change);

    const RequestHandler handler;
    mutable std::mutex mutex; // guards everything below
    std::condition_variable changed;
    bool isStopping = false;
    bool isStopRequested = false;
    std::size_t activeRequests = 0;
    Clock::time_point lastActivity = Clock::now();
    std::list<std::shared_ptr<Connection>> connections;
    Fd listener;
    Fd wake;
    std::filesystem::path path;
    std::thread acceptor;
};

void LineServer::State::touch(int change)
{
    const std::lock_guard lock(mutex);
    activeRequests = change < 0 ? activeRequests - 1 : activeRequests + static_cast<std::size_t>(change);
    lastActivity = Clock::now();
}

bool LineServer::State::addConnection(const std::shared_ptr<Connection> &connection)
{
    const std::lock_guard lock(mutex);
    lastActivity = Clock::now();
    if (isStopping)
        return false;
    connections.push_back(connection);
    return true;
}

void LineServer::State::removeConnection(const std::shared_ptr<Connection> &connection)
{
    const std::lock_guard lock(mutex);
    lastActivity = Clock::now();
    connections.remove(connection);
    changed.notify_all();
}

void LineServer::State::runRequest(const std::shared_ptr<Connection> &connection, const RpcMessage &message,
                                   const CancelToken &cancel)
{
    const ProgressSink progress = [&](const Progress &step) {
        const Json params{
            {"id", message.id}, {"phase", step.phase}, {"fraction", step.fraction}, {"detail", step.detail}};
        connection->stream->write(Json{{"jsonrpc", "2.0"}, {"method", "$/progress"}, {"params", params}});
    };
    auto result = runHandler(handler, message, cancel, progress);
    Json answer{{"jsonrpc", "2.0"}, {"id", message.id}};
    if (result)
        answer["result"] = std::move(result).value();
    else
        answer["error"] = rpcError(result.error());
    connection->stream->write(answer);
}

void LineServer::State::startRequest(const std::shared_ptr<Connection> &connection, RpcMessage message)
{
    const std::string key = compactText(message.id);
    CancelSource source;
    {
        const std::lock_guard lock(connection->mutex);
        const bool isFull = connection->requests.size() >= maximumRequests;
        if (isFull || !connection->requests.emplace(key, source).second) {
            const Error error(Code::Protocol,
                              isFull ? "too many requests at once on one connection"
                                     : "a request with this id is still running");
            connection->stream->write(
                Json{{"jsonrpc", "2.0"}, {"id", message.id}, {"error", rpcError(error)}});
            return;
        }
        ++connection->running;
    }
    touch(+1);
    // Detached, but counted: serveConnection() does not return before `running` is zero.
    std::thread([this, connection, key, request = std::move(message), token = source.get_token()] {
        runRequest(connection, request, token);
        touch(-1);
        const std::lock_guard lock(connection->mutex);
        connection->requests.erase(key);
        --connection->running;
        connection->changed.notify_all();
    }).detach();
}

void LineServer::State::serveConnection(const std::shared_ptr<Connection> &connection)
{
    while (auto line = connection->stream->readLine()) {
        auto message = parseRpcMessage(*line);
        if (!message) {
            connection->stream->write(
                Json{{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", rpcError(message.error())}});
            continue;
        }
        if (message->method == "$/cancel") {
            const std::lock_guard lock(connection->mutex);
            const auto found = connection->requests.find(compactText(memberOr(message->params, "id")));
            if (found != connection->requests.end())
                found->second.request_stop();
        } else if (!message->method.empty() && !message->id.is_null()) {
            startRequest(connection, std::move(message).value());
        }
        // Other notifications and stray responses have no meaning here and, as JSON-RPC says, no answer.
    }
    std::unique_lock lock(connection->mutex);
    for (auto &[key, source] : connection->requests)
        source.request_stop();
    connection->stream->interrupt();
    connection->changed.wait(lock, [&] { return connection->running == 0; });
}

void LineServer::State::acceptLoop()
{
    while (true) {
        pollfd entries[2] = {{listener.value(), POLLIN, 0}, {wake.value(), POLLIN, 0}};
        if (::poll(entries, 2, -1) < 0 && errno != EINTR)
            return;
        if (entries[1].revents != 0)
            return;
        Fd socket(::accept4(listener.value(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!socket.isOpen() || !isSameUser(socket.value()))
            continue;
        auto stream = LineStream::create(std::move(socket), Fd());
        if (!stream)
            continue;
        auto connection = std::make_shared<Connection>();
        connection->stream = std::move(stream).value();
        if (!addConnection(connection))
            return;
        std::thread([this, connection] {
            serveConnection(connection);
            removeConnection(connection); // the last use of `this`: stop() waits for it
        }).detach();
    }
}

LineServer::LineServer(RequestHandler handler) : m_state(std::make_shared<State>(std::move(handler))) {}

LineServer::~LineServer() { stop(); }

Result<void> LineServer::listen(const std::filesystem::path &path)
{
    HEDDLE_TRY(const sockaddr_un address, unixAddress(path));
    const auto *target = reinterpret_cast<const sockaddr *>(&address);
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    Fd wake(::eventfd(0, EFD_CLOEXEC));
    if (!socket.isOpen() || !wake.isOpen())
        return systemError("cannot make a socket", path);
    {
        const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (::connect(probe.value(), target, sizeof address) == 0)
            return Error(Code::Conflict, "another worker answers on this socket", path.string());
    }
    struct stat info{};
    if (::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode))
        ::unlink(path.c_str());
    if (::bind(socket.value(), target, sizeof address) != 0)
        return systemError("cannot bind the socket", path);
    ::chmod(path.c_str(), 0600);
    if (::listen(socket.value(), 16) != 0)
        return systemError("cannot listen on the socket", path);
    m_state->listener = std::move(socket);
    m_state->wake = std::move(wake);
    m_state->path = path;
    m_state->acceptor = std::thread([state = m_state.get()] { state->acceptLoop(); });
    return {};
}

Result<void> LineServer::serve(Fd input, Fd output)
{
    HEDDLE_TRY(auto stream, LineStream::create(std::move(input), std::move(output)));
    auto connection = std::make_shared<State::Connection>();
    connection->stream = std::move(stream);
    if (!m_state->addConnection(connection))
        return Error(Code::Cancelled, "the server is stopping");
    m_state->serveConnection(connection);
    m_state->removeConnection(connection);
    return {};
}

void LineServer::requestStop()
{
    const std::lock_guard lock(m_state->mutex);
    m_state->isStopRequested = true;
    m_state->changed.notify_all();
}

bool LineServer::wait(std::chrono::milliseconds limit)
{
    std::unique_lock lock(m_state->mutex);
    return m_state->changed.wait_for(lock, limit,
                                     [&] { return m_state->isStopRequested || m_state->isStopping; });
}

void LineServer::stop()
{
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->isStopping = true;
        m_state->changed.notify_all();
        for (const auto &connection : m_state->connections)
            connection->stream->interrupt();
    }
    if (m_state->acceptor.joinable()) {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t count = ::write(m_state->wake.value(), &one, sizeof one);
        m_state->acceptor.join();
        m_state->listener.reset();
        ::unlink(m_state->path.c_str());
    }
    std::unique_lock lock(m_state->mutex);
    m_state->changed.wait(lock, [&] { return m_state->connections.empty(); });
}

Clock::duration LineServer::idleTime() const
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->activeRequests > 0 ? Clock::duration::zero() : Clock::now() - m_state->lastActivity;
}

} // namespace heddle
