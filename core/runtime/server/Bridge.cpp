// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Bridge.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace heddle {

namespace {

bool writeWhole(int fd, const char *bytes, std::size_t size)
{
    while (size > 0) {
        const ssize_t count = ::write(fd, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

/// Copies until the source ends or the sink is gone.
void copyBytes(int from, int to)
{
    char chunk[65536];
    while (true) {
        const ssize_t count = ::read(from, chunk, sizeof chunk);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0 || !writeWhole(to, chunk, static_cast<std::size_t>(count)))
            return;
    }
}

} // namespace

Result<void> bridgeToWorker(const WorkerLaunch &launch)
{
    HEDDLE_TRY(Fd worker, connectWorker(launch, {}));
    // Detached, since it may stay in a read of stdin when the worker ends first; the process ends right after. The
    // descriptor is released for the same reason.
    const int socket = worker.release();
    std::thread([socket] {
        copyBytes(STDIN_FILENO, socket);
        // The worker sees the end, cancels what this connection asked for, and closes its side.
        ::shutdown(socket, SHUT_WR);
    }).detach();
    copyBytes(socket, STDOUT_FILENO);
    return {};
}

} // namespace heddle
