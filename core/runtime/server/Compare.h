// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Judge.h"

namespace heddle {

/// One side of a comparison: a candidate, or a baseline of the oracle where `files` is empty.
struct CompareSide {
    FileTree files;
    Json tunables = Json::object();
    std::string baseline = "eager";
};

/// Times two sides against each other `judgements` times, each time in fresh processes and with the rounds of a confirmed
/// verdict; correctness is not checked. {"ratios": [{"value", "ci"}]}: how many times faster `subject` is than `other`.
/// This is also how the timing method is proved (A/A, planted slowdown). Errors: CompileFailed, those of the subjects.
Result<Json> compareSides(const JudgeContext &context, const CompareSide &subject, const CompareSide &other,
                          int judgements, const CancelToken &cancel, const ProgressSink &progress);

} // namespace heddle
