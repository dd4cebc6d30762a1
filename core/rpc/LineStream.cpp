// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/LineStream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace heddle {

Result<std::shared_ptr<LineStream>> LineStream::create(Fd input, Fd output)
{
    Fd wake(::eventfd(0, EFD_CLOEXEC));
    if (!wake.isOpen())
        return Error(Code::Io, std::string("cannot make an event descriptor: ") + std::strerror(errno));
    for (const int fd : {input.value(), output.value()}) {
        if (fd >= 0)
            ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    return std::shared_ptr<LineStream>(new LineStream(std::move(input), std::move(output), std::move(wake)));
}

LineStream::LineStream(Fd input, Fd output, Fd wake)
    : m_input(std::move(input)), m_output(std::move(output)), m_wake(std::move(wake))
{
}

LineStream::~LineStream() = default;

bool LineStream::waitFor(int fd, short events) const
{
    while (!m_isInterrupted) {
        pollfd entries[2] = {{fd, events, 0}, {m_wake.value(), POLLIN, 0}};
        if (::poll(entries, 2, -1) < 0 && errno != EINTR)
            return false;
        if (entries[1].revents != 0)
            return false;
        if (entries[0].revents != 0)
            return true;
    }
    return false;
}

std::optional<std::string> LineStream::readLine()
{
    while (!m_isInterrupted) {
        const std::size_t end = m_buffer.find('\n', m_scanned);
        if (end != std::string::npos) {
            std::string line = m_buffer.substr(0, end);
            m_buffer.erase(0, end + 1);
            m_scanned = 0;
            return line;
        }
        m_scanned = m_buffer.size();
        if (m_buffer.size() > maximumLine)
            return std::nullopt;
        char chunk[65536];
        const ssize_t count = ::read(m_input.value(), chunk, sizeof chunk);
        if (count > 0)
            m_buffer.append(chunk, static_cast<std::size_t>(count));
        else if (count == 0 || (errno != EAGAIN && errno != EINTR))
            return std::nullopt;
        else if (!waitFor(m_input.value(), POLLIN))
            return std::nullopt;
    }
    return std::nullopt;
}

bool LineStream::write(const Json &message)
{
    const std::string text = compactText(message) + '\n';
    std::string_view bytes(text);
    const bool isSocket = !m_output.isOpen();
    const int fd = isSocket ? m_input.value() : m_output.value();
    const std::lock_guard lock(m_writeMutex);
    while (!bytes.empty() && !m_isInterrupted) {
        // A peer that hangs up must give an error here, never SIGPIPE. Owners of pipes ignore that signal themselves.
        const ssize_t count = isSocket ? ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                       : ::write(fd, bytes.data(), bytes.size());
        if (count >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(count));
        else if (errno == EAGAIN) {
            if (!waitFor(fd, POLLOUT))
                return false;
        } else if (errno != EINTR)
            return false;
    }
    return bytes.empty();
}

void LineStream::interrupt()
{
    m_isInterrupted = true;
    const std::uint64_t one = 1;
    // Cannot fail: the counter of an eventfd that nobody reads holds 2^64 - 2.
    [[maybe_unused]] const ssize_t count = ::write(m_wake.value(), &one, sizeof one);
    if (!m_output.isOpen())
        ::shutdown(m_input.value(), SHUT_RDWR);
}

Result<RpcMessage> parseRpcMessage(std::string_view line)
{
    auto parsed = parseJson(line, "message");
    if (!parsed)
        return Error(Code::Protocol, "a message is not JSON");
    const Json &value = parsed.value();
    if (!value.is_object() || stringOr(value, "jsonrpc") != "2.0")
        return Error(Code::Protocol, "a message is not a JSON-RPC 2.0 object");
    RpcMessage message;
    message.id = memberOr(value, "id");
    if (!message.id.is_null() && !message.id.is_string() && !message.id.is_number_integer())
        return Error(Code::Protocol, "the id of a message is neither a string nor an integer");
    if (value.contains("method")) {
        if (!memberOr(value, "method").is_string())
            return Error(Code::Protocol, "the method of a message is not a string");
        message.method = stringOr(value, "method");
        if (message.method.empty())
            return Error(Code::Protocol, "the method of a message is empty");
        message.params = value.contains("params") ? memberOr(value, "params") : Json::object();
        if (!message.params.is_object())
            return Error(Code::Protocol, "the params of a message are not an object");
        return message;
    }
    if (const Json &error = memberOr(value, "error"); error.is_object())
        message.error = errorFromRpc(error);
    else if (value.contains("result"))
        message.result = memberOr(value, "result");
    else
        return Error(Code::Protocol, "a message holds neither a method nor a result nor an error");
    return message;
}

Json rpcError(const Error &error)
{
    // -32700, -32601 and -32602 are JSON-RPC's own numbers; everything of ours is -32000 with the code word in data.
    return Json{{"code", error.code() == Code::Protocol ? -32600 : -32000},
                {"message", error.message()},
                {"data", toJson(error)}};
}

Error errorFromRpc(const Json &value)
{
    if (const Json &data = memberOr(value, "data"); data.is_object() && data.contains("code"))
        return errorFromJson(data);
    return Error(Code::Protocol,
                 stringOr(value, "message", "the other side reported an error without a text"));
}

} // namespace heddle
