// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/ReviewLock.h"

#include "core/base/FileLock.h"

namespace heddle {

Result<ReviewLock> ReviewLock::take(const std::filesystem::path &storeFolder,
                                    std::chrono::milliseconds timeout)
{
    const std::filesystem::path path = storeFolder / "review.lock";
    HEDDLE_TRY(Fd fd, openLockFile(path, 0666));
    HEDDLE_TRY(const LockWait wait, waitForLock(fd, timeout, {}));
    if (wait == LockWait::Busy)
        return Error(Code::Conflict, "another Heddle is landing or undoing something in this workspace",
                     path.string(), "nothing was changed; wait for it, then do it again");
    // A file system without such locks is a remote one, whose store one process has alone (Store.h).
    return ReviewLock(std::move(fd));
}

} // namespace heddle
