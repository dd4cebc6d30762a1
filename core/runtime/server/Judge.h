// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Baselines.h"
#include "core/runtime/server/Builder.h"
#include "core/runtime/server/Executors.h"
#include "core/runtime/server/InputSets.h"
#include "core/runtime/server/Oracle.h"
#include "core/verify/Evidence.h"

namespace heddle {

/// The relative half-width under which two processes that run the same code can't be told apart on machines like these
/// (docs/measurements/timing.md); added in quadrature to every interval of a ratio.
constexpr double confirmedNoiseFloor = 0.04;
/// How long each stage times at least; the proof of the method uses the same.
constexpr double quickSeconds = 0.15;
constexpr int quickRounds = 3;
constexpr double confirmedSeconds = 1.5;
constexpr int confirmedRounds = 8;

/// What is asked of one judgement.
struct JudgeRequest {
    FileTree files;
    Json tunables = Json::object();
    std::string stage = "quick"; ///< "quick" or "confirmed"
    std::optional<double> tolerance;
    std::uint64_t seed = 1; ///< of the bootstrap and of which calls are looked at
};

/// The roof of a task: the fastest that its bytes can be moved and its arithmetic done on this machine.
struct TaskRoof {
    double seconds = 0.0;
    double memorySeconds = 0.0;  ///< measured: a kernel that only reads the inputs and writes the outputs
    double computeSeconds = 0.0; ///< floating-point operations over the measured FMA peak
    double pageFaultShare = 0.0;
    Json toJson() const; ///< {"ms", "bound", "memory_ms", "compute_ms", "page_fault_share"}
};

/// An open task as the judge needs it. References outlive the judgement.
struct JudgeContext {
    Machine &machine;
    Builder &builder;
    Executors &executors;
    Oracle &oracle;
    InputSets &sets;
    const BaselineSet &baselines;
    const TaskRoof &roof;
    std::string taskSource; ///< text of the task file, for the export
};

/// Judges one candidate: build, correctness, timing, and for "confirmed" the export timed in PyTorch. Returns the
/// report's candidate part (core/schemas/report.schema.json) without task, target and environment.
/// Errors: the environment's only; whatever the candidate does is a row.
Result<Json> judge(const JudgeContext &context, const JudgeRequest &request, const CancelToken &cancel,
                   const ProgressSink &progress);

/// Times a built candidate alone, without a check: {"median_ms", "undisturbed_ms", "ci_ms", "runs"}.
Result<Json> benchmarkOnly(const JudgeContext &context, const JudgeRequest &request,
                           const CancelToken &cancel);

} // namespace heddle
