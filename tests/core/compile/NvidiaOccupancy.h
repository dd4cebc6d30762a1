// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/Occupancy.h"

#include <optional>

namespace heddle::testing {

struct NvidiaAnswer {
    int blocks = 0;
    std::vector<std::string> limiters; ///< in our words and order; empty where blocks is 0
};

/// What NVIDIA's own cuda_occupancy.h says, which needs no GPU. Nothing where this was built without that header.
std::optional<NvidiaAnswer> nvidiaOccupancy(const MultiprocessorLimits &limits, const LaunchNeeds &needs);

} // namespace heddle::testing
