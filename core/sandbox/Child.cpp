// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/Child.h"

#include "core/sandbox/ChildState.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

bool isReadable(int fd, std::chrono::milliseconds limit)
{
    const auto end = Clock::now() + limit;
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
        pollfd entry{fd, POLLIN, 0};
        const int count =
            ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000)));
        if (count > 0)
            return true;
        if ((count == 0 || errno != EINTR) && Clock::now() >= end)
            return false;
    }
}

int sendSignal(int pidfd, int number)
{
    return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0));
}

/// The layout of Linux 6.15's first struct pidfd_info, newer than Debian 12's headers.
struct PidfdInfo {
    std::uint64_t mask;
    std::uint64_t cgroup;
    std::uint32_t ids[11];
    std::int32_t exitCode;
};

/// How a process that is not our child ended: the kernel tells once its parent has reaped it.
ExitStatus foreignStatus(int pidfd)
{
    constexpr std::uint64_t wantsExit = 1u << 3;
    for (int attempt = 0; attempt < 20; ++attempt) {
        PidfdInfo info{};
        info.mask = wantsExit;
        if (::ioctl(pidfd, _IOWR(0xFF, 11, PidfdInfo), &info) == 0 && (info.mask & wantsExit) != 0) {
            const int status = info.exitCode;
            return WIFSIGNALED(status) ? ExitStatus{0, WTERMSIG(status), true, false}
                                       : ExitStatus{WEXITSTATUS(status), 0, true, false};
        }
        ::poll(nullptr, 0, 1);
    }
    return ExitStatus{0, 0, false, false};
}

ExitStatus statusFrom(const siginfo_t &info)
{
    if (info.si_code == CLD_EXITED)
        // Bubblewrap and heddle-launch pass a signal on as 128 and its number.
        return info.si_status > 128 && info.si_status < 128 + 65
            ? ExitStatus{0, info.si_status - 128, true, false}
            : ExitStatus{info.si_status, 0, true, false};
    return ExitStatus{0, info.si_status, true, false};
}

} // namespace

std::string ExitStatus::text() const
{
    if (overMemory)
        return "killed above its memory limit";
    if (!isKnown)
        return "ended for a reason that the kernel does not tell";
    if (signal == 0)
        return "exit code " + std::to_string(code);
    const char *name = ::sigabbrev_np(signal);
    return "killed by " + (name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal));
}

Error ExitStatus::error(const std::string &who) const
{
    if (overMemory)
        return Error(Code::OutOfMemory, who + " was stopped above its memory limit", {},
                     "use less memory, or raise the limit in the settings");
    return Error(Code::Crashed, who + " died: " + text());
}

Fd openPidfd(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

pid_t pidOf(int pidfd)
{
    std::ifstream info("/proc/self/fdinfo/" + std::to_string(pidfd));
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("Pid:"))
            return std::max(0, std::atoi(line.c_str() + 4));
    }
    return 0;
}

std::vector<pid_t> processTree(pid_t root)
{
    std::vector<pid_t> tree{root};
    for (std::size_t i = 0; i < tree.size() && tree.size() < 10'000; ++i) {
        const std::string pid = std::to_string(tree[i]);
        std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
        for (pid_t child = 0; children >> child;)
            tree.push_back(child);
    }
    return tree;
}

bool Child::State::isDead() const { return isReadable(innerPidfd.value(), std::chrono::milliseconds(0)); }

std::optional<ExitStatus> Child::State::waitFor(std::chrono::milliseconds limit)
{
    const int fd = outerPidfd.isOpen() ? outerPidfd.value() : innerPidfd.value();
    if (!isReadable(fd, limit))
        return std::nullopt;
    const std::lock_guard lock(mutex);
    if (!ended) {
        siginfo_t info{};
        if (!outerPidfd.isOpen())
            ended = foreignStatus(fd);
        else if (::waitid(P_PIDFD, static_cast<id_t>(fd), &info, WEXITED) == 0)
            ended = statusFrom(info);
        else
            ended = ExitStatus{0, 0, false, false};
    }
    ended->overMemory = isOverMemory;
    return ended;
}

void Child::State::kill()
{
    // Where no PID namespace ends the descendants with the first process, they are looked up while it still lives.
    std::vector<Fd> descendants;
    if (outerPidfd.isOpen() && !isReadable(outerPidfd.value(), std::chrono::milliseconds(0))) {
        for (const pid_t pid : processTree(outerPid)) {
            if (pid != outerPid && pid != innerPid)
                descendants.push_back(openPidfd(pid));
        }
    }
    sendSignal(innerPidfd.value(), SIGKILL);
    for (const Fd &descendant : descendants) {
        if (descendant.isOpen())
            sendSignal(descendant.value(), SIGKILL);
    }
    if (outerPidfd.isOpen()) {
        // The waiter outside ends by itself after the program and tells how; it gets a moment for that.
        if (!isReadable(outerPidfd.value(), std::chrono::milliseconds(200)))
            sendSignal(outerPidfd.value(), SIGKILL);
    }
    waitFor(std::chrono::seconds(5));
    isReadable(innerPidfd.value(), std::chrono::seconds(5));
}

Child::Child(std::shared_ptr<State> state) : m_state(std::move(state)) {}

Child::Child(Child &&) noexcept = default;

Child &Child::operator=(Child &&other) noexcept
{
    if (this != &other) {
        if (m_state)
            m_state->kill();
        m_state = std::move(other.m_state);
    }
    return *this;
}

Child::~Child()
{
    if (m_state)
        m_state->kill();
}

Result<Child> Child::fromPidfd(Fd pidfd, Json report)
{
    auto state = std::make_shared<State>();
    state->innerPid = pidOf(pidfd.value());
    if (state->innerPid <= 0)
        return Error(Code::Crashed, "a forked child has died already, or its descriptor is no pidfd");
    state->innerPidfd = std::move(pidfd);
    state->report = std::move(report);
    return Child(std::move(state));
}

pid_t Child::pid() const { return m_state->innerPid; }
int Child::pidfd() const { return m_state->innerPidfd.value(); }
const Json &Child::report() const { return m_state->report; }
bool Child::isAlive() const { return !m_state->isDead(); }

std::optional<ExitStatus> Child::waitFor(std::chrono::milliseconds limit) { return m_state->waitFor(limit); }

Result<void> Child::signal(int number)
{
    if (sendSignal(pidfd(), number) != 0)
        return Error(errno == ESRCH ? Code::Crashed : Code::Io,
                     std::string("cannot signal a child: ") + std::strerror(errno));
    return {};
}

void Child::kill() { m_state->kill(); }

} // namespace heddle
