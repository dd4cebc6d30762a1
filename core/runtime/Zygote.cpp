// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/Zygote.h"

#include "core/base/Digest.h"
#include "core/sandbox/Locations.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

namespace heddle {

namespace {

constexpr std::size_t logBytes = 16u << 10;
constexpr auto forkTimeout = std::chrono::milliseconds(20'000);

} // namespace

struct Zygote::State {
    State(Spawner &startingSpawner, ZygoteOptions zygoteOptions)
        : spawner(startingSpawner), options(std::move(zygoteOptions))
    {
    }

    Result<Json> start();
    Result<Forked> fork();
    Result<Forked> forkOnce();
    void stop();
    void readLog(int fd);
    void prepareSpare();
    std::string lastLog() const;

    Spawner &spawner;
    const ZygoteOptions options;

    std::mutex mutex; // guards the process and its channel; held while one talks to it
    std::optional<Child> child;
    std::optional<FrameChannel> channel;
    Json facts;
    std::thread logReader;

    std::mutex spareMutex; // guards the two below
    std::optional<Forked> spare;
    bool isStopping = false;
    std::mutex threadMutex; // guards spareThread
    std::thread spareThread;

    mutable std::mutex logMutex; // guards the two below
    std::string log;
    pid_t pid = 0;
};

std::string Zygote::State::lastLog() const
{
    const std::lock_guard lock(logMutex);
    return log;
}

void Zygote::State::readLog(int fd)
{
    const Fd owned(fd);
    char chunk[4096];
    while (true) {
        const ssize_t count = ::read(owned.value(), chunk, sizeof chunk);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return;
        const std::lock_guard lock(logMutex);
        log.append(chunk, static_cast<std::size_t>(count));
        if (log.size() > logBytes)
            log.erase(0, log.size() - logBytes);
    }
}

void Zygote::State::stop()
{
    // With `mutex` held. The children die with the zygote: by PID namespace, or by their death signal.
    child.reset();
    channel.reset();
    if (logReader.joinable())
        logReader.join();
    const std::lock_guard lock(logMutex);
    pid = 0;
}

Result<Json> Zygote::State::start()
{
    if (child && child->isAlive() && !channel->isBroken())
        return facts;
    stop();
    {
        const std::lock_guard lock(logMutex);
        log.clear();
    }
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return Error(Code::Io, std::string("cannot make a pipe: ") + std::strerror(errno));
    Fd reading(ends[0]);
    Fd writing(ends[1]);
    HEDDLE_TRY(auto pair, FrameChannel::createPair());
    HEDDLE_TRY(const auto library, ownFile("libheddle_sandbox.so"));
    SpawnRequest request;
    request.policy = options.policy;
    request.policy.readOnly.push_back(library);
    request.policy.environment.push_back("HEDDLE_SANDBOX_LIBRARY=" + library.string());
    request.argv = options.argv;
    request.channel = pair.second.value();
    request.error = writing.value();
    HEDDLE_TRY(Child started, spawner.spawn(request));
    child.emplace(std::move(started));
    channel.emplace(std::move(pair.first));
    pair.second.reset();
    writing.reset();
    logReader = std::thread([this, fd = reading.release()] { readLog(fd); });
    {
        const std::lock_guard lock(logMutex);
        pid = child->pid();
    }
    CallOptions calling;
    calling.timeout = options.startTimeout;
    auto answer = channel->call("ping", Json::object(), {}, calling);
    if (!answer) {
        const auto status = child->waitFor(std::chrono::milliseconds(500));
        stop();
        std::string message = "the Python side did not start";
        if (status)
            message += " (" + status->text() + ")";
        const std::string text = lastLog();
        return Error(Code::Environment, message + (text.empty() ? "" : ":\n" + text), options.argv.front(),
                     "run `heddle-cli doctor`");
    }
    facts = std::move(answer->result);
    return facts;
}

Result<Forked> Zygote::State::forkOnce()
{
    HEDDLE_CHECK_OK(start());
    HEDDLE_TRY(auto pair, FrameChannel::createPair());
    const std::string nonce = randomHex(16);
    CallOptions calling;
    calling.timeout = forkTimeout;
    HEDDLE_TRY(Reply reply, channel->call("fork", Json{{"nonce", nonce}}, {pair.second.value()}, calling));
    pair.second.reset();
    if (reply.fds.size() != 1)
        return Error(Code::Protocol, "a zygote answers a fork with one descriptor");
    HEDDLE_TRY(Frame first, pair.first.receive(calling));
    const Json hello = memberOr(first.body, "hello");
    if (!hello.is_object() || stringOr(hello, "nonce") != nonce)
        return Error(Code::Protocol, "a forked child did not say who it is");
    // What the zygote's own walls are, and those that the child added.
    Json report = child->report();
    report["inner"] = memberOr(hello, "sandbox");
    HEDDLE_TRY(Child forked, Child::fromPidfd(std::move(reply.fds[0]), std::move(report)));
    spawner.watch(forked, options.policy);
    return Forked{std::move(forked), std::move(pair.first), hello};
}

Result<Forked> Zygote::State::fork()
{
    const std::lock_guard lock(mutex);
    auto forked = forkOnce();
    if (forked)
        return forked;
    // A zygote that died or lost its place in the protocol gets one fresh start.
    const Code code = forked.error().code();
    if (code != Code::Crashed && code != Code::TimedOut && code != Code::Protocol)
        return forked;
    stop();
    return forkOnce();
}

void Zygote::State::prepareSpare()
{
    const std::lock_guard threadLock(threadMutex);
    if (spareThread.joinable())
        spareThread.join();
    spareThread = std::thread([this] {
        {
            const std::lock_guard lock(spareMutex);
            if (isStopping || spare)
                return;
        }
        auto forked = fork();
        const std::lock_guard lock(spareMutex);
        if (forked && !isStopping && !spare)
            spare.emplace(std::move(forked).value());
    });
}

Zygote::Zygote(Spawner &spawner, ZygoteOptions options)
    : m_state(std::make_shared<State>(spawner, std::move(options)))
{
}

Zygote::~Zygote() { stop(); }

Result<Json> Zygote::start()
{
    HEDDLE_TRY(Json facts, [&] {
        const std::lock_guard lock(m_state->mutex);
        return m_state->start();
    }());
    {
        const std::lock_guard lock(m_state->spareMutex);
        m_state->isStopping = false;
    }
    if (m_state->options.keepSpare)
        m_state->prepareSpare();
    return facts;
}

Result<Forked> Zygote::fork()
{
    std::optional<Forked> ready;
    {
        const std::lock_guard lock(m_state->spareMutex);
        m_state->isStopping = false;
        ready.swap(m_state->spare);
    }
    const bool isUsable = ready && ready->child.isAlive();
    if (!isUsable) {
        HEDDLE_TRY(Forked fresh, m_state->fork());
        ready.emplace(std::move(fresh));
    }
    if (m_state->options.keepSpare)
        m_state->prepareSpare();
    return std::move(*ready);
}

pid_t Zygote::pid() const
{
    const std::lock_guard lock(m_state->logMutex);
    return m_state->pid;
}

std::string Zygote::log() const { return m_state->lastLog(); }

void Zygote::stop()
{
    {
        const std::lock_guard lock(m_state->spareMutex);
        m_state->isStopping = true;
    }
    {
        const std::lock_guard threadLock(m_state->threadMutex);
        if (m_state->spareThread.joinable())
            m_state->spareThread.join();
    }
    {
        const std::lock_guard lock(m_state->spareMutex);
        m_state->spare.reset();
    }
    const std::lock_guard lock(m_state->mutex);
    m_state->stop();
}

} // namespace heddle
