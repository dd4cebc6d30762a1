// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/optimizer/Kernel.h"
#include "core/optimizer/Lowering.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// How far kernels are fused. Separate is what to fall back on: reductions stand alone, and each output
/// has its own kernel.
enum class FusionMode : std::uint8_t { Full, Separate };

/// The kernels of a candidate, in order.
struct FusionPlan {
    std::vector<Kernel> kernels;
    std::vector<KernelBuffer> temporaries;
    std::vector<KernelBuffer> outputs;
    std::vector<std::string> updates;
    std::vector<std::vector<double>> constants; ///< "const:I"
    /// What a perfect single pass would move: each input, state and output once, in bytes.
    std::int64_t minimalBytes() const;
    /// What these kernels move.
    std::int64_t plannedBytes() const;
    /// One line for each loop, buffer and stage, with its index maps: a text golden of tests.
    std::string text() const;
    /// A sentence or two for each kernel, as a person reads it.
    std::string summary() const;
};

/// Groups the values of a graph into fused kernels. Errors: NotCovered with the operator that resists.
Result<FusionPlan> planFusion(const LoweredGraph &graph, FusionMode mode = FusionMode::Full);

} // namespace heddle
