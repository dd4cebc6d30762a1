// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/json/Json.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace heddle {

/// Counters of /proc/stat at one moment, in clock ticks summed over processors.
struct CpuCounters {
    std::uint64_t busy = 0;         ///< user, nice, system, irq, softirq
    std::uint64_t idle = 0;         ///< idle, iowait
    std::uint64_t steal = 0;        ///< taken by the hypervisor
    std::uint64_t processTicks = 0; ///< of this process and its reaped children
};

/// Parses the first line of /proc/stat. Errors: Environment, Protocol when malformed.
Result<CpuCounters> readCpuCounters(const std::string &statPath = "/proc/stat");

/// The figures behind the evidence row `machine_quiet`.
struct QuietReport {
    bool isQuiet = false;
    double foreignShare = 0; ///< processor time used by others over the window, of all processors, 0 to 1
    double stealShare = 0;   ///< taken by the hypervisor, 0 to 1
    double loadAverage = 0;  ///< one minute; reported, never judged (it lags)
    std::string message;     ///< one sentence
    Json toJson() const;
};

/// The shares between two moments. Quiet: others at most 10 %, steal at most 2 %.
QuietReport judgeQuiet(const CpuCounters &before, const CpuCounters &after, double loadAverage);

/// Watches for `window` (sleeping) and judges.
Result<QuietReport> measureQuiet(std::chrono::milliseconds window = std::chrono::milliseconds(200));

} // namespace heddle
