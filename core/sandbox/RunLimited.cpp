// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/RunLimited.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

/// The reading end of a child's output, kept up to a cap and read on beyond it so that the writer never blocks.
struct Stream {
    Fd fd;
    std::string text;
    std::size_t cap = 0;
    bool wasCut = false;

    void readOnce()
    {
        char chunk[65536];
        const ssize_t count = ::read(fd.value(), chunk, sizeof chunk);
        if (count <= 0) {
            if (count == 0 || (errno != EAGAIN && errno != EINTR))
                fd.reset();
            return;
        }
        const std::size_t kept = std::min(cap - text.size(), static_cast<std::size_t>(count));
        text.append(chunk, kept);
        wasCut = wasCut || kept < static_cast<std::size_t>(count);
    }
};

Result<Fd> openStream(Stream &stream, std::size_t cap)
{
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return Error(Code::Io, std::string("cannot make a pipe: ") + std::strerror(errno));
    stream.fd.reset(ends[0]);
    stream.cap = cap;
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return Fd(ends[1]);
}

} // namespace

Result<CommandResult> runLimited(Spawner &spawner, const SandboxPolicy &policy,
                                 const std::vector<std::string> &argv, const CommandLimits &limits)
{
    Stream output;
    Stream error;
    SpawnRequest request;
    request.policy = policy;
    request.argv = argv;
    if (policy.role == Role::Compiler && policy.needsCompiler && !argv.empty()) {
        HEDDLE_TRY(const CompilerView view, spawner.compilerView(argv.front()));
        view.addTo(request.policy);
    }
    const auto start = Clock::now();
    const auto end = start + limits.timeout;
    HEDDLE_TRY(Fd outputEnd, openStream(output, limits.outputBytes));
    HEDDLE_TRY(Fd errorEnd, openStream(error, limits.outputBytes));
    request.output = outputEnd.value();
    request.error = errorEnd.value();
    HEDDLE_TRY(Child child, spawner.spawn(request));
    outputEnd.reset();
    errorEnd.reset();
    std::optional<ExitStatus> status;
    while (!status || output.fd.isOpen() || error.fd.isOpen()) {
        if (limits.cancel.stop_requested())
            return Error(Code::Cancelled, "the command was cancelled", argv.front());
        if (Clock::now() >= end)
            return Error(Code::TimedOut, "the command did not end in time", argv.front());
        // A descriptor of -1 is left out by poll, so that closed streams do not spin.
        pollfd entries[3] = {{output.fd.value(), POLLIN, 0},
                             {error.fd.value(), POLLIN, 0},
                             {status ? -1 : child.pidfd(), POLLIN, 0}};
        ::poll(entries, 3, 20);
        if (entries[0].revents != 0)
            output.readOnce();
        if (entries[1].revents != 0)
            error.readOnce();
        if (!status && entries[2].revents != 0) {
            status = child.waitFor(std::chrono::seconds(1));
            // Once it has ended nobody may keep us waiting by holding its pipes open: what is there now is all.
            if (status)
                child.kill();
        }
    }
    if (status->overMemory)
        return status->error(argv.front());
    CommandResult result;
    result.status = *status;
    result.output = std::move(output.text);
    result.error = std::move(error.text);
    result.wasCut = output.wasCut || error.wasCut;
    result.wall = Clock::now() - start;
    return result;
}

} // namespace heddle
