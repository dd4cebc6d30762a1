// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/FrameChannel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

// Cancel tokens cannot wake a poll, so every wait is cut into slices of this length.
constexpr auto cancelSlice = std::chrono::milliseconds(20);

Error systemError(const char *what)
{
    const int number = errno;
    if (number == EPIPE || number == ECONNRESET)
        return Error(Code::Crashed, "the other side of the channel has gone");
    return Error(Code::Io, std::string(what) + ": " + std::strerror(number));
}

/// When a call must end, and who may end it before.
struct Deadline {
    Clock::time_point end;
    const CancelToken &cancel;

    explicit Deadline(const CallOptions &options)
        : end(Clock::now() + options.timeout), cancel(options.cancel)
    {
    }

    /// Waits until `fd` is ready for `events` (hang-ups count as ready: the read or write then tells).
    Result<void> waitFor(int fd, short events) const
    {
        while (true) {
            if (cancel.stop_requested())
                return Error(Code::Cancelled, "the call was cancelled");
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
            if (left.count() < 0)
                return Error(Code::TimedOut, "the other side of the channel did not answer in time");
            auto slice = left + std::chrono::milliseconds(1);
            if (cancel.stop_possible())
                slice = std::min<std::chrono::milliseconds>(slice, cancelSlice);
            slice = std::min<std::chrono::milliseconds>(slice, std::chrono::minutes(1));
            pollfd entry{fd, events, 0};
            const int count = ::poll(&entry, 1, static_cast<int>(slice.count()));
            if (count > 0)
                return {};
            if (count < 0 && errno != EINTR)
                return systemError("cannot wait on the channel");
        }
    }
};

Result<void> sendBytes(int fd, std::string_view bytes, const std::vector<int> &fds, const Deadline &deadline)
{
    bool hasSentFds = fds.empty();
    while (!bytes.empty()) {
        iovec part{const_cast<char *>(bytes.data()), bytes.size()};
        msghdr header{};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * FrameChannel::maximumFds)> control{};
        if (!hasSentFds) {
            header.msg_control = control.data();
            header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
            cmsghdr *message = CMSG_FIRSTHDR(&header);
            message->cmsg_level = SOL_SOCKET;
            message->cmsg_type = SCM_RIGHTS;
            message->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
            std::memcpy(CMSG_DATA(message), fds.data(), sizeof(int) * fds.size());
        }
        const ssize_t count = ::sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            if (errno == EAGAIN || errno == EINTR) {
                HEDDLE_CHECK_OK(deadline.waitFor(fd, POLLOUT));
                continue;
            }
            return systemError("cannot write to the channel");
        }
        hasSentFds = true;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

/// Takes every descriptor out of the control data, so that none leaks even when the frame is refused.
Result<void> takeFds(msghdr &header, std::vector<Fd> &into)
{
    for (cmsghdr *message = CMSG_FIRSTHDR(&header); message != nullptr;
         message = CMSG_NXTHDR(&header, message)) {
        if (message->cmsg_level != SOL_SOCKET || message->cmsg_type != SCM_RIGHTS)
            continue;
        const std::size_t count = (message->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(message) + i * sizeof(int), sizeof fd);
            into.emplace_back(fd);
        }
    }
    if ((header.msg_flags & MSG_CTRUNC) != 0 || into.size() > FrameChannel::maximumFds)
        return Error(Code::Protocol, "a frame came with more than 16 file descriptors");
    return {};
}

Result<void> receiveBytes(int fd, char *into, std::size_t bytes, std::vector<Fd> &fds,
                          const Deadline &deadline)
{
    while (bytes > 0) {
        iovec part{into, bytes};
        msghdr header{};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * FrameChannel::maximumFds)> control{};
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        const ssize_t count = ::recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (count < 0) {
            if (errno == EAGAIN || errno == EINTR) {
                HEDDLE_CHECK_OK(deadline.waitFor(fd, POLLIN));
                continue;
            }
            return systemError("cannot read from the channel");
        }
        HEDDLE_CHECK_OK(takeFds(header, fds));
        if (count == 0)
            return Error(Code::Crashed, "the other side of the channel has gone");
        into += count;
        bytes -= static_cast<std::size_t>(count);
    }
    return {};
}

Progress progressFrom(const Json &value)
{
    return Progress{stringOr(value, "phase"), numberOr(value, "fraction", -1.0), stringOr(value, "detail")};
}

} // namespace

Result<std::pair<FrameChannel, Fd>> FrameChannel::createPair()
{
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return systemError("cannot make a socket pair");
    return std::pair<FrameChannel, Fd>(FrameChannel(Fd(ends[0])), Fd(ends[1]));
}

Error FrameChannel::broken(Error error)
{
    m_isBroken = true;
    return error;
}

Result<void> FrameChannel::send(Json body, const std::vector<int> &fds, const CallOptions &options)
{
    if (isBroken())
        return Error(Code::Protocol, "the channel is broken by an earlier failure");
    if (fds.size() > maximumFds)
        return Error(Code::InvalidInput, "a frame carries at most 16 file descriptors");
    if (!fds.empty())
        body["fds"] = fds.size();
    std::string bytes(4, '\0');
    bytes += compactText(body);
    const std::size_t length = bytes.size() - 4;
    if (length > maximumBytes)
        return Error(Code::InvalidInput, "the message is larger than 64 MiB");
    for (std::size_t i = 0; i < 4; ++i)
        bytes[i] = static_cast<char>((length >> (8 * i)) & 0xff);
    if (auto sent = sendBytes(m_socket.value(), bytes, fds, Deadline(options)); !sent)
        return broken(std::move(sent).error());
    return {};
}

Result<Frame> FrameChannel::receive(const CallOptions &options)
{
    if (isBroken())
        return Error(Code::Protocol, "the channel is broken by an earlier failure");
    const Deadline deadline(options);
    Frame frame;
    std::array<char, 4> head{};
    if (auto read = receiveBytes(m_socket.value(), head.data(), head.size(), frame.fds, deadline); !read)
        return broken(std::move(read).error());
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
        length |= static_cast<std::uint32_t>(static_cast<unsigned char>(head[i])) << (8 * i);
    if (length > maximumBytes)
        return broken(Error(Code::Protocol, "the other side announced a frame of more than 64 MiB"));
    // Grown as bytes arrive: a lying length must not make us allocate 64 MiB for nothing.
    std::string text;
    while (text.size() < length) {
        const std::size_t have = text.size();
        const std::size_t part = std::min<std::size_t>(length - have, 1u << 20);
        text.resize(have + part);
        if (auto read = receiveBytes(m_socket.value(), text.data() + have, part, frame.fds, deadline); !read)
            return broken(std::move(read).error());
    }
    auto body = parseJson(text, "frame");
    if (!body)
        return broken(Error(Code::Protocol, "the other side sent a frame that is not JSON"));
    frame.body = std::move(body).value();
    if (!frame.body.is_object())
        return broken(Error(Code::Protocol, "the other side sent a frame that is not an object"));
    if (integerOr(frame.body, "fds", 0) != static_cast<std::int64_t>(frame.fds.size()))
        return broken(Error(Code::Protocol, "a frame's descriptors do not match its member \"fds\""));
    return frame;
}

Result<std::int64_t> FrameChannel::begin(const std::string &method, Json params, const std::vector<int> &fds,
                                         const CallOptions &options)
{
    const std::int64_t id = m_nextId++;
    HEDDLE_CHECK_OK(send(Json{{"id", id}, {"method", method}, {"params", std::move(params)}}, fds, options));
    return id;
}

Result<Reply> FrameChannel::finish(std::int64_t id, const CallOptions &options)
{
    // The deadline is for the whole call, however often the other side reports progress.
    CallOptions rest = options;
    const auto end = Clock::now() + options.timeout;
    while (true) {
        rest.timeout = std::max(std::chrono::milliseconds(0),
                                std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()));
        HEDDLE_TRY(Frame frame, receive(rest));
        if (integerOr(frame.body, "id", -1) != id)
            return broken(Error(Code::Protocol, "the other side answered a request that was not asked"));
        if (const Json &progress = memberOr(frame.body, "progress"); progress.is_object()) {
            if (options.progress)
                options.progress(progressFrom(progress));
            continue;
        }
        if (const Json &error = memberOr(frame.body, "error"); error.is_object())
            return errorFromJson(error);
        if (!frame.body.contains("result"))
            return broken(Error(Code::Protocol, "an answer holds neither a result nor an error"));
        return Reply{std::move(frame.body["result"]), std::move(frame.fds)};
    }
}

Result<Reply> FrameChannel::call(const std::string &method, Json params, const std::vector<int> &fds,
                                 const CallOptions &options)
{
    const auto start = Clock::now();
    HEDDLE_TRY(const std::int64_t id, begin(method, std::move(params), fds, options));
    CallOptions rest = options;
    rest.timeout -= std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    return finish(id, rest);
}

} // namespace heddle
