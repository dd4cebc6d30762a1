// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Fd.h"
#include "core/base/Result.h"

#include <chrono>
#include <filesystem>

namespace heddle {

/// The right to change the heads of a workspace's tasks, files and events together, among all windows and command lines
/// (flock on `review.lock` in the store's folder). Released when destroyed, and by the kernel when the holder dies.
class ReviewLock {
public:
    static constexpr std::chrono::milliseconds patience{10000};

    /// Blocks until it is free. `storeFolder`: Store::folder(). Errors: Conflict after `timeout`, Io.
    static Result<ReviewLock> take(const std::filesystem::path &storeFolder,
                                   std::chrono::milliseconds timeout = patience);

private:
    explicit ReviewLock(Fd fd) : m_fd(std::move(fd)) {}
    Fd m_fd;
};

} // namespace heddle
