// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/Roof.h"
#include "core/runtime/server/Executors.h"
#include "core/runtime/server/InputSets.h"
#include "core/runtime/server/Rounds.h"

namespace heddle {

/// The machine's roofs, measured at the first call of this process and kept. The reference stays valid. Thread-safe.
Result<std::reference_wrapper<const RoofReport>> machineRoofOnce(int threads, const CancelToken &cancel);

/// Seconds that a kernel takes which reads every input and parameter once, writes every output once and computes
/// nothing, called on the same footing as a candidate: what memory alone costs, page faults included.
Result<double> measureMemoryRoof(Builder &builder, Executors &executors, Oracle &oracle, InputSets &sets,
                                 const CancelToken &cancel);

/// The process that does so, ready to be timed beside others. Errors: Internal where our probe does not compile.
Result<CandidateProcess> startMemoryProbe(Builder &builder, Executors &executors, Oracle &oracle,
                                          const CancelToken &cancel);

/// Seconds of its fastest call: a roof is what is possible, and others may have used the memory meanwhile.
double fastestCall(const std::vector<RoundSamples> &samples);

/// The native candidate that does it, for an arena's layout.
Result<FileTree> memoryProbe(const Json &layout);

} // namespace heddle
