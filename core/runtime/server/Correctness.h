// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/InputSets.h"
#include "core/runtime/server/Oracle.h"
#include "core/verify/Evidence.h"

namespace heddle {

/// How a candidate is checked.
struct CorrectnessOptions {
    const Json *binding = nullptr;   ///< of a Python candidate: what its `load` said; none for a native one
    std::optional<double> tolerance; ///< absolute and relative, of the output's scale; empty: by dtype
    std::chrono::milliseconds callTimeout{20'000};
};

/// Runs the candidate on every input set and writes the rows ran, in_time, families, oracle_precision, correct, domain,
/// precision, outputs_written, inputs_unchanged, guard_zones, repeatable, work_after_return and, for a Python candidate that
/// took the reference's state, state_binding into the sheet. Outputs are read from the frozen process. A candidate that crashes or hangs is a finding, not an error; `subject` is then unusable.
/// Errors: the environment's only (the oracle failed, cancelled).
Result<void> checkCorrectness(Subject &subject, Oracle &oracle, InputSets &sets,
                              const CorrectnessOptions &options, EvidenceSheet &sheet,
                              const CancelToken &cancel, const ProgressSink &progress);

} // namespace heddle
