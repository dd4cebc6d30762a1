// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/json/Json.h"

namespace heddle {

/// What this machine's processors can do at best, measured (STREAM-like, McCalpin 1995: copy counts 2 and triad 3 bytes
/// moved per byte of array; write-allocate traffic is not counted, as STREAM does not).
struct RoofReport {
    int threads = 0;
    double copyBytesPerSecond = 0;  ///< into touched pages, streaming stores where the compiler makes them
    double triadBytesPerSecond = 0; ///< touched pages
    double readBytesPerSecond = 0;  ///< sum of an array
    double freshCopyBytesPerSecond =
        0;                          ///< copy into pages never touched before, as a timed call's outputs are
    double faultSecondsPerByte = 0; ///< extra time of a first touch, per byte written
    double pageFaultShare = 0;      ///< of a fresh copy's time, 0 to 1
    double flopsPerSecond = 0;      ///< fp32 fused multiply-add peak, all threads, counting 2 per element
    double seconds = 0;             ///< that the measurement took
    Json toJson() const;
};

/// Takes two to three seconds with `threads` threads; the machine should be idle. Cache it by machine, the caller does.
/// Errors: Cancelled, OutOfMemory (needs about 512 MiB).
Result<RoofReport> measureRoof(int threads, const CancelToken &cancel);

} // namespace heddle
