// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"
#include "core/session/Store.h"

#include <string>
#include <vector>

namespace heddle::cli {

/// A report for a person in a terminal: lint, baselines, verdict with evidence, speedups, roof.
std::string reportText(const Json &report, bool verbose);
/// Lint findings, one a line.
std::string lintText(const Json &lint);
/// Baselines, operators by time and the roof.
std::string baselineText(const Json &baseline);
/// ", tolerance 0.1" for a report judged with a tolerance of the person's own, which is a weaker claim; else empty.
std::string toleranceText(const Json &report);
/// Why a session that found something made no proposal, from its last confirmed judgement, or its last one where none was
/// confirmed: what is right but was timed on a busy machine is no proposal, and only the evidence says so. Empty where
/// the evidence doesn't say, or can't be read.
std::string reasonInEvidence(const Result<std::vector<Event>> &events);
/// Rows of the check-up.
std::string doctorText(const Json &doctor);

} // namespace heddle::cli
