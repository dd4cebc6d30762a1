// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

namespace heddle {

/// Which system calls are taken away (they fail with EPERM; clone3 with ENOSYS, so that libc falls back to clone).
struct SeccompRules {
    /// No new process, no exec, signals to itself only: what a candidate gets just before its code runs.
    bool isFinal = false;
    /// The sandboxed process runs as the person's own user: also no chmod, chown, utimes and xattr, which Landlock
    /// does not confine.
    bool isSameUser = false;
    /// Unix sockets of the kinds that need a connection may be made, bound and listened on, but neither connected nor
    /// accepted from: what libcuda asks for (README.md).
    bool allowsUnixListening = false;
};

/// Loads the filter into all threads of this process, for ever. Always denied: sockets (but see above), ptrace and reading other
/// processes, mounts and namespaces, kernel interfaces (bpf, perf, io_uring, keys, modules). Sets no_new_privs.
/// Errors: Environment.
Result<void> enterSeccomp(const SeccompRules &rules);

} // namespace heddle
