// SPDX-License-Identifier: Apache-2.0
// without-rungs PROGRAM ARGUMENTS…: runs a program on a machine without any rung of the sandbox ladder, as an old kernel in
// a closed container is one: there is no Landlock, and nobody makes namespaces or mounts.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::uint32_t landlockCreateRuleset = 444; // unknown to older headers
constexpr std::uint32_t allNamespaces =
    CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

sock_filter load(std::size_t offset)
{
    return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter answer(std::uint32_t value) { return BPF_STMT(BPF_RET | BPF_K, value); }

/// Two instructions: `reason` is the answer to this system call, whatever its arguments.
void refuse(std::vector<sock_filter> &program, long call, int reason)
{
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(answer(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(reason)));
}

bool takeRungsAway()
{
    std::vector<sock_filter> program{load(offsetof(seccomp_data, nr))};
    refuse(program, landlockCreateRuleset, ENOSYS);
    refuse(program, SYS_clone3, ENOSYS); // its flags are out of a filter's sight; glibc falls back to clone
    for (const long call : {SYS_unshare, SYS_setns, SYS_mount, SYS_pivot_root})
        refuse(program, call, EPERM);
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0));
    program.push_back(answer(SECCOMP_RET_ALLOW));
    program.push_back(load(offsetof(seccomp_data, args[0])));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, allNamespaces, 0, 1));
    program.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
    program.push_back(answer(SECCOMP_RET_ALLOW));
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (!takeRungsAway()) {
        std::fputs("without-rungs: the kernel takes no such filter\n", stderr);
        return 77;
    }
    ::execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    return 127;
}
