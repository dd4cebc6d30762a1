// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Builder.h"
#include "core/runtime/server/Machine.h"

namespace heddle {

/// The check-up of this target: {"rows": [{"id", "ok", "found", "missing", "next"}]} for compiler, python, sandbox,
/// openmp, memory and processors. Starts each for real. Errors: Cancelled only.
Result<Json> checkUp(Machine &machine, Builder &builder, const CancelToken &cancel);

} // namespace heddle
