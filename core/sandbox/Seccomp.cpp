// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/Seccomp.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

namespace {

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

constexpr const char *alwaysDenied[] = {
    // network
    "connect",
    "accept",
    "accept4",
    // other processes
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kcmp",
    "process_madvise",
    "process_mrelease",
    "move_pages",
    "migrate_pages",
    // mounts and namespaces
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "setns",
    "unshare",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "open_by_handle_at",
    "name_to_handle_at",
    "quotactl",
    "quotactl_fd",
    "swapon",
    "swapoff",
    "fanotify_init",
    // kernel interfaces
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "keyctl",
    "add_key",
    "request_key",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "create_module",
    "reboot",
    "syslog",
    "acct",
    "iopl",
    "ioperm",
    "modify_ldt",
    "lookup_dcookie",
    "nfsservctl",
    "vhangup",
    "sethostname",
    "setdomainname",
    "settimeofday",
    "clock_settime",
    "clock_settime64",
    "stime",
    "adjtimex",
    "clock_adjtime",
    "seccomp",
};

constexpr const char *deniedWithoutDevices[] = {"socket", "bind", "listen"};

constexpr const char *deniedToCandidates[] = {
    "execve",
    "execveat",
    "fork",
    "vfork",
    "socketpair",
    "tkill",
    "pidfd_open",
    "pidfd_send_signal",
    "shmget",
    "shmat",
    "shmctl",
    "msgget",
    "semget",
    "mq_open",
    "memfd_secret",
    "setpriority",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
    "ioprio_set",
};

constexpr const char *deniedToSameUser[] = {
    "chmod",     "fchmodat",  "chown",    "lchown",    "fchownat",    "utime",        "utimes",
    "futimesat", "utimensat", "setxattr", "lsetxattr", "removexattr", "lremovexattr",
};

// fchmodat2, setxattrat, removexattrat: newer than the libseccomp of Debian 12, the same number on all machines.
constexpr int deniedNumbersToSameUser[] = {452, 463, 466};

Error refused(int code, const std::string &what)
{
    return Error(Code::Environment, "seccomp refuses a rule: " + std::string(std::strerror(-code)), what);
}

Result<void> deny(const Filter &filter, const char *name, int error = EPERM)
{
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR)
        return {}; // a call that this machine does not have
    const int code =
        seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)), number, 0);
    // -EACCES: the same as the default action, -EEXIST: already there, -EDOM: not on this architecture.
    return code == 0 || code == -EEXIST || code == -EDOM ? Result<void>() : refused(code, name);
}

Result<void> denyWhen(const Filter &filter, const char *name, const std::vector<scmp_arg_cmp> &when)
{
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR)
        return {};
    const int code = seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EPERM), number,
                                            static_cast<unsigned>(when.size()), when.data());
    return code == 0 || code == -EEXIST ? Result<void>() : refused(code, name);
}

scmp_arg_cmp compare(unsigned argument, scmp_compare how, scmp_datum_t a, scmp_datum_t b = 0)
{
    return scmp_arg_cmp{argument, how, a, b};
}

/// Refuses a call that makes a socket unless its type is one that can send nothing before it is connected. A datagram
/// socket reaches any address by sendto, which must stay allowed for the channel.
Result<void> denyUnconnectedTypes(const Filter &filter, const char *name)
{
    constexpr scmp_datum_t typeMask = 0xf; // the rest are flags
    for (scmp_datum_t type = 0; type <= typeMask; ++type) {
        if (type != SOCK_STREAM && type != SOCK_SEQPACKET)
            HEDDLE_CHECK_OK(denyWhen(filter, name, {compare(1, SCMP_CMP_MASKED_EQ, typeMask, type)}));
    }
    return {};
}

Result<void> addSocketRules(const Filter &filter, bool allowsUnixListening)
{
    HEDDLE_CHECK_OK(denyUnconnectedTypes(filter, "socketpair"));
    if (!allowsUnixListening) {
        for (const char *name : deniedWithoutDevices)
            HEDDLE_CHECK_OK(deny(filter, name));
        return {};
    }
    // The kernel looks at the lower half of the register only; what has anything in the upper half is refused as well.
    HEDDLE_CHECK_OK(denyWhen(filter, "socket", {compare(0, SCMP_CMP_NE, AF_UNIX)}));
    return denyUnconnectedTypes(filter, "socket");
}

Result<void> addFinalRules(const Filter &filter)
{
    for (const char *name : deniedToCandidates)
        HEDDLE_CHECK_OK(deny(filter, name));
    // A clone that is no thread is a process.
    HEDDLE_CHECK_OK(denyWhen(filter, "clone", {compare(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)}));
    const auto self = static_cast<scmp_datum_t>(::getpid());
    for (const char *name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
        HEDDLE_CHECK_OK(denyWhen(filter, name, {compare(0, SCMP_CMP_NE, self)}));
    for (const char *name : {"prlimit64", "sched_setaffinity"}) // 0 is the caller itself
        HEDDLE_CHECK_OK(denyWhen(filter, name, {compare(0, SCMP_CMP_NE, 0)}));
    // It may not hide its memory from the judge, outlive its parent, or put a filter of its own in front of ours.
    // prctl's option is an int: the upper half of the register is not part of it.
    for (const int option : {PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_PTRACER})
        HEDDLE_CHECK_OK(
            denyWhen(filter, "prctl",
                     {compare(0, SCMP_CMP_MASKED_EQ, 0xffffffffu, static_cast<scmp_datum_t>(option))}));
    return {};
}

} // namespace

Result<void> enterSeccomp(const SeccompRules &rules)
{
    const Filter filter(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
    if (!filter)
        return Error(Code::Environment, "seccomp cannot make a filter");
    // All threads of the process or none: a thread left outside could do anything for the others.
    if (const int code = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1); code != 0)
        return refused(code, "tsync");
    // A tree instead of a list: a candidate has more rules than the oracle, and its calls must not cost more for it where
    // the kernel keeps no cache of what is always allowed.
    if (const int code = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2); code != 0)
        return refused(code, "optimize");
    for (const char *name : alwaysDenied) {
        // The final filter is loaded by a seccomp call that the outer one must still let through.
        if (!rules.isFinal && std::string_view(name) == "seccomp")
            continue;
        HEDDLE_CHECK_OK(deny(filter, name));
    }
    HEDDLE_CHECK_OK(addSocketRules(filter, rules.allowsUnixListening));
    HEDDLE_CHECK_OK(deny(filter, "clone3", ENOSYS));
    for (const int flag : {CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS,
                           CLONE_NEWCGROUP}) {
        const auto bit = static_cast<scmp_datum_t>(flag);
        HEDDLE_CHECK_OK(denyWhen(filter, "clone", {compare(0, SCMP_CMP_MASKED_EQ, bit, bit)}));
    }
    if (rules.isSameUser) {
        for (const char *name : deniedToSameUser)
            HEDDLE_CHECK_OK(deny(filter, name));
        for (const int number : deniedNumbersToSameUser) {
            const int code = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), number, 0);
            if (code != 0 && code != -EEXIST && code != -EDOM)
                return refused(code, std::to_string(number));
        }
    }
    if (rules.isFinal)
        HEDDLE_CHECK_OK(addFinalRules(filter));
    if (const int code = seccomp_load(filter.get()); code != 0)
        return Error(Code::Environment,
                     "seccomp cannot load the filter: " + std::string(std::strerror(-code)));
    return {};
}

} // namespace heddle
