// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <string>

namespace heddle::cli {

/// A report for a person in a terminal: lint, baselines, verdict with evidence, speedups, roof.
std::string reportText(const Json &report, bool verbose);
/// Lint findings, one a line.
std::string lintText(const Json &lint);
/// Baselines, operators by time and the roof.
std::string baselineText(const Json &baseline);
/// Rows of the check-up.
std::string doctorText(const Json &doctor);

} // namespace heddle::cli
