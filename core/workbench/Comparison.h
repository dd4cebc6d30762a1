// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/json/Json.h"

#include <string>

namespace heddle {

/// Why the times of a judgement do not count, from the evidence of its report: the machine was not quiet, or an earlier
/// check failed. The rows `machine_quiet` and `timing` are looked at both, so that a row which an earlier stage passed
/// hides nothing. Empty where the times count.
std::string reasonNotTimed(const Json &report);

/// The member "against" of a report: {"candidate", "speedup"}, or with a "speedup" of null and a "message" where
/// `compared`, the worker's answer to candidate.compare, is an error or holds no ratio.
Json againstJson(const std::string &candidate, const Result<Json> &compared);

} // namespace heddle
