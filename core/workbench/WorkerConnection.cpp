// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/WorkerConnection.h"

#include "core/base/Digest.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <thread>

extern char **environ;

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// Starts a program that outlives us, in a session of its own, without our terminal. Its stderr goes to `log`.
Result<void> startDetached(const std::vector<std::string> &arguments, const fs::path &log)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::vector<char *> argv;
    for (const std::string &argument : arguments)
        argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int failed =
        ::posix_spawn(&pid, arguments.front().c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0)
        return Error(Code::Environment, "the worker could not be started", arguments.front(),
                     "build or install heddle-worker");
    // Reaped by a thread that sleeps until then: the worker usually outlives us.
    std::thread([pid] { ::waitpid(pid, nullptr, 0); }).detach();
    return {};
}

/// Starts `ssh …` with pipes on its stdin and stdout.
Result<std::pair<Fd, Fd>> startPiped(const std::vector<std::string> &arguments)
{
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
        return Error(Code::Io, "no more pipes can be made");
    Fd childIn(in[0]);
    Fd ourOut(in[1]);
    Fd ourIn(out[0]);
    Fd childOut(out[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, childIn.value(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, childOut.value(), STDOUT_FILENO);
    std::vector<char *> argv;
    for (const std::string &argument : arguments)
        argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int failed =
        ::posix_spawnp(&pid, arguments.front().c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return Error(Code::Environment, "ssh could not be started", arguments.front(),
                     "install an ssh client");
    std::thread([pid] { ::waitpid(pid, nullptr, 0); }).detach();
    return std::pair<Fd, Fd>(std::move(ourIn), std::move(ourOut));
}

std::string lastLines(const fs::path &log)
{
    auto text = readFile(log, 1u << 20);
    if (!text)
        return {};
    return text->size() > 800 ? text->substr(text->size() - 800) : *text;
}

} // namespace

Result<std::unique_ptr<WorkerConnection>> WorkerConnection::create(const Environment &environment,
                                                                   const std::string &target)
{
    std::string host;
    std::string device = target;
    if (target.starts_with("ssh://")) {
        const std::size_t slash = target.find('/', 6);
        host = target.substr(6, slash == std::string::npos ? slash : slash - 6);
        device = slash == std::string::npos ? std::string() : target.substr(slash + 1);
        // ssh would read a leading dash as an option.
        if (host.empty() || host.front() == '-')
            return Error(Code::InvalidInput, "this target names no host", target, "write ssh://HOST/cpu");
    }
    if (device != "cpu")
        return Error(Code::InvalidInput, "this target does not exist: '" + target + "'", "--target",
                     "use cpu or ssh://HOST/cpu");
    return std::unique_ptr<WorkerConnection>(new WorkerConnection(environment, target, host));
}

WorkerConnection::WorkerConnection(Environment environment, std::string target, std::string host)
    : m_environment(std::move(environment)), m_target(std::move(target)), m_host(std::move(host))
{
}

fs::path WorkerConnection::socketPath() const
{
    // Programs of another build or interpreter must not answer each other's requests.
    std::string identity = m_environment.worker.string() + '|' + m_environment.python.string() + '|'
        + m_environment.resources.string() + '|' + (m_environment.unsandboxed ? "open" : "closed");
    std::error_code code;
    const auto built = fs::last_write_time(m_environment.worker, code);
    identity += std::to_string(code ? 0 : built.time_since_epoch().count());
    return runtimeFolder()
        / ("worker-cpu-" + std::string(HEDDLE_VERSION) + '-' + sha256Hex(identity).substr(0, 10) + ".sock");
}

Result<void> WorkerConnection::connect(const CancelToken &cancel)
{
    if (m_client && m_client->isConnected())
        return {};
    m_client.reset();
    return m_host.empty() ? connectLocal(cancel) : connectRemote();
}

Result<void> WorkerConnection::connectLocal(const CancelToken &cancel)
{
    const fs::path socket = socketPath();
    if (auto client = LineClient::connect(socket)) {
        m_client = std::move(*client);
        return {};
    }
    HEDDLE_CHECK_OK(makeFolder(socket.parent_path()));
    fs::permissions(socket.parent_path(), fs::perms::owner_all);
    // Two front ends that start at once must start one worker.
    const Fd lock(::open((socket.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.isOpen() || ::flock(lock.value(), LOCK_EX) != 0)
        return Error(Code::Io, "cannot lock the worker's socket", socket.string());
    if (auto client = LineClient::connect(socket)) {
        m_client = std::move(*client);
        return {};
    }
    const fs::path log = socket.string() + ".log";
    std::vector<std::string> arguments{m_environment.worker.string(),
                                       "--socket",
                                       socket.string(),
                                       "--resources",
                                       m_environment.resources.string(),
                                       "--package",
                                       m_environment.package.string()};
    if (!m_environment.python.empty())
        arguments.insert(arguments.end(), {"--python", m_environment.python.string()});
    if (m_environment.unsandboxed)
        arguments.push_back("--unsandboxed");
    HEDDLE_CHECK_OK(startDetached(arguments, log));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end && !cancel.stop_requested()) {
        if (auto client = LineClient::connect(socket)) {
            m_client = std::move(*client);
            return {};
        }
        if (const std::string said = lastLines(log); said.find("heddle-worker:") != std::string::npos)
            return Error(Code::Environment, "the worker did not start: " + said,
                         m_environment.worker.string());
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return Error(Code::Environment, "the worker did not answer within 20 s", socket.string(),
                 "see " + log.string());
}

Result<void> WorkerConnection::connectRemote()
{
    const char *program = std::getenv("HEDDLE_SSH");
    const char *remote = std::getenv("HEDDLE_REMOTE_WORKER");
    std::vector<std::string> arguments{program != nullptr ? program : "ssh", "-o", "BatchMode=yes", m_host,
                                       remote != nullptr ? remote : "heddle-worker --stdio"};
    HEDDLE_TRY(auto pipes, startPiped(arguments));
    HEDDLE_TRY(m_client, LineClient::fromPipes(std::move(pipes.first), std::move(pipes.second)));
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
    return m_client->call(method, params, options);
}

} // namespace heddle
