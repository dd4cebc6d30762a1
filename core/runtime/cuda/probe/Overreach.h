// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"
#include "core/runtime/cuda/ExchangeBuffer.h"

namespace heddle {

/// Tries to get more than the imported buffer: to map beyond the allocation, to copy and to read past its end. Rows as in
/// Walls.h. The last attempt, a kernel that reads past the end, loses the context when the wall holds. `readKernel` is
/// heddle_probe_read. Errors: those of the driver, where an attempt cannot even be set up.
Result<Json> tryOverreach(const CudaContext &context, const ExchangeBuffer &buffer,
                          cuda::Function readKernel);

} // namespace heddle
