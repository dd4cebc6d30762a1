// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/optimizer/Kernel.h"
#include "core/optimizer/Schedule.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle {

/// A macro that the tuner may set.
struct KernelTunable {
    std::int64_t fallback = 0;
    std::vector<std::int64_t> choices;
};

/// One kernel as C++, with the arguments that its step passes.
struct WrittenKernel {
    std::string text;
    std::vector<std::string> arguments; ///< buffers in the order of the parameters
    std::map<std::string, KernelTunable> tunables;
};

/// Writes the extern "C" function of a kernel. `constants` are the lifted tensors that it may read.
/// Errors: NotCovered for an operation without C++.
Result<WrittenKernel> writeKernel(Kernel kernel, std::size_t number,
                                  const std::vector<std::vector<double>> &constants);

} // namespace heddle
