// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/plan/Plan.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// The launch of one CUDA step as far as it is known without a task's shapes.
struct LaunchShape {
    std::optional<std::array<std::int64_t, 3>> block;   ///< threads
    std::optional<std::array<std::int64_t, 3>> cluster; ///< blocks; 1, 1, 1 where the step has none
    std::optional<std::int64_t> sharedBytes;            ///< dynamic, of a block
    std::vector<std::string> unknown; ///< names whose values would be needed: symbols, or "input:x.shape[0]"

    /// Threads of a block, where known.
    std::optional<std::int64_t> threads() const;
    bool operator==(const LaunchShape &other) const = default;
};

/// Evaluates block, cluster and dynamic shared memory of `step`. `given` has values by name: of tunables (else their
/// defaults), symbols, and references such as "input:x.shape[0]". Errors: InvalidInput for a division by zero or an overflow,
/// for a size below 1 or shared memory below 0, with the step's place.
Result<LaunchShape> launchShape(const Plan &plan, const KernelStep &step,
                                const std::map<std::string, std::int64_t> &given);

/// Every name that `given` of launchShape() may have but references, sorted: tunables, then symbols.
std::vector<std::string> settableNames(const Plan &plan);

} // namespace heddle
