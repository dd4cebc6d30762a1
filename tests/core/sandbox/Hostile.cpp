// SPDX-License-Identifier: Apache-2.0
// hostile ATTACK [ARGUMENT]: tries one thing that a sandboxed program must not be able to do. Exit code 0: it worked,
// 1: it was refused. Attacks named "may-…" are the opposite: things that must go on working.
#include "core/sandbox/Enter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
