// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/plan/Resolved.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle {

/// One launch as a driver sees it. `arguments` live until launch() returns; element i of a kernel's
/// parameter list is read from &arguments[i] (a union's members all start at its address).
struct CudaLaunch {
    std::uint64_t function = 0;
    ResolvedLaunch shape;
    std::span<heddle_arg> arguments;
};

/// What running a plan needs of a CUDA device: the driver opened at run time, or a recording fake
/// (tests/support). Handles and device addresses are plain integers. Used from one thread.
class CudaDriver {
public:
    virtual ~CudaDriver() = default;
    virtual Result<std::uint64_t> loadModule(std::string_view cubin) = 0;
    virtual Result<std::uint64_t> function(std::uint64_t module, const std::string &name) = 0;
    /// Address of at least `bytes` device bytes, 256-byte aligned. Errors: OutOfMemory.
    virtual Result<std::uint64_t> allocate(std::uint64_t bytes) = 0;
    virtual void release(std::uint64_t address) = 0;
    virtual Result<void> launch(const CudaLaunch &launch) = 0;
    virtual Result<void> synchronise() = 0;
    virtual void unloadModule(std::uint64_t module) = 0;
};

} // namespace heddle
