// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/plan/Resolved.h"

#include <string>

namespace heddle {

/// The C++ unit of an export that runs a whole CPU plan: `extern "C" int heddle_run(void *const *pointers)`
/// takes inputs, state and outputs (in the order of ResolvedPlan::buffers without scratch), allocates
/// scratch at 64 bytes, calls the trampolines and returns 0, or 1 when memory is short. Sizes are those of
/// the layout, as constants. Errors: those of values that the layout lacks.
Result<std::string> generateRunSource(const Plan &plan, const ResolvedPlan &resolved,
                                      const TaskLayout &layout);

} // namespace heddle
