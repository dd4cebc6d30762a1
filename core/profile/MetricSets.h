// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"
#include "core/profile/CuptiHost.h"

#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Counters that answer one question together, fitted to a chip.
struct MetricSet {
    std::string name;                 ///< "roofline"
    std::string purpose;              ///< what it tells, in a few words
    std::vector<std::string> metrics; ///< those that this chip has
    std::vector<std::string> missing; ///< those that it lacks
    std::optional<int> passes;        ///< how often a kernel runs for it; empty where unknown
};

/// The chip of the data-centre or first GPU of a compute capability (90 → "GH100"), or nothing where we don't know it. Chips
/// of one capability differ in their counters a little; a real device is asked (cuptiDeviceGetChipName).
std::optional<std::string> chipOf(int capability);

/// Every set for a chip, the cheapest first. Errors: those of CuptiHost.
Result<std::vector<MetricSet>> metricSets(const CuptiHost &host, const std::string &chip);

/// {"chip", "library", "version", "sets": [{"name", "purpose", "metrics", "missing", "passes"}]}
Json toJson(const CuptiHost &host, const std::string &chip, const std::vector<MetricSet> &sets);

} // namespace heddle
