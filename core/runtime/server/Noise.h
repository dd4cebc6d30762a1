// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Executors.h"

namespace heddle {

/// How noisy this machine is, for `doctor --noise`: {"rows": [{"id", "ok", "found", "missing", "next"}], "figures"}: steal
/// time and foreign load, the cost of an empty call, and the spread of one fixed kernel between processes (A/A).
/// Takes a few seconds. Errors: those of the builder and the executors.
Result<Json> measureNoise(Builder &builder, Executors &executors, const CancelToken &cancel,
                          const ProgressSink &progress);

} // namespace heddle
