// SPDX-License-Identifier: Apache-2.0
// The only unit that sees NVIDIA's header: it is found on the machine when this is configured, and never copied.
#include "tests/core/compile/NvidiaOccupancy.h"

#if __has_include(<cuda_occupancy.h>)
#    include <cuda_occupancy.h>
#    define HEDDLE_HAS_CUDA_OCCUPANCY 1
#endif

namespace heddle::testing {

#ifdef HEDDLE_HAS_CUDA_OCCUPANCY

std::optional<NvidiaAnswer> nvidiaOccupancy(const MultiprocessorLimits &limits, const LaunchNeeds &needs)
{
    cudaOccDeviceProp device;
    device.computeMajor = limits.capability / 10;
    device.computeMinor = limits.capability % 10;
    device.maxThreadsPerBlock = MultiprocessorLimits::threadsPerBlock;
    device.maxThreadsPerMultiprocessor = limits.threads;
    device.regsPerBlock = MultiprocessorLimits::registers;
    device.regsPerMultiprocessor = MultiprocessorLimits::registers;
    device.warpSize = MultiprocessorLimits::warpSize;
    device.sharedMemPerBlock = MultiprocessorLimits::sharedWithoutAsking;
    device.sharedMemPerMultiprocessor = static_cast<std::size_t>(limits.sharedBytes);
    device.numSms = 1;
    device.sharedMemPerBlockOptin = static_cast<std::size_t>(limits.sharedPerBlock());
    device.reservedSharedMemPerBlock = static_cast<std::size_t>(limits.reservedSharedBytes);
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = MultiprocessorLimits::threadsPerBlock;
    function.numRegs = needs.registers;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = static_cast<std::size_t>(needs.sharedBytes);
    function.numBlockBarriers = needs.barriers;
    const cudaOccDeviceState state;
    cudaOccResult result;
    const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &device, &function, &state, static_cast<int>(needs.threads),
        static_cast<std::size_t>(needs.sharedBytes));
    if (error != CUDA_OCC_SUCCESS)
        return std::nullopt;
    NvidiaAnswer answer;
    answer.blocks = result.activeBlocksPerMultiprocessor;
    const std::pair<unsigned, const char *> words[] = {{OCC_LIMIT_WARPS, "threads"},
                                                       {OCC_LIMIT_REGISTERS, "registers"},
                                                       {OCC_LIMIT_SHARED_MEMORY, "shared memory"},
                                                       {OCC_LIMIT_BLOCKS, "blocks"},
                                                       {OCC_LIMIT_BARRIERS, "barriers"}};
    for (const auto &[flag, word] : words)
        if (answer.blocks > 0 && (result.limitingFactors & flag) != 0)
            answer.limiters.emplace_back(word);
    return answer;
}

#else

std::optional<NvidiaAnswer> nvidiaOccupancy(const MultiprocessorLimits &, const LaunchNeeds &)
{
    return std::nullopt;
}

#endif

} // namespace heddle::testing
