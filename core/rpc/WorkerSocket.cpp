// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/WorkerSocket.h"

#include "core/base/Digest.h"
#include "core/base/File.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern char **environ;

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr auto startLimit = std::chrono::seconds(20);

Result<Fd> connectTo(const fs::path &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = path.string();
    if (name.size() >= sizeof address.sun_path)
        return Error(Code::InvalidInput, "the path of the socket is longer than 107 bytes", name,
                     "set XDG_RUNTIME_DIR to a shorter folder");
    std::memcpy(address.sun_path, name.data(), name.size());
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.isOpen()
        || ::connect(socket.value(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
        return Error(Code::NotFound, std::string("no worker answers: ") + std::strerror(errno), name);
    return socket;
}

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
    // The caller may block signals for a thread of its own; the worker must still hear SIGTERM.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
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
        return Error(Code::Environment,
                     std::string("the worker could not be started: ") + std::strerror(failed),
                     arguments.front(), "build or install heddle-worker");
    // Reaped by a thread that sleeps until then: the worker usually outlives us.
    std::thread([pid] { ::waitpid(pid, nullptr, 0); }).detach();
    return {};
}

std::string lastLines(const fs::path &log)
{
    auto text = readFile(log, 1u << 20);
    if (!text)
        return {};
    return text->size() > 800 ? text->substr(text->size() - 800) : *text;
}

Result<void> startWorker(const WorkerLaunch &launch, const fs::path &socket, const fs::path &log)
{
    std::vector<std::string> arguments{
        launch.worker.string(),    "--socket",  socket.string(),        "--resources",
        launch.resources.string(), "--package", launch.package.string()};
    if (!launch.python.empty())
        arguments.insert(arguments.end(), {"--python", launch.python.string()});
    if (launch.unsandboxed)
        arguments.push_back("--unsandboxed");
    return startDetached(arguments, log);
}

} // namespace

fs::path workerSocket(const WorkerLaunch &launch)
{
    std::string identity = launch.worker.string() + '|' + launch.python.string() + '|'
        + launch.resources.string() + '|' + (launch.unsandboxed ? "open" : "closed");
    std::error_code code;
    const auto built = fs::last_write_time(launch.worker, code);
    identity += std::to_string(code ? 0 : built.time_since_epoch().count());
    return runtimeFolder()
        / ("worker-cpu-" + std::string(HEDDLE_VERSION) + '-' + sha256Hex(identity).substr(0, 10) + ".sock");
}

Result<Fd> connectWorker(const WorkerLaunch &launch, const CancelToken &cancel)
{
    const fs::path socket = workerSocket(launch);
    auto connected = connectTo(socket);
    if (connected || connected.error().code() != Code::NotFound)
        return connected;
    HEDDLE_CHECK_OK(makeFolder(socket.parent_path()));
    std::error_code code;
    fs::permissions(socket.parent_path(), fs::perms::owner_all, code);
    // Two front ends that start at once must start one worker.
    const Fd lock(::open((socket.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.isOpen() || ::flock(lock.value(), LOCK_EX) != 0)
        return Error(Code::Io, std::string("cannot lock the worker's socket: ") + std::strerror(errno),
                     socket.string());
    connected = connectTo(socket);
    if (connected)
        return connected;
    const fs::path log = socket.string() + ".log";
    HEDDLE_CHECK_OK(startWorker(launch, socket, log));
    const auto end = std::chrono::steady_clock::now() + startLimit;
    while (std::chrono::steady_clock::now() < end) {
        if (cancel.stop_requested())
            return Error(Code::Cancelled, "the start of the worker was cancelled", socket.string());
        connected = connectTo(socket);
        if (connected)
            return connected;
        if (const std::string said = lastLines(log); said.find("heddle-worker:") != std::string::npos)
            return Error(Code::Environment, "the worker did not start: " + said, launch.worker.string(),
                         "run heddle-cli doctor");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return Error(Code::Environment, "the worker did not answer within 20 s", socket.string(),
                 "see " + log.string());
}

} // namespace heddle
