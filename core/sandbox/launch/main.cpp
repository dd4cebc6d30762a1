// SPDX-License-Identifier: Apache-2.0
// heddle-launch STATUS-FD ORDERS -- PROGRAM ARGUMENTS…
//
// The last program outside and the first inside: it takes its orders (JSON, made by core/sandbox/Spawner.cpp) as its
// second argument, gives up what the program must not have, reports on STATUS-FD what it did, and becomes the program.
// On the bubblewrap rung it runs inside the new namespaces; on the Landlock rung it makes them itself where it can.
#include "core/json/Json.h"
#include "core/sandbox/Landlock.h"
#include "core/sandbox/Seccomp.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace heddle;

Error systemError(const char *what)
{
    return Error(Code::Environment, std::string(what) + ": " + std::strerror(errno));
}

void report(int status, const Json &value)
{
    const std::string text = compactText(value);
    // The reader takes our pid from the credentials that the kernel adds to this message.
    ::send(status, text.data(), text.size(), MSG_NOSIGNAL);
}

std::vector<std::string> stringsOf(const Json &orders, const char *name)
{
    std::vector<std::string> strings;
    for (const Json &item : memberOr(orders, name)) {
        if (item.is_string())
            strings.push_back(item.get<std::string>());
    }
    return strings;
}

Result<void> limit(__rlimit_resource resource, const Json &orders, const char *name)
{
    const std::int64_t wanted = integerOr(orders, name, -1);
    if (wanted < 0)
        return {};
    rlimit now{};
    if (::getrlimit(resource, &now) != 0)
        return systemError("cannot read a limit");
    const rlim_t value = std::min(static_cast<rlim_t>(wanted), now.rlim_max);
    const rlimit both{value, value};
    if (::setrlimit(resource, &both) != 0)
        return systemError("cannot set a limit");
    return {};
}

Result<void> setLimits(const Json &orders)
{
    HEDDLE_CHECK_OK(limit(RLIMIT_CORE, Json{{"core", 0}}, "core"));
    HEDDLE_CHECK_OK(limit(RLIMIT_DATA, orders, "data"));
    HEDDLE_CHECK_OK(limit(RLIMIT_FSIZE, orders, "file"));
    HEDDLE_CHECK_OK(limit(RLIMIT_NOFILE, orders, "files"));
    return limit(RLIMIT_NPROC, orders, "processes");
}

/// Passes on how a child ended, as a shell does: 128 and the signal's number.
[[noreturn]] void leaveAs(int status)
{
    ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/// Waits for `child` and ends like it; reaps whatever else is left to us meanwhile.
[[noreturn]] void waitAndLeave(pid_t child)
{
    while (true) {
        int status = 0;
        const pid_t ended = ::waitpid(-1, &status, 0);
        if (ended == child)
            leaveAs(status);
        if (ended < 0 && errno != EINTR)
            ::_exit(126);
    }
}

/// Neither root nor namespaces: this process stays outside as the one that orphans fall to, so that none escapes; when the
/// program has ended it ends them all. Only the program returns from here.
void superviseAsSameUser(int status)
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const pid_t program = ::fork();
    if (program < 0) {
        report(status, Json{{"error", "cannot start a second process"}});
        ::_exit(126);
    }
    if (program == 0)
        return;
    ::close_range(3, ~0u, 0);
    int ended = 0;
    int result = 0;
    do {
        int code = 0;
        ended = ::waitpid(-1, &code, 0);
        if (ended == program)
            result = code;
    } while (ended != program);
    const std::string list = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
    for (int round = 0; round < 1000; ++round) {
        std::ifstream children(list);
        for (pid_t child = 0; children >> child;)
            ::kill(child, SIGKILL);
        if (::waitpid(-1, nullptr, 0) < 0)
            break; // none is left
    }
    leaveAs(result);
}

/// Asks for our death with the parent's, which must still be `parent`.
bool diesWith(pid_t parent)
{
    return ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && ::getppid() == parent;
}

/// A /proc that shows this PID namespace and numbers threads as they know themselves (glibc and CUDA's driver look for
/// theirs there). The old one is made private first, since what is mounted on it must not appear outside.
bool mountOwnProc()
{
    return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/proc", nullptr, MS_PRIVATE, nullptr) == 0
        && ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

/// Root without bubblewrap: own network, IPC and processes where the kernel lets us (not in every container). In a new PID
/// namespace this process waits outside, an init reaps inside, and only the grandchild returns from here.
Json isolate(int status)
{
    Json done = Json::array();
    for (const auto &[flag, name] :
         {std::pair{CLONE_NEWNET, "net"}, {CLONE_NEWIPC, "ipc"}, {CLONE_NEWUTS, "uts"}}) {
        if (::unshare(flag) == 0)
            done.push_back(name);
    }
    if (::unshare(CLONE_NEWPID) != 0)
        return done;
    done.push_back("pid");
    const pid_t init = ::fork();
    if (init < 0) {
        report(status, Json{{"error", "cannot start the first process of a PID namespace"}});
        ::_exit(126);
    }
    if (init > 0) {
        ::close_range(3, ~0u, 0); // an open channel here would hide the program's end
        waitAndLeave(init);
    }
    // getppid() is 0 across the namespace's edge, so the parent's death before this line is seen by the pipe alone.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (mountOwnProc())
        done.push_back("proc");
    const pid_t program = ::fork();
    if (program < 0)
        ::_exit(126);
    if (program > 0) {
        ::close_range(3, ~0u, 0);
        waitAndLeave(program);
    }
    return done;
}

Result<void> keepReading()
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    data[0].effective = data[0].permitted = data[0].inheritable = 1u << CAP_DAC_READ_SEARCH;
    if (::syscall(SYS_capset, &header, data) != 0
        || ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0) != 0)
        return systemError("cannot keep the capability to read");
    return {};
}

/// Becomes another user without capabilities. Where a needed folder lies below one that others may not enter (a Python
/// environment in /root), the capability to read stays: Landlock, not the file modes, then says what may be read.
Result<bool> becomeUser(uid_t user, const std::vector<std::string> &needed)
{
    const gid_t group = user;
    if (::setgroups(0, nullptr) != 0 || ::setresgid(group, group, group) != 0)
        return systemError("cannot change the group");
    ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    if (::setresuid(user, user, user) != 0)
        return systemError("cannot change the user");
    const bool needsHelp = std::any_of(needed.begin(), needed.end(), [](const std::string &path) {
        return ::access(path.c_str(), R_OK) != 0 && errno == EACCES;
    });
    if (needsHelp)
        HEDDLE_CHECK_OK(keepReading());
    else {
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        __user_cap_data_struct none[2]{};
        if (::syscall(SYS_capset, &header, none) != 0)
            return systemError("cannot drop the capabilities");
    }
    ::prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
    return needsHelp;
}

Result<Json> confine(const Json &orders, int status)
{
    Json done{{"rung", stringOr(orders, "rung")}, {"namespaces", memberOr(orders, "namespaces")}};
    const pid_t parent = static_cast<pid_t>(integerOr(orders, "parent", 0));
    if (parent != 0 && !diesWith(parent))
        return Error(Code::Cancelled, "the parent has gone");
    if (boolOr(orders, "isolate", false))
        done["namespaces"] = isolate(status);
    const bool isSameUser = boolOr(orders, "same_user", false);
    if (isSameUser)
        superviseAsSameUser(status);
    HEDDLE_CHECK_OK(setLimits(orders));
    const pid_t nextParent = ::getppid();
    if (const std::int64_t user = integerOr(orders, "user", 0); user > 0) {
        std::vector<std::string> needed = stringsOf(orders, "read");
        needed.push_back(stringOr(orders, "folder"));
        HEDDLE_TRY(const bool keepsReading, becomeUser(static_cast<uid_t>(user), needed));
        done["capabilities"] = keepsReading ? Json::array({"dac_read_search"}) : Json::array();
    }
    // Changing the user clears the death signal.
    if (parent != 0 && (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || ::getppid() != nextParent))
        return Error(Code::Cancelled, "the parent has gone");
    if (const std::string folder = stringOr(orders, "folder"); ::chdir(folder.c_str()) != 0)
        return systemError("cannot enter the scratch folder");
    if (stringOr(orders, "rung") == "none") {
        // The person asked for it where nothing holds: limits, death with the worker, and no wall.
        done["landlock"] = 0;
        done["seccomp"] = false;
        done["user"] = ::getuid();
        return done;
    }
    LandlockRules rules;
    rules.readOnly = stringsOf(orders, "read");
    rules.readWrite = stringsOf(orders, "write");
    const Json &devices = memberOr(orders, "devices");
    const bool hasDevices = devices.is_object();
    if (hasDevices) {
        // All that a /proc of its own shows is the sandbox itself. Elsewhere only the program's own folder is safe to
        // write in, and that is not the folder of what it forks. Its pid is final here: exec keeps it.
        const Json &made = done["namespaces"];
        const bool isOwnProc = stringOr(orders, "rung") == "bubblewrap"
            || std::find(made.begin(), made.end(), Json("proc")) != made.end();
        const std::string writableProc =
            boolOr(devices, "forked", false) && isOwnProc ? "/proc" : "/proc/self";
        HEDDLE_CHECK_OK(holdOwnProcFolder(true));
        rules.writeExisting.push_back(writableProc);
        done["devices"] =
            Json{{"sockets", "unix, neither connected nor accepted from"}, {"writes", writableProc}};
    }
    HEDDLE_TRY(const int abi, enterLandlock(rules));
    HEDDLE_CHECK_OK(enterSeccomp(SeccompRules{false, isSameUser, hasDevices}));
    done["landlock"] = abi;
    done["seccomp"] = true;
    done["user"] = ::getuid();
    return done;
}

} // namespace

int main(int argc, char **argv)
{
    const int status = argc > 4 ? std::atoi(argv[1]) : -1;
    if (status < 3 || std::strcmp(argv[3], "--") != 0) {
        static constexpr char usage[] = "heddle-launch is started by Heddle itself; it has no use by hand\n";
        [[maybe_unused]] const ssize_t count = ::write(2, usage, sizeof usage - 1);
        return 2;
    }
    ::fcntl(status, F_SETFD, FD_CLOEXEC); // its end of file tells that the program runs
    const auto orders = parseJson(argv[2], "orders");
    if (!orders) {
        report(status, Json{{"error", orders.error().text()}});
        return 126;
    }
    const auto done = confine(orders.value(), status);
    if (!done) {
        report(status, Json{{"error", done.error().text()}});
        return 126;
    }
    report(status, done.value());
    ::execv(argv[4], argv + 4);
    report(status,
           Json{{"error", std::string("cannot execute it: ") + std::strerror(errno)},
                {"missing", errno == ENOENT}});
    return 127;
}
