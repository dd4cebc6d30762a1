// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/WorkerSocket.h"

#include "core/base/Digest.h"
#include "core/base/File.h"
#include "core/base/FileLock.h"
#include "core/base/Places.h"
#include "core/rpc/StartProcess.h"
#include "core/rpc/UnixAddress.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr auto startLimit = std::chrono::seconds(20);

Result<Fd> connectTo(const fs::path &path)
{
    HEDDLE_TRY(const sockaddr_un address, unixAddress(path));
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.isOpen()
        || ::connect(socket.value(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
        return Error(Code::NotFound, std::string("no worker answers: ") + std::strerror(errno),
                     path.string());
    return socket;
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
    const Fd error(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ProcessStart start;
    start.arguments = std::move(arguments);
    start.error = error.value();
    start.outlivesUs = true;
    if (!launch.compiler.empty())
        start.environment.push_back("CXX=" + launch.compiler.string());
    if (const auto started = startProcess(start); !started)
        return Error(Code::Environment, started.error().message(), launch.worker.string(),
                     "build or install heddle-worker");
    return {};
}

/// As the worker will take it: its environment is ours.
std::string compilerOf(const WorkerLaunch &launch)
{
    const char *chosen = std::getenv("CXX");
    return !launch.compiler.empty() ? launch.compiler.string() : chosen != nullptr ? chosen : "";
}

} // namespace

fs::path workerSocket(const WorkerLaunch &launch)
{
    std::string identity = launch.worker.string() + '|' + launch.python.string() + '|'
        + launch.resources.string() + '|' + (launch.unsandboxed ? "open" : "closed") + '|'
        + compilerOf(launch);
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
    const std::string lockPath = socket.string() + ".lock";
    HEDDLE_TRY(const Fd lock, openLockFile(lockPath, 0600));
    HEDDLE_TRY(const LockWait wait, waitForLock(lock, startLimit + std::chrono::seconds(5), cancel));
    if (wait == LockWait::Cancelled)
        return Error(Code::Cancelled, "the start of the worker was cancelled", socket.string());
    if (wait == LockWait::Busy)
        return Error(Code::Environment, "another program of Heddle has been starting the worker for too long",
                     lockPath, "end that program, then try again");
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
                         "run " + commandLineName() + " doctor");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return Error(Code::Environment, "the worker did not answer within 20 s", socket.string(),
                 "see " + log.string());
}

} // namespace heddle
