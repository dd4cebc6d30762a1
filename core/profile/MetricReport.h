// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/compile/HostCompiler.h"
#include "core/json/Json.h"

#include <filesystem>
#include <string>
#include <vector>

namespace heddle {

/// The sets of counters for a chip with their passes, as toJson() of MetricSets.h gives them, asked in a child: heddle-counters
/// (`program`), which `launch` starts once for each of `libraries` until one answers. Some versions of libcupti crash on a
/// machine without a driver (seen: 13.2 calls itself without end), which then costs that child.
/// Errors: Environment where none answers, with what was tried; Cancelled.
Result<Json> metricReport(const std::filesystem::path &program,
                          const std::vector<std::filesystem::path> &libraries, const std::string &chip,
                          const CompilerLauncher &launch, const CancelToken &cancel);

} // namespace heddle
