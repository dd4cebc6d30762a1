// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/Spawner.h"

#include "core/sandbox/ChildState.h"
#include "core/sandbox/Locations.h"
#include "core/sandbox/Orders.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr auto watchInterval = std::chrono::milliseconds(50);
constexpr auto startTimeout = std::chrono::seconds(20);
constexpr uid_t nobody = 65534;
// Far from the users that systems, containers and directories give out. Each child of a root worker is a user of its own,
// so that children cannot signal each other and the kernel's count of processes is that of one child.
constexpr uid_t firstUser = 0x70000000;

Error systemError(const char *what)
{
    return Error(Code::Environment, std::string(what) + ": " + std::strerror(errno));
}

std::vector<char *> pointersTo(std::vector<std::string> &words)
{
    std::vector<char *> pointers;
    for (std::string &word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// All that the child does between fork and exec: only calls that are safe there.
[[noreturn]] void become(char *const *argv, char *const *environment, const std::vector<int> &standard,
                         const std::vector<int> &passed)
{
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    // Every descriptor is first moved out of the way of the numbers that are to be filled.
    int moved[64];
    const int count = static_cast<int>(standard.size() + passed.size());
    for (int i = 0; i < count; ++i) {
        const std::size_t index = static_cast<std::size_t>(i);
        const int fd = index < standard.size() ? standard[index] : passed[index - standard.size()];
        moved[i] = ::fcntl(fd, F_DUPFD, 100);
    }
    for (int i = 0; i < count; ++i) {
        if (moved[i] < 0 || ::dup2(moved[i], i) < 0)
            ::_exit(126);
    }
    ::close_range(static_cast<unsigned>(count), ~0u, 0);
    ::execve(argv[0], argv, environment);
    ::_exit(127);
}

/// One message from heddle-launch with the pid that the kernel vouches for.
struct LaunchMessage {
    Json body;
    pid_t pid = 0;
};

Result<std::optional<LaunchMessage>> readMessage(int status)
{
    pollfd entry{status, POLLIN, 0};
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(startTimeout);
    int ready = 0;
    do
        ready = ::poll(&entry, 1, static_cast<int>(limit.count()));
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return Error(Code::TimedOut, "the sandbox did not start in time");
    std::string text(65536, '\0');
    iovec part{text.data(), text.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))]{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t count = ::recvmsg(status, &header, MSG_CMSG_CLOEXEC);
    if (count <= 0)
        return std::optional<LaunchMessage>();
    LaunchMessage message;
    const cmsghdr *found = CMSG_FIRSTHDR(&header);
    if (found != nullptr && found->cmsg_type == SCM_CREDENTIALS) {
        ucred credentials{};
        std::memcpy(&credentials, CMSG_DATA(found), sizeof credentials);
        message.pid = credentials.pid;
    }
    HEDDLE_TRY(message.body,
               parseJson(std::string_view(text).substr(0, static_cast<std::size_t>(count)), "heddle-launch"));
    return std::optional<LaunchMessage>(std::move(message));
}

/// Makes `user` the owner of the scratch folder and of what lies in it. Where the machine does not have so many users
/// (a container with a short map) it is nobody instead.
Result<uid_t> handOver(const fs::path &scratch, uid_t user)
{
    const auto give = [&](uid_t owner) {
        std::error_code code;
        bool isDone = ::lchown(scratch.c_str(), owner, owner) == 0;
        for (const fs::directory_entry &entry : fs::recursive_directory_iterator(scratch, code))
            isDone = ::lchown(entry.path().c_str(), owner, owner) == 0 && isDone;
        return isDone;
    };
    if (give(user))
        return user;
    if (give(nobody))
        return nobody;
    return systemError("cannot hand the scratch folder to the sandbox's user");
}

std::uint64_t residentBytes(pid_t pid)
{
    std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    statm >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

struct Spawner::State {
    RungReport rung;
    fs::path launcher;
    fs::path bubblewrap;
    // Used by the spawning thread alone. Workers at the same time start far from each other.
    uid_t nextUser = firstUser + static_cast<uid_t>(::getpid() % 0x40000) * 64;

    std::mutex mutex; // guards everything below
    std::condition_variable changed;
    std::deque<std::packaged_task<Result<Child>()>> tasks;
    std::vector<std::weak_ptr<Child::State>> watched;
    std::map<std::string, CompilerView> compilers;
    bool isStopping = false;
    std::thread spawning;
    std::thread watching;

    void spawnLoop();
    void watchLoop();
    Result<Child> spawn(const SpawnRequest &request);
    Result<std::shared_ptr<Child::State>> start(const SpawnRequest &request);
};

void Spawner::State::spawnLoop()
{
    std::unique_lock lock(mutex);
    while (true) {
        changed.wait(lock, [&] { return isStopping || !tasks.empty(); });
        if (tasks.empty())
            return;
        auto task = std::move(tasks.front());
        tasks.pop_front();
        lock.unlock();
        task();
        lock.lock();
    }
}

void Spawner::State::watchLoop()
{
    std::unique_lock lock(mutex);
    for (unsigned tick = 0; !isStopping; ++tick) {
        changed.wait_for(lock, watchInterval, [&] { return isStopping; });
        std::erase_if(watched, [](const auto &child) { return child.expired(); });
        const auto children = watched;
        lock.unlock();
        std::vector<std::shared_ptr<Child::State>> alive;
        for (const auto &weak : children) {
            if (auto child = weak.lock(); child && !child->isDead())
                alive.push_back(std::move(child));
        }
        const auto isWatchedItself = [&](pid_t pid) {
            return std::any_of(alive.begin(), alive.end(),
                               [&](const auto &child) { return child->innerPid == pid; });
        };
        for (const auto &child : alive) {
            // Zygotes and compilers have descendants; looking for them at every tick would disturb a timed call.
            const std::vector<pid_t> tree =
                tick % 4 == 0 ? processTree(child->innerPid) : std::vector{child->innerPid};
            std::uint64_t resident = 0;
            for (const pid_t pid : tree) {
                // A zygote does not answer for what it forked.
                if (pid == child->innerPid || !isWatchedItself(pid))
                    resident = std::max(resident, residentBytes(pid));
            }
            const bool isOverMemory = child->memoryBytes != 0 && resident > child->memoryBytes;
            if (!isOverMemory && tree.size() <= child->processes)
                continue;
            child->isOverMemory = isOverMemory;
            child->kill();
        }
        lock.lock();
    }
}

Result<std::shared_ptr<Child::State>> Spawner::State::start(const SpawnRequest &request)
{
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    int ends[2] = {-1, -1};
    // Message boundaries, so that two reports never run together.
    if (!null.isOpen() || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return systemError("cannot make descriptors for a child");
    const Fd status(ends[0]);
    Fd statusOfChild(ends[1]);
    const int on = 1;
    ::setsockopt(status.value(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);

    const std::vector<int> standard{null.value(), request.output >= 0 ? request.output : null.value(),
                                    request.error >= 0 ? request.error : null.value()};
    std::vector<int> passed{request.channel >= 0 ? request.channel : null.value()};
    passed.insert(passed.end(), request.extraFds.begin(), request.extraFds.end());
    passed.push_back(statusOfChild.value());

    std::vector<std::string> words;
    // Without a wall nothing is hidden or given up, the user neither: files of the person would be out of reach.
    Launch launch{rung.rung, rung.rung != Rung::None && ::geteuid() == 0, 0, ::getpid()};
    if (launch.isRoot) {
        HEDDLE_TRY(launch.user, handOver(request.policy.scratch, nextUser++));
    }
    if (rung.rung == Rung::Bubblewrap)
        words = bubblewrapArguments(request.policy, launch.isRoot, bubblewrap, launcher);
    words.push_back(launcher.string());
    words.push_back(std::to_string(standard.size() + passed.size() - 1));
    words.push_back(compactText(launchOrders(request.policy, launch)));
    words.emplace_back("--");
    words.insert(words.end(), request.argv.begin(), request.argv.end());
    std::vector<std::string> environment = childEnvironment(request.policy, rung.rung);
    const std::vector<char *> argv = pointersTo(words);
    const std::vector<char *> environmentPointers = pointersTo(environment);

    const pid_t pid = ::fork();
    if (pid < 0)
        return systemError("cannot start a process");
    if (pid == 0)
        become(argv.data(), environmentPointers.data(), standard, passed);
    statusOfChild.reset();
    auto child = std::make_shared<Child::State>();
    child->outerPid = pid;
    child->outerPidfd = openPidfd(pid);
    const auto fail = [&](Error error) -> Result<std::shared_ptr<Child::State>> {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return error;
    };
    auto first = readMessage(status.value());
    if (!first)
        return fail(std::move(first).error());
    if (!first.value())
        return fail(Error(Code::Environment, "the sandbox ended before it said anything"));
    LaunchMessage message = std::move(*first.value());
    if (message.body.contains("error"))
        return fail(
            Error(Code::Environment, "the sandbox could not be made: " + stringOr(message.body, "error")));
    // Nothing more means that the program runs; a second message tells why it does not.
    auto second = readMessage(status.value());
    if (!second)
        return fail(std::move(second).error());
    if (second.value()) {
        const Json &body = second.value()->body;
        return fail(Error(boolOr(body, "missing", false) ? Code::NotFound : Code::Environment,
                          stringOr(body, "error", "the program did not start"), request.argv.front()));
    }
    child->innerPid = message.pid;
    child->innerPidfd = message.pid == pid ? Fd(::fcntl(child->outerPidfd.value(), F_DUPFD_CLOEXEC, 0))
                                           : openPidfd(message.pid);
    child->report = std::move(message.body);
    if (!child->innerPidfd.isOpen()) {
        // It has ended and was reaped inside already: the process outside stands for it.
        child->innerPid = pid;
        child->innerPidfd = Fd(::fcntl(child->outerPidfd.value(), F_DUPFD_CLOEXEC, 0));
    }
    return child;
}

Result<Child> Spawner::State::spawn(const SpawnRequest &request)
{
    HEDDLE_TRY(auto child, start(request));
    child->memoryBytes = request.policy.memoryBytes;
    child->processes = request.policy.processes;
    const std::lock_guard lock(mutex);
    watched.push_back(child);
    return Child(std::move(child));
}

void Spawner::watch(const Child &child, const SandboxPolicy &policy)
{
    child.m_state->memoryBytes = policy.memoryBytes;
    child.m_state->processes = policy.processes;
    const std::lock_guard lock(m_state->mutex);
    m_state->watched.push_back(child.m_state);
}

Result<CompilerView> Spawner::compilerView(const std::string &program)
{
    {
        const std::lock_guard lock(m_state->mutex);
        if (const auto known = m_state->compilers.find(program); known != m_state->compilers.end())
            return known->second;
    }
    // Without the lock, which the watch needs; two threads that ask at once hear the same.
    HEDDLE_TRY(CompilerView view, viewOfCompiler(program));
    const std::lock_guard lock(m_state->mutex);
    return m_state->compilers.emplace(program, std::move(view)).first->second;
}

Spawner::Spawner(std::unique_ptr<State> state) : m_state(std::move(state))
{
    m_state->spawning = std::thread([s = m_state.get()] { s->spawnLoop(); });
    m_state->watching = std::thread([s = m_state.get()] { s->watchLoop(); });
}

Spawner::~Spawner()
{
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->isStopping = true;
        m_state->changed.notify_all();
    }
    m_state->spawning.join();
    m_state->watching.join();
}

Result<std::unique_ptr<Spawner>> Spawner::create() { return create(probeRung()); }

Result<std::unique_ptr<Spawner>> Spawner::create(RungReport rung)
{
    if (rung.rung == Rung::None) {
        std::string why = "no sandbox holds on this machine";
        for (const std::string &reason : rung.reasons)
            why += "; " + reason;
        return Error(
            Code::Environment, why, {},
            "install bubblewrap and allow user namespaces, or use a newer kernel; --unsandboxed accepts "
            "the risk, and no verdict is clean then");
    }
    return make(std::move(rung));
}

Result<std::unique_ptr<Spawner>> Spawner::createUnsandboxed() { return make(probeRung()); }

Result<std::unique_ptr<Spawner>> Spawner::createUnsandboxed(RungReport rung) { return make(std::move(rung)); }

Result<std::unique_ptr<Spawner>> Spawner::make(RungReport rung)
{
    auto state = std::make_unique<State>();
    HEDDLE_TRY(state->launcher, ownFile("heddle-launch"));
    if (rung.rung == Rung::Bubblewrap) {
        for (const char *place : {"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"}) {
            if (state->bubblewrap.empty() && ::access(place, X_OK) == 0)
                state->bubblewrap = place;
        }
        if (state->bubblewrap.empty())
            return Error(Code::Environment, "bubblewrap is not installed", {}, "apt install bubblewrap");
    }
    state->rung = std::move(rung);
    return std::unique_ptr<Spawner>(new Spawner(std::move(state)));
}

const RungReport &Spawner::rung() const { return m_state->rung; }

Result<Child> Spawner::spawn(const SpawnRequest &request)
{
    HEDDLE_CHECK_OK(checkPolicy(request.policy));
    if (request.argv.empty() || request.argv.front().empty() || request.argv.front().front() != '/')
        return Error(Code::InvalidInput, "a program to start is named by its absolute path",
                     request.argv.empty() ? std::string() : request.argv.front());
    if (request.extraFds.size() > 32)
        return Error(Code::InvalidInput, "a child gets at most 32 extra descriptors");
    std::packaged_task<Result<Child>()> task([&] { return m_state->spawn(request); });
    auto result = task.get_future();
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->tasks.push_back(std::move(task));
        m_state->changed.notify_all();
    }
    return result.get();
}

} // namespace heddle
