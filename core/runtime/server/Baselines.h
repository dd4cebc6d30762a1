// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/InputSets.h"
#include "core/runtime/server/Oracle.h"
#include "core/runtime/server/Rounds.h"

#include <string>
#include <vector>

namespace heddle {

/// What is known of a task's reference on this machine. Plain data.
struct BaselineSet {
    std::vector<std::string> prepared; ///< names that the oracle can serve: "eager", "compile", ...
    std::string strongest;             ///< the fastest of them
    RoundsResult rounds;               ///< of the last measurement
    Json skipped = Json::object();     ///< {name: reason} for the modes that were not measured
};

/// Which modes to compile.
enum class BaselineDepth {
    Eager,     ///< eager only
    Compile,   ///< eager and torch.compile
    Strongest, ///< every mode that could be the fastest
};

/// Compiles and warms the modes (up to 120 s each) and times all of them interleaved. Errors: the oracle's; a mode that
/// fails to compile is skipped with its reason.
Result<BaselineSet> measureBaselines(Oracle &oracle, InputSets &sets, BaselineDepth depth,
                                     const CancelToken &cancel, const ProgressSink &progress);

/// The fastest of the named baselines in a measurement that has all of them, by undisturbed times.
std::string strongestOf(const std::vector<std::string> &names, const RoundsResult &rounds);

/// {"eager": timingJson(), "compile", "strongest": {"name", …}} of the report, from any measurement
/// in which the baselines took part.
Json baselinesJson(const std::string &strongest, const RoundsResult &rounds, std::uint64_t seed);
/// {"median_ms", "undisturbed_ms", "ci_ms", "runs"} of one contestant; ci_ms is the median's.
Json timingJson(const RoundsResult &rounds, const std::string &name, std::uint64_t seed);
/// {"value", "ci"}; an infinite end becomes null.
Json ratioJson(const Interval &ratio);

/// Calls a block: more for short calls, so that a block lasts some milliseconds and at most two seconds.
int callsPerBlockFor(double callSeconds, std::size_t slots);

} // namespace heddle
