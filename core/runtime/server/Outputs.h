// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/Subject.h"
#include "core/runtime/server/Arena.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Copies the outputs (then the updated state) that a frozen subject has published into shared memory for the
/// oracle. `sizes` are what the task demands. Errors: TaskFailed when count or size differ; those of readMemory().
Result<ReturnBuffer> readOutputs(const Subject &subject, const std::vector<std::uint64_t> &sizes);

/// Which of the subject's private input copies differ from the arena; names, empty when all are as they were.
/// State tensors that the task itself updates are left out. The subject must be frozen.
Result<std::vector<std::string>> changedInputs(const Subject &subject, const Arena &arena, int slot,
                                               int stateSlot, const std::vector<std::string> &updates);

/// The guard zones round the published outputs (with `hasGuardedOutputs`) and the first `inputCount` inputs: a sentence for
/// the first damaged one, or nothing. The subject must be frozen.
Result<std::optional<std::string>> damagedGuard(const Subject &subject, std::size_t inputCount,
                                                bool hasGuardedOutputs);

} // namespace heddle
