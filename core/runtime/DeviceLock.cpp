// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/DeviceLock.h"

#include "core/base/File.h"
#include "core/base/FileLock.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace heddle {

Result<DeviceLock> DeviceLock::acquire(std::string_view device, std::chrono::milliseconds timeout,
                                       const CancelToken &cancel)
{
    const bool isPlain = !device.empty() && std::all_of(device.begin(), device.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    });
    if (!isPlain)
        return Error(Code::InvalidInput, "a device is named by lower-case letters and digits",
                     std::string(device));
    HEDDLE_CHECK_OK(makeFolder(runtimeFolder()));
    const std::filesystem::path path = runtimeFolder() / ("device-" + std::string(device) + ".lock");
    HEDDLE_TRY(Fd fd, openLockFile(path, 0600));
    HEDDLE_TRY(const LockWait wait, waitForLock(fd, timeout, cancel));
    switch (wait) {
    case LockWait::Held: break;
    case LockWait::Cancelled:
        return Error(Code::Cancelled, "waiting for the device was cancelled", std::string(device));
    case LockWait::Busy: {
        const auto holder = readFile(path, 64);
        return Error(Code::TimedOut,
                     "another process measures on this device"
                         + (holder && !holder->empty() ? ": pid " + *holder : ""),
                     std::string(device), "wait for it to end, or cancel it");
    }
    case LockWait::Unsupported:
        return Error(Code::Io, "the folder for locks is on a file system without them", path.string(),
                     "set XDG_RUNTIME_DIR to a folder on a local file system");
    }
    // Only for the message above: who holds it is what the kernel says, never this text.
    const std::string pid = std::to_string(::getpid());
    if (::ftruncate(fd.value(), 0) != 0 || ::pwrite(fd.value(), pid.data(), pid.size(), 0) < 0)
        return Error(Code::Io, std::string("cannot write to the lock of a device: ") + std::strerror(errno),
                     path.string());
    return DeviceLock(std::move(fd));
}

} // namespace heddle
