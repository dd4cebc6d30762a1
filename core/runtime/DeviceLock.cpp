// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/DeviceLock.h"

#include "core/base/File.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

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
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.isOpen())
        return Error(Code::Io, std::string("cannot open the lock of a device: ") + std::strerror(errno),
                     path.string());
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (::flock(fd.value(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return Error(Code::Io, std::string("cannot lock a device: ") + std::strerror(errno),
                         path.string());
        if (cancel.stop_requested())
            return Error(Code::Cancelled, "waiting for the device was cancelled", std::string(device));
        if (std::chrono::steady_clock::now() >= end) {
            const auto holder = readFile(path, 64);
            return Error(Code::TimedOut,
                         "another process measures on this device"
                             + (holder && !holder->empty() ? ": pid " + *holder : ""),
                         std::string(device), "wait for it to end, or cancel it");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    // Only for the message above: who holds it is what the kernel says, never this text.
    const std::string pid = std::to_string(::getpid());
    if (::ftruncate(fd.value(), 0) != 0 || ::pwrite(fd.value(), pid.data(), pid.size(), 0) < 0)
        return Error(Code::Io, std::string("cannot write to the lock of a device: ") + std::strerror(errno),
                     path.string());
    return DeviceLock(std::move(fd));
}

} // namespace heddle
