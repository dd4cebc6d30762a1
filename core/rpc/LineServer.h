// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/base/Fd.h"
#include "core/json/Json.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace heddle {

/// Answers one request. Runs on a thread of its own; must return soon after `cancel` fires. Errors go to the
/// client as JSON-RPC errors. An unknown method is Code::NotFound by convention.
using RequestHandler = std::function<Result<Json>(const std::string &method, const Json &params,
                                                  const CancelToken &cancel, const ProgressSink &progress)>;

/// JSON-RPC 2.0, one message a line (docs/architecture/worker-protocol.md), over a Unix socket or a pair of pipes.
/// Thread-safe. Requests of one connection run side by side; a dropped connection cancels its requests.
/// A malformed line is answered with an error and the connection stays; a line over 64 MiB closes it.
class LineServer {
public:
    explicit LineServer(RequestHandler handler);
    ~LineServer(); ///< stop()

    /// Binds `path` (mode 0600, replacing a dead socket) and accepts peers of the same user on a thread of its own.
    /// Errors: Io; Conflict when another server answers there.
    Result<void> listen(const std::filesystem::path &path);
    /// Serves one connection, such as the stdin and stdout of `heddle-worker --stdio`, until end of file or stop().
    Result<void> serve(Fd input, Fd output);
    /// Cancels all requests, waits for their handlers, closes everything, removes the socket. May be called twice,
    /// but not from a handler: there use requestStop().
    void stop();
    /// Makes wait() return; callable from a handler and a signal-handling thread.
    void requestStop();
    /// Blocks until requestStop() or stop(), at most `limit`; true when stopping was asked for.
    bool wait(std::chrono::milliseconds limit);
    /// Time since the last request ended or connection changed; zero while a request runs.
    std::chrono::steady_clock::duration idleTime() const;

private:
    struct State;
    std::shared_ptr<State> m_state;
};

} // namespace heddle
