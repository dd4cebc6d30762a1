// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/rpc/FrameChannel.h"

#include <filesystem>
#include <memory>
#include <string>

namespace heddle {

/// The supervisor's end of worker-protocol.md. Thread-safe: calls from several threads share one connection.
/// A reader thread of its own hands answers and progress out (progress sinks run on the calling thread).
class LineClient {
public:
    /// Errors: NotFound when nobody listens at `path`, Io.
    static Result<std::unique_ptr<LineClient>> connect(const std::filesystem::path &path);
    /// Over two pipes, such as those of `ssh HOST heddle-worker --stdio`.
    static Result<std::unique_ptr<LineClient>> fromPipes(Fd input, Fd output);
    ~LineClient();

    /// One request. After a cancel or timeout it sends `$/cancel` and waits at most five seconds for the end.
    /// Errors: the server's own; Cancelled, TimedOut; Crashed when the connection is lost.
    Result<Json> call(const std::string &method, const Json &params, const CallOptions &options = {});
    bool isConnected() const;

private:
    struct State;
    explicit LineClient(std::shared_ptr<State> state);
    std::shared_ptr<State> m_state;
};

} // namespace heddle
