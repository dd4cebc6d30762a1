// SPDX-License-Identifier: Apache-2.0
// hostile ATTACK [ARGUMENT]: tries one thing that a sandboxed program must not be able to do. Exit code 0: it worked,
// 1: it was refused. Attacks named "may-…" are the opposite: things that must go on working.
#include "core/sandbox/Enter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>
#include <thread>

namespace {

bool canWrite(const char *path)
{
    const int fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    return fd >= 0 && ::write(fd, "x", 1) == 1;
}

bool canRead(const std::string &path)
{
    const int fd = ::open(path.c_str(), O_RDONLY);
    char byte = 0;
    return fd >= 0 && ::read(fd, &byte, 1) == 1;
}

bool canReadMemory(pid_t pid)
{
    const int fd = ::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY);
    char byte = 0;
    iovec local{&byte, 1};
    iovec remote{const_cast<char *>("literal at the same place in every copy of a program"), 1};
    return fd >= 0 || ::process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1;
}

/// Forks in every copy until it is refused, and at most 2000 times: a wall that does not hold must fail the test, not
/// the machine.
bool forkWithoutEnd()
{
    void *page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_SHARED, -1, 0);
    auto *count = new (page) std::atomic<int>(0);
    const pid_t first = ::getpid();
    while (count->fetch_add(1) < 2000) {
        if (::fork() < 0) {
            if (::getpid() != first)
                ::sleep(60); // stays, so that the count stays at its limit
            return false;
        }
    }
    return true;
}

bool hogMemory(bool isShared)
{
    while (true) {
        const std::size_t bytes = 16u << 20;
        void *block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_ANONYMOUS | (isShared ? MAP_SHARED : MAP_PRIVATE), -1, 0);
        if (block == MAP_FAILED)
            return false;
        std::memset(block, 1, bytes);
    }
}

bool threadsWork()
{
    int value = 0;
    std::thread([&] { value = 42; }).join();
    return value == 42;
}

bool canStartProcess()
{
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(0);
    return child > 0 && ::waitpid(child, nullptr, 0) == child;
}

sockaddr_un unixAddress(const char *path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    return address;
}

bool canOpenSocketToElsewhere()
{
    for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG}) {
        for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
            if (::socket(family, type, 0) >= 0)
                return true;
        }
    }
    return false;
}

/// What libcuda does: a socket with a name, on which it listens.
bool canListen(int type, const char *path)
{
    const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    const sockaddr_un address = unixAddress(path);
    const auto *generic = reinterpret_cast<const sockaddr *>(&address);
    return fd >= 0 && ::bind(fd, generic, sizeof address) == 0 && ::listen(fd, 4) == 0;
}

bool canConnect(const char *path)
{
    const sockaddr_un address = unixAddress(path);
    const auto *generic = reinterpret_cast<const sockaddr *>(&address);
    for (const int type : {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM}) {
        const int fd = ::socket(AF_UNIX, type, 0);
        if (fd >= 0 && ::connect(fd, generic, sizeof address) == 0)
            return true;
    }
    return false;
}

/// Sends a datagram to a named socket without connecting, from each kind of socket that could.
bool canSendTo(const char *path)
{
    const sockaddr_un address = unixAddress(path);
    const auto *generic = reinterpret_cast<const sockaddr *>(&address);
    for (const int type : {SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_STREAM}) {
        int fds[3] = {::socket(AF_UNIX, type, 0), -1, -1};
        ::socketpair(AF_UNIX, type, 0, fds + 1);
        for (const int fd : fds) {
            if (fd >= 0 && ::sendto(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL, generic, sizeof address) == 1) {
                // A connected stream takes no address and sends to its other end.
                if (type == SOCK_DGRAM || type == SOCK_RAW)
                    return true;
            }
        }
    }
    return false;
}

bool canAccept()
{
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const sockaddr_un address = unixAddress("accepting");
    if (fd >= 0) {
        ::bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof address);
        ::listen(fd, 4);
    }
    // Nobody connects: that there is nobody to accept is an answer that only who may ask gets.
    const bool isAsked = (::accept(fd, nullptr, nullptr) >= 0 || errno != EPERM)
        || (::accept4(fd, nullptr, nullptr, 0) >= 0 || errno != EPERM);
    return isAsked;
}

/// Opens a file of any other process in /proc for writing.
bool canWriteToOthers()
{
    std::error_code code;
    const std::string self = std::filesystem::read_symlink("/proc/self", code).string();
    for (std::filesystem::directory_iterator entry("/proc", code), end; !code && entry != end;
         entry.increment(code)) {
        const std::string name = entry->path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos || name == self)
            continue;
        for (const char *file :
             {"comm", "oom_score_adj", "coredump_filter", "clear_refs", "timerslack_ns", "mem"}) {
            if (::open((entry->path() / file).c_str(), O_WRONLY) >= 0) {
                std::fprintf(stderr, "/proc/%s/%s\n", name.c_str(), file);
                return true;
            }
        }
    }
    return false;
}

/// Names itself and another thread of its own, as libcuda does.
bool canNameThreads()
{
    std::atomic<bool> isDone{false};
    std::thread other([&] { isDone.wait(false); });
    const bool isNamed = ::pthread_setname_np(other.native_handle(), "named") == 0;
    isDone = true;
    isDone.notify_one();
    other.join();
    const int fd = ::open("/proc/self/comm", O_WRONLY | O_TRUNC);
    return isNamed && fd >= 0 && ::write(fd, "named", 5) == 5;
}

bool canNameThreadsAfterFork()
{
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(canNameThreads() ? 0 : 1);
    int status = -1;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

/// Whether a descriptor of ours keeps our own folder in /proc.
bool holdsOwnFolder()
{
    struct stat own{};
    ::stat("/proc/self", &own);
    for (int fd = 3; fd < 1024; ++fd) {
        struct stat info{};
        if (::fstat(fd, &info) == 0 && info.st_dev == own.st_dev && info.st_ino == own.st_ino)
            return true;
    }
    return false;
}

int enter(const char *library, const char *role)
{
    void *handle = ::dlopen(library, RTLD_NOW);
    if (handle == nullptr)
        return -1;
    const auto function =
        reinterpret_cast<decltype(&heddle_sandbox_enter)>(::dlsym(handle, "heddle_sandbox_enter"));
    char report[1024] = "";
    const int result = function != nullptr ? function(role, report, sizeof report) : -1;
    std::printf("%s\n", report);
    std::fflush(stdout);
    return result;
}

bool attack(const std::string &name, const char *argument)
{
    const auto pid = static_cast<pid_t>(std::atoi(argument));
    if (name == "socket")
        return ::socket(AF_INET, SOCK_STREAM, 0) >= 0 || ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
    if (name == "elsewhere-socket")
        return canOpenSocketToElsewhere();
    if (name == "listen" || name == "may-listen")
        return canListen(SOCK_SEQPACKET, argument) && canListen(SOCK_STREAM, "");
    if (name == "connect")
        return canConnect(argument);
    if (name == "send-to")
        return canSendTo(argument);
    if (name == "accept")
        return canAccept();
    if (name == "others")
        return canWriteToOthers();
    if (name == "name" || name == "may-name")
        return canNameThreads();
    if (name == "may-hold")
        return holdsOwnFolder();
    if (name == "forked-name" || name == "may-forked-name")
        return canNameThreadsAfterFork();
    if (name == "write")
        return canWrite(argument);
    if (name == "read")
        return canRead(argument);
    if (name == "list")
        return ::open(argument, O_RDONLY | O_DIRECTORY) >= 0;
    if (name == "memory")
        return canReadMemory(pid);
    if (name == "environ")
        return canRead("/proc/" + std::string(argument) + "/environ");
    if (name == "ptrace")
        return ::ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0
            || ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0;
    if (name == "kill")
        return ::kill(pid, SIGKILL) == 0;
    if (name == "namespace")
        return ::unshare(CLONE_NEWUSER) == 0;
    if (name == "chmod")
        return ::chmod(argument, 0777) == 0;
    if (name == "fork-bomb")
        return forkWithoutEnd();
    if (name == "hog")
        return hogMemory(false);
    if (name == "shared-hog")
        return hogMemory(true);
    if (name == "root")
        return ::getuid() == 0 || ::geteuid() == 0 || ::setuid(0) == 0;
    if (name == "descriptors") {
        for (int fd = 4; fd < 1024; ++fd) {
            if (::fcntl(fd, F_GETFD) >= 0)
                return true;
        }
        return false;
    }
    if (name == "fork" || name == "may-fork")
        return canStartProcess();
    if (name == "exec")
        return ::execl("/bin/true", "true", nullptr) == 0;
    if (name == "hide")
        return canStartProcess() || ::kill(::getppid(), SIGCONT) == 0;
    if (name == "may-thread")
        return threadsWork();
    if (name == "may-write")
        return canWrite(argument);
    if (name == "may-abort")
        std::abort();
    if (name == "may-wait") {
        ::sleep(60);
        return true;
    }
    std::fprintf(stderr, "unknown attack %s\n", name.c_str());
    std::exit(99);
}

} // namespace

int main(int argc, char **argv)
{
    // hostile @LIBRARY ROLE ATTACK [ARGUMENT] enters the inner sandbox first.
    if (argc > 3 && argv[1][0] == '@') {
        if (enter(argv[1] + 1, argv[2]) != 0)
            return 98;
        argc -= 2;
        argv += 2;
    }
    return attack(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "") ? 0 : 1;
}
