// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Builder.h"
#include "core/runtime/server/Machine.h"

namespace heddle {

/// The check-up of this target: {"rows": [{"id", "ok", "found", "missing", "next"}]} for compiler, python, sandbox,
/// openmp, memory and processors, and for CUDA candidates nvrtc and nvdisasm. Starts each for real. What is optional and not
/// there is ok, with an empty "found" and a "missing". Errors: Cancelled only.
Result<Json> checkUp(Machine &machine, Builder &builder, const CancelToken &cancel);

} // namespace heddle
