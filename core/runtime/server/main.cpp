// SPDX-License-Identifier: Apache-2.0
#include "core/base/File.h"
#include "core/base/Places.h"
#include "core/rpc/LineServer.h"
#include "core/runtime/server/Bridge.h"
#include "core/runtime/server/Leftovers.h"
#include "core/runtime/server/Worker.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using namespace heddle;

constexpr auto idleLimit = std::chrono::minutes(10);

struct Arguments {
    std::filesystem::path socket;
    bool isStdio = false;
    MachineOptions machine;
};

Result<Arguments> parse(int argc, char **argv)
{
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : std::string(); };
        if (word == "--stdio")
            arguments.isStdio = true;
        else if (word == "--unsandboxed")
            arguments.machine.unsandboxed = true;
        else if (word == "--socket")
            arguments.socket = value();
        else if (word == "--python")
            arguments.machine.python = value();
        else if (word == "--package")
            arguments.machine.package = value();
        else if (word == "--resources")
            arguments.machine.resources = value();
        else
            return Error(
                Code::InvalidInput, "unknown argument", word,
                "heddle-worker --socket PATH|--stdio [--package DIR] [--resources DIR] [--python PATH]");
    }
    if (arguments.isStdio == !arguments.socket.empty())
        return Error(Code::InvalidInput, "one of --socket PATH and --stdio is needed");
    // Through ssh nobody says where things are: they are found from the program itself.
    if (arguments.machine.package.empty()) {
        HEDDLE_TRY(arguments.machine.package, packageFolder());
    }
    if (arguments.machine.resources.empty()) {
        HEDDLE_TRY(arguments.machine.resources, resourcesFolder());
    }
    if (const char *python = std::getenv("HEDDLE_PYTHON");
        arguments.machine.python.empty() && python != nullptr)
        arguments.machine.python = python;
    return arguments;
}

Result<void> bridge(const MachineOptions &machine)
{
    HEDDLE_TRY(const std::filesystem::path worker, ownProgram("heddle-worker"));
    return bridgeToWorker({worker, machine.python, machine.package, machine.resources, machine.unsandboxed});
}

int report(const Error &error)
{
    std::fprintf(stderr, "heddle-worker: %s\n", error.text().c_str());
    return error.code() == Code::InvalidInput ? 2 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    // A client that goes away must not end the worker.
    std::signal(SIGPIPE, SIG_IGN);
    const auto arguments = parse(argc, argv);
    if (!arguments)
        return report(arguments.error());
    if (arguments->isStdio) {
        const auto bridged = bridge(arguments->machine);
        return bridged ? 0 : report(bridged.error());
    }

    // Taken by a thread below; blocked before the worker makes threads of its own.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);

    std::error_code code;
    const auto temporary = WorkerFolder::create(std::filesystem::temp_directory_path(code));
    if (!temporary)
        return report(temporary.error());
    if (const auto used = temporary->useForTemporaryFiles(); !used)
        return report(used.error());
    auto worker = Worker::create(arguments->machine);
    if (!worker)
        return report(worker.error());
    std::unique_ptr<LineServer> server;
    server = std::make_unique<LineServer>([&](const std::string &method, const Json &params,
                                              const CancelToken &cancel,
                                              const ProgressSink &progress) -> Result<Json> {
        if (method == "shutdown") {
            server->requestStop();
            return Json::object();
        }
        return (*worker)->handle(method, params, cancel, progress);
    });
    std::jthread signalThread([&](const std::stop_token &stop) {
        while (!stop.stop_requested()) {
            timespec limit{0, 200'000'000};
            if (::sigtimedwait(&signals, nullptr, &limit) > 0)
                server->requestStop();
        }
    });
    if (auto made = makeFolder(arguments->socket.parent_path()); !made)
        return report(made.error());
    if (auto listening = server->listen(arguments->socket); !listening)
        return report(listening.error());
    while (!server->wait(std::chrono::seconds(1))) {
        if (server->idleTime() > idleLimit)
            break;
    }
    server->stop();
    return 0;
}
