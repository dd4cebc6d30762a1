// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Fd.h"
#include "core/json/Json.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// One connection of JSON lines: one reader, any number of writers. interrupt() ends both from any thread.
class LineStream {
public:
    static constexpr std::size_t maximumLine = 64u << 20;

    /// `output` may be unset: then `input` is a socket and used for both.
    static Result<std::shared_ptr<LineStream>> create(Fd input, Fd output);
    ~LineStream();

    /// The next line without its newline; nothing at end of file, on a read error, when interrupted, or when a line is
    /// longer than the limit. Called by one thread.
    std::optional<std::string> readLine();
    /// Writes the message and a newline as a whole; blocks while the peer is slow. False when the connection is gone.
    bool write(const Json &message);
    /// Makes readLine() and write() return now and for ever.
    void interrupt();

private:
    LineStream(Fd input, Fd output, Fd wake);
    bool waitFor(int fd, short events) const;

    const Fd m_input;
    const Fd m_output; // unset: m_input
    const Fd m_wake;   // an eventfd that stays readable once interrupted
    std::atomic<bool> m_isInterrupted{false};
    std::mutex m_writeMutex; // guards the order of bytes on the output
    std::string m_buffer;    // read but not yet returned; the reader's own
    std::size_t m_scanned = 0;
};

/// What a line from the other side is, after the checks that JSON-RPC 2.0 asks for.
struct RpcMessage {
    Json id;            ///< null for a notification
    std::string method; ///< empty for a response
    Json params;
    Json result;
    std::optional<Error> error;
};

/// Parses one line. Errors: Protocol, with what is wrong with it.
Result<RpcMessage> parseRpcMessage(std::string_view line);

/// JSON-RPC error object of an Error, and back.
Json rpcError(const Error &error);
Error errorFromRpc(const Json &value);

} // namespace heddle
