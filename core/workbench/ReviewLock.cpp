// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/ReviewLock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

namespace heddle {

Result<ReviewLock> ReviewLock::take(const std::filesystem::path &storeFolder,
                                    std::chrono::milliseconds timeout)
{
    const std::filesystem::path path = storeFolder / "review.lock";
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!fd.isOpen())
        return Error(Code::Io, std::string("cannot open the lock of the review: ") + std::strerror(errno),
                     path.string());
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (::flock(fd.value(), LOCK_EX | LOCK_NB) != 0) {
        // A file system without such locks is a remote one, whose store one process has alone (Store.h).
        if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS)
            break;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return Error(Code::Io, std::string("cannot lock the review: ") + std::strerror(errno),
                         path.string());
        if (std::chrono::steady_clock::now() >= end)
            return Error(Code::Conflict, "another Heddle is landing or undoing something in this workspace",
                         path.string(), "nothing was changed; wait for it, then do it again");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return ReviewLock(std::move(fd));
}

} // namespace heddle
