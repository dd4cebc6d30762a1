// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/base/Fd.h"
#include "core/json/Json.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// One received message and the descriptors that came with it (already close-on-exec).
struct Frame {
    Json body;
    std::vector<Fd> fds;
};

/// The answer to a call.
struct Reply {
    Json result;
    std::vector<Fd> fds;
};

/// How long a call may take and who may end it. Progress arrives on the calling thread.
struct CallOptions {
    std::chrono::milliseconds timeout{60'000};
    CancelToken cancel;
    ProgressSink progress;
};

/// The worker's end of a child's socket: length-prefixed JSON with descriptors, one request at a time
/// (docs/architecture/oracle-protocol.md). Used by one thread at a time. The other side is not trusted:
/// whatever breaks the framing, a timeout or a cancel leaves the channel broken for good (`isBroken`),
/// and its owner kills the child. Messages over 64 MiB or 16 descriptors are refused.
class FrameChannel {
public:
    static constexpr std::uint32_t maximumBytes = 64u << 20;
    static constexpr std::size_t maximumFds = 16;

    explicit FrameChannel(Fd socket) : m_socket(std::move(socket)) {}

    /// A connected pair: our end and the descriptor for the child.
    static Result<std::pair<FrameChannel, Fd>> createPair();

    /// Sends one frame; `fds` are borrowed, and counted in the member "fds". Errors: TimedOut, Cancelled,
    /// Crashed when the other side is gone, InvalidInput when it is too large.
    Result<void> send(Json body, const std::vector<int> &fds, const CallOptions &options);
    /// Waits for one frame. Errors: TimedOut, Cancelled, Crashed (end of file), Protocol.
    Result<Frame> receive(const CallOptions &options);

    /// Sends a request without waiting for its answer; returns its id.
    Result<std::int64_t> begin(const std::string &method, Json params, const std::vector<int> &fds,
                               const CallOptions &options);
    /// Waits for the answer to `id`; progress frames go to options.progress. A child's error comes back as is.
    Result<Reply> finish(std::int64_t id, const CallOptions &options);
    /// begin() and finish().
    Result<Reply> call(const std::string &method, Json params, const std::vector<int> &fds = {},
                       const CallOptions &options = {});

    bool isBroken() const { return m_isBroken || !m_socket.isOpen(); }
    int descriptor() const { return m_socket.value(); }

private:
    Error broken(Error error);

    Fd m_socket;
    std::int64_t m_nextId = 1;
    bool m_isBroken = false;
};

} // namespace heddle
