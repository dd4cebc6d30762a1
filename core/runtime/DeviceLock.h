// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/base/Fd.h"
#include "core/base/Result.h"

#include <chrono>
#include <string_view>

namespace heddle {

/// The exclusive right to measure on one device of this machine, among all of this user's processes (flock under
/// runtimeFolder()). Released when destroyed or when the process dies.
class DeviceLock {
public:
    /// `device` is "cpu", "cuda0" and the like. Errors: TimedOut (Conflict in words: who holds it), Cancelled, Io.
    static Result<DeviceLock> acquire(std::string_view device, std::chrono::milliseconds timeout,
                                      const CancelToken &cancel);

private:
    explicit DeviceLock(Fd fd) : m_fd(std::move(fd)) {}
    Fd m_fd;
};

} // namespace heddle
