// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/base/Result.h"
#include "core/optimizer/Fusion.h"
#include "core/optimizer/KernelWriter.h"

#include <map>
#include <string>

namespace heddle {

/// A native candidate of the `cpu` target: plan.json and kernel.cpp, and what the tuner may vary.
struct WrittenCandidate {
    FileTree files;
    std::map<std::string, KernelTunable> tunables;
    FusionPlan plan;
};

/// Writes the candidate of a fusion plan (docs/architecture/plan.md). Errors: NotCovered.
Result<WrittenCandidate> writeCandidate(const FusionPlan &plan);
/// The same with other defaults for its tunables: plan.json changes, the source does not.
FileTree withDefaults(const WrittenCandidate &candidate, const std::map<std::string, std::int64_t> &defaults);

/// From the captured graph to a candidate. Errors: InvalidInput, NotCovered naming the operators.
Result<WrittenCandidate> candidateForGraph(const Json &graph, FusionMode mode = FusionMode::Full);

} // namespace heddle
