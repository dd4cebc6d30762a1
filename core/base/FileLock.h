// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/base/Fd.h"
#include "core/base/Result.h"

#include <chrono>
#include <filesystem>

namespace heddle {

/// How waiting for a lock ended. Each caller has its own words for what that means.
enum class LockWait {
    Held,        ///< it is ours, until the file is closed or the process dies
    Busy,        ///< another process had it until the time was up
    Cancelled,   ///< we were asked to stop
    Unsupported, ///< this file system has no such locks (some remote ones)
};

/// Opens a lock file (made where it is missing, never a link) with these permissions. Errors: Io.
Result<Fd> openLockFile(const std::filesystem::path &path, unsigned permissions);

/// Waits for the exclusive lock (flock) on an open file, a hundred looks a second. Blocks. Errors: Io.
Result<LockWait> waitForLock(const Fd &file, std::chrono::milliseconds timeout, const CancelToken &cancel);

} // namespace heddle
