// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// An architecture that code is compiled for: "sm_90", "sm_90a" (features of that one only), "sm_100f" (of its family).
struct CudaArchitecture {
    int number = 0;     ///< ten times the compute capability: 90
    std::string suffix; ///< "", "a" or "f"

    std::string name() const { return "sm_" + std::to_string(number) + suffix; }
    /// "9.0"
    std::string capability() const { return std::to_string(number / 10) + '.' + std::to_string(number % 10); }
};

/// Reads "sm_90a". Errors: InvalidInput.
Result<CudaArchitecture> parseArchitecture(std::string_view text);

/// What one multiprocessor (SM) and one block may use. Source: CUDA C++ Programming Guide 13, "Technical Specifications
/// per Compute Capability", and for what it leaves out (granularities, barriers) the behaviour of cuda_occupancy.h, with
/// which a test compares. Bytes and 32-bit registers.
struct MultiprocessorLimits {
    int capability = 0; ///< ten times: 90
    int threads = 0;    ///< resident on one SM
    int blocks = 0;     ///< resident on one SM
    int sharedBytes = 0;
    int sharedGranularity = 0;
    int reservedSharedBytes = 0; ///< of each block, for the system
    int barriers = 0;            ///< named barriers of one SM; 0: they are never what limits

    static constexpr int warpSize = 32;
    static constexpr int threadsPerBlock = 1024;
    static constexpr int registers = 65536;         ///< of one SM, and the most that one block may have
    static constexpr int registerGranularity = 256; ///< for each warp
    static constexpr int registersPerThread = 255;
    static constexpr int partitions = 4;                  ///< of the register file
    static constexpr int sharedWithoutAsking = 48 * 1024; ///< more is only for a launch that asks for it

    /// The most that one block may have, static and dynamic together.
    int sharedPerBlock() const { return sharedBytes - reservedSharedBytes; }
    int warps() const { return threads / warpSize; }
};

/// The limits for a compute capability, or nothing where we don't know them.
std::optional<MultiprocessorLimits> multiprocessorLimits(int capability);
/// Every row of the table.
const std::vector<MultiprocessorLimits> &allMultiprocessorLimits();

/// What one launch needs of an SM.
struct LaunchNeeds {
    std::int64_t threads = 0;     ///< of a block
    int registers = 0;            ///< of a thread
    std::int64_t sharedBytes = 0; ///< static and dynamic, of a block
    int barriers = 1;             ///< of a block; the hardware gives at least one
};

/// How many blocks are active on one SM at once, and what keeps it from being more.
struct Occupancy {
    int blocks = 0; ///< 0: the launch can't run at all
    int warps = 0;
    double share = 0.0; ///< active warps of the most possible, 0 to 1
    /// "threads", "registers", "shared memory", "blocks", "barriers": all that give the smallest number of blocks.
    std::vector<std::string> limiters;
    std::string refusal; ///< where blocks is 0: one sentence
};

/// The occupancy of a launch without clusters. `needs.threads` must be positive.
Occupancy occupancyOf(const MultiprocessorLimits &limits, const LaunchNeeds &needs);

} // namespace heddle
