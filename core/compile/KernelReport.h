// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/CudaOutcome.h"
#include "core/compile/Occupancy.h"
#include "core/json/Json.h"

#include <cstdint>
#include <map>
#include <string>

namespace heddle {

/// What is known of each kernel of a compiled plan without a GPU (`kernels` of core/schemas/report.schema.json): what it uses,
/// and for each different launch of it the occupancy, or null with a message that says what is missing. `values` are those of
/// launchShape(). Kernels of a source that no step launches are there too, without launches.
Json kernelReport(const Plan &plan, const CudaOutcome &outcome, const CudaArchitecture &architecture,
                  const std::map<std::string, std::int64_t> &values);

} // namespace heddle
