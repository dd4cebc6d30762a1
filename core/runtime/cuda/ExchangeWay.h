// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"
#include "core/runtime/cuda/CudaApi.h"

#include <string>
#include <vector>

namespace heddle {

/// How tensors reach the other process, best first.
enum class ExchangeWay {
    FileDescriptor, ///< allocations of their own, sent as descriptors
    LegacyIpc,      ///< CUDA IPC handles: whole allocations, in one PID namespace
    HostMemory,     ///< copies through a memfd
};

/// "file_descriptor", "legacy_ipc" or "host_memory".
std::string_view exchangeWayName(ExchangeWay way);

/// Which way works here, and why the better ones do not: a row for `doctor`.
struct ExchangeReport {
    ExchangeWay way = ExchangeWay::HostMemory;
    std::vector<std::string> reasons; ///< one sentence for each way above the one that works
    Json toJson() const;
};

/// Tries each way for real: makes, exports, imports and maps a small buffer within this process. Takes milliseconds.
ExchangeReport probeExchange(const CudaContext &context);

} // namespace heddle
