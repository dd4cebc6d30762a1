// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/HostCompiler.h"
#include "core/sandbox/Spawner.h"

#include <chrono>
#include <cstdint>

namespace heddle {

/// What one run of a compiler may cost.
struct CompilerLimits {
    std::chrono::milliseconds time{120'000};
    std::uint64_t memoryBytes = std::uint64_t{4} << 30;
    std::size_t logBytes = 1u << 20;
};

/// Half of this machine's memory, at most 4 GiB: what a compiler may take.
std::uint64_t compilerMemoryLimit();

/// Runs compilers in the sandbox: no network, nothing of the person's files but the folder of the command, an empty
/// environment. `spawner` must outlive it. Its errors: those of Spawner::spawn; TimedOut, OutOfMemory, Cancelled. A compiler
/// killed by a signal ends with exit code 128 + its number.
CompilerLauncher sandboxLauncher(Spawner &spawner, CompilerLimits limits);

} // namespace heddle
