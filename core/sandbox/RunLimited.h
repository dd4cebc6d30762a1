// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/sandbox/Spawner.h"

#include <chrono>
#include <string>

namespace heddle {

/// What a finished command left behind.
struct CommandResult {
    ExitStatus status;
    std::string output;  ///< stdout, cut at the cap
    std::string error;   ///< stderr, cut at the cap
    bool wasCut = false; ///< more was written than the cap
    std::chrono::nanoseconds wall{};
};

struct CommandLimits {
    std::chrono::milliseconds timeout{120'000};
    std::size_t outputBytes = 1u << 20; ///< for each of stdout and stderr
    CancelToken cancel;
};

/// Runs a command (a compiler) in the sandbox to its end. A non-zero exit code is a value, not an error. With the role
/// Compiler and `needsCompiler` the installation of argv[0] is shown read-only, wherever it lies (see CompilerView.h).
/// Errors: TimedOut, Cancelled, OutOfMemory, and those of Spawner::spawn and compilerView.
Result<CommandResult> runLimited(Spawner &spawner, const SandboxPolicy &policy,
                                 const std::vector<std::string> &argv, const CommandLimits &limits = {});

} // namespace heddle
