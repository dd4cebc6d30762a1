// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/WorkerConnection.h"

#include "core/rpc/StartProcess.h"
#include "core/rpc/WorkerSocket.h"
#include "core/settings/SettingsSchema.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace heddle {

namespace {

/// A host behind a slow line, whose worker starts cold, still answers within this.
constexpr auto remoteStart = std::chrono::seconds(60);

/// A worker on this machine answers within this, whatever it works on.
constexpr auto localAnswer = std::chrono::seconds(20);

/// The process at the other end of a Unix socket.
std::string peerOf(const Fd &socket)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket.value(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? std::to_string(peer.pid)
                                                                                    : "unknown";
}

/// Starts `ssh …` with pipes on its stdin and stdout; its stderr goes to `errors`.
Result<std::pair<Fd, Fd>> startPiped(const std::vector<std::string> &arguments, const Fd &errors)
{
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
        return Error(Code::Io, "no more pipes can be made");
    Fd childIn(in[0]);
    Fd ourOut(in[1]);
    Fd ourIn(out[0]);
    Fd childOut(out[1]);
    // Ctrl-C is for us, who cancel the request and wait for its end; so ssh stays in a group of its own.
    ProcessStart start;
    start.arguments = arguments;
    start.input = childIn.value();
    start.output = childOut.value();
    start.error = errors.value();
    if (const auto started = startProcess(start); !started)
        return Error(Code::Environment, "ssh could not be started: " + started.error().message(),
                     arguments.front(), "install an ssh client");
    return std::pair<Fd, Fd>(std::move(ourIn), std::move(ourOut));
}

/// What ssh and the far end wrote to stderr, the last part of it.
std::string lastWords(const Fd &errors)
{
    constexpr off_t most = 800;
    const off_t size = ::lseek(errors.value(), 0, SEEK_END);
    if (size <= 0)
        return {};
    std::string text(static_cast<std::size_t>(std::min(size, most)), '\0');
    const ssize_t count = ::pread(errors.value(), text.data(), text.size(), std::max<off_t>(0, size - most));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
        text.pop_back();
    return text;
}

} // namespace

Result<std::unique_ptr<WorkerConnection>> WorkerConnection::create(const Environment &environment,
                                                                   const std::string &target)
{
    // The setting's own rule, so that what is suggested there is what is accepted here.
    HEDDLE_CHECK_OK(validateSetting("target", target, SettingOrigin::Flag));
    std::string host;
    if (target.starts_with("ssh://"))
        host = target.substr(6, target.find('/', 6) - 6);
    return std::unique_ptr<WorkerConnection>(new WorkerConnection(environment, target, host));
}

WorkerConnection::WorkerConnection(Environment environment, std::string target, std::string host)
    : m_environment(std::move(environment)), m_target(std::move(target)), m_host(std::move(host))
{
}

Result<void> WorkerConnection::connect(const CancelToken &cancel)
{
    if (m_client && m_client->isConnected())
        return {};
    m_client.reset();
    return m_host.empty() ? connectLocal(cancel) : connectRemote(cancel);
}

Result<void> WorkerConnection::connectLocal(const CancelToken &cancel)
{
    HEDDLE_TRY(Fd socket,
               connectWorker({m_environment.worker, m_environment.python, m_environment.package,
                              m_environment.resources, m_environment.unsandboxed, m_environment.compiler},
                             cancel));
    const std::string pid = peerOf(socket);
    HEDDLE_TRY(auto client, LineClient::fromPipes(std::move(socket), Fd()));
    // A process that was stopped, or hangs, still has its connections accepted by the kernel.
    CallOptions options;
    options.cancel = cancel;
    options.timeout = localAnswer;
    const auto hello =
        client->call("hello", Json{{"client", "workbench"}, {"version", HEDDLE_VERSION}}, options);
    if (!hello && hello.error().code() == Code::TimedOut)
        return Error(Code::Environment,
                     "the worker does not answer for " + std::to_string(localAnswer.count()) + " s",
                     "pid " + pid, "end it with kill -9 " + pid + "; the next command starts another");
    if (!hello)
        return hello.error();
    m_client = std::move(client);
    return {};
}

Result<void> WorkerConnection::connectRemote(const CancelToken &cancel)
{
    const char *program = std::getenv("HEDDLE_SSH");
    const char *remote = std::getenv("HEDDLE_REMOTE_WORKER");
    std::vector<std::string> arguments{program != nullptr ? program : "ssh", "-o", "BatchMode=yes", m_host,
                                       remote != nullptr ? remote : "heddle-worker --stdio"};
    if (m_environment.unsandboxed)
        arguments.back() += " --unsandboxed";
    m_errors = Fd(::memfd_create("heddle-ssh-errors", MFD_CLOEXEC));
    if (!m_errors.isOpen())
        return Error(Code::Io, "no memory for the messages of ssh", m_host);
    HEDDLE_TRY(auto pipes, startPiped(arguments, m_errors));
    HEDDLE_TRY(auto client, LineClient::fromPipes(std::move(pipes.first), std::move(pipes.second)));
    // Whether the host is there, lets us in and has Heddle shows only now; nothing is sent before.
    CallOptions options;
    options.cancel = cancel;
    options.timeout = remoteStart;
    const auto hello =
        client->call("hello", Json{{"client", "workbench"}, {"version", HEDDLE_VERSION}}, options);
    if (!hello && hello.error().code() == Code::Cancelled)
        return hello.error();
    if (!hello) {
        const std::string said = lastWords(m_errors);
        return Error(Code::Environment,
                     "there is no worker at the other end of ssh" + (said.empty() ? "" : ": " + said), m_host,
                     "try by hand: ssh " + m_host + ' ' + arguments.back());
    }
    m_client = std::move(client);
    return {};
}

Result<Json> WorkerConnection::call(const std::string &method, const Json &params, const CancelToken &cancel,
                                    const ProgressSink &progress)
{
    HEDDLE_CHECK_OK(connect(cancel));
    CallOptions options;
    options.cancel = cancel;
    options.progress = progress;
    options.timeout = std::chrono::hours(2);
    auto result = m_client->call(method, params, options);
    if (!result && !m_host.empty() && !m_client->isConnected()) {
        const std::string said = lastWords(m_errors);
        return Error(Code::Crashed,
                     "the ssh connection to " + m_host + " was lost" + (said.empty() ? "" : ": " + said),
                     method, "try again; its worker stays, and the next call connects anew");
    }
    return result;
}

} // namespace heddle
