// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/plan/Plan.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle {

/// "-DBLOCK=128" for each tunable of the plan: the chosen value, else its default. Errors: InvalidInput for a name that the
/// plan does not have, or a value that is not among its choices.
Result<std::vector<std::string>> tunableMacros(const Plan &plan,
                                               const std::map<std::string, std::int64_t> &chosen);

} // namespace heddle
