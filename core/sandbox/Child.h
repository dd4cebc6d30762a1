// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Fd.h"
#include "core/json/Json.h"

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace heddle {

/// How a process ended.
struct ExitStatus {
    int code = 0;            ///< exit code, where signal is 0
    int signal = 0;          ///< the signal that killed it, or 0
    bool isKnown = true;     ///< false where the kernel cannot tell (not our own child, before Linux 6.15)
    bool overMemory = false; ///< the resident-size watch killed it

    bool isSuccess() const { return isKnown && signal == 0 && code == 0; }
    /// "exit code 3", "killed by SIGSEGV", ...
    std::string text() const;
    /// Crashed or OutOfMemory with a sentence that names `who`.
    Error error(const std::string &who) const;
};

/// A sandboxed process: killed with all its descendants when this is destroyed. Movable; one thread at a time.
class Child {
public:
    /// A process that somebody else forked for us (a zygote), held by its pidfd. `guard` is kept alive with it.
    static Result<Child> fromPidfd(Fd pidfd, Json report);

    Child(Child &&) noexcept;
    Child &operator=(Child &&) noexcept;
    ~Child();

    pid_t pid() const; ///< the program itself as seen from here, not bubblewrap
    int pidfd() const; ///< of the program itself; readable (poll) once it has died
    /// What confines it, for the verdict: {"rung", "landlock", "seccomp", "user", "namespaces": [...]}.
    const Json &report() const;

    bool isAlive() const;
    /// Waits for its end; nothing when it still runs after `limit`.
    std::optional<ExitStatus> waitFor(std::chrono::milliseconds limit);
    Result<void> signal(int number);
    /// SIGKILL to the whole sandbox, then reaps it. Harmless when it is dead.
    void kill();

private:
    friend class Spawner;
    struct State;
    explicit Child(std::shared_ptr<State> state);
    std::shared_ptr<State> m_state;
};

} // namespace heddle
