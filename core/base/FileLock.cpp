// SPDX-License-Identifier: Apache-2.0
#include "core/base/FileLock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

namespace heddle {

Result<Fd> openLockFile(const std::filesystem::path &path, unsigned permissions)
{
    Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, permissions));
    if (!file.isOpen())
        return Error(Code::Io, std::string("cannot open a lock file: ") + std::strerror(errno),
                     path.string());
    return file;
}

Result<LockWait> waitForLock(const Fd &file, std::chrono::milliseconds timeout, const CancelToken &cancel)
{
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (::flock(file.value(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS)
            return LockWait::Unsupported;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return Error(Code::Io, std::string("cannot lock a file: ") + std::strerror(errno));
        if (cancel.stop_requested())
            return LockWait::Cancelled;
        if (std::chrono::steady_clock::now() >= end)
            return LockWait::Busy;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return LockWait::Held;
}

} // namespace heddle
