// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/rpc/FrameChannel.h"
#include "core/sandbox/Spawner.h"

#include <memory>
#include <string>
#include <vector>

namespace heddle {

/// A process forked from a zygote, ready for its role's methods.
struct Forked {
    Child child;
    FrameChannel channel;
    Json hello; ///< {pid, nonce, sandbox} as the child sent it
};

struct ZygoteOptions {
    SandboxPolicy policy; ///< environment must hold PYTHONPATH-free settings; HEDDLE_SANDBOX_LIBRARY is added
    std::vector<std::string> argv;                   ///< {python, "-I", ..., "--role", "runner"}
    bool keepSpare = true;                           ///< fork one ahead on a thread of its own
    std::chrono::milliseconds startTimeout{120'000}; ///< importing torch from a cold disk
};

/// The worker's handle on a Python zygote: starts it in the sandbox, forks children from it, keeps a warm spare, and
/// starts it again after a crash. Thread-safe.
class Zygote {
public:
    Zygote(Spawner &spawner, ZygoteOptions options);
    ~Zygote();

    /// Starts it if needed and waits until it answers `ping`. Errors: Environment with the end of its stderr.
    Result<Json> start();
    /// A fresh child: the spare where one is ready. Errors: those of start(); Crashed, TimedOut.
    Result<Forked> fork();
    /// The pid of the zygote, 0 when none runs.
    pid_t pid() const;
    /// The last part of what it and its children wrote to stderr, at most 16 KiB.
    std::string log() const;
    /// Kills it with all its children.
    void stop();

private:
    struct State;
    std::shared_ptr<State> m_state;
};

} // namespace heddle
