// SPDX-License-Identifier: Apache-2.0
#include "core/base/File.h"
#include "core/rpc/LineServer.h"
#include "core/runtime/server/Worker.h"

#include <csignal>
#include <cstdio>
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
            return Error(Code::InvalidInput, "unknown argument", word,
                         "heddle-worker --socket PATH|--stdio --package DIR --resources DIR [--python PATH]");
    }
    if (arguments.isStdio == !arguments.socket.empty())
        return Error(Code::InvalidInput, "one of --socket PATH and --stdio is needed");
    return arguments;
}

int report(const Error &error)
{
    std::fprintf(stderr, "heddle-worker: %s\n", error.text().c_str());
    return error.code() == Code::InvalidInput ? 2 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    // A client that goes away must not end the worker, and SIGTERM is taken by a thread below.
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);

    const auto arguments = parse(argc, argv);
    if (!arguments)
        return report(arguments.error());
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
    if (arguments->isStdio) {
        const auto served = server->serve(Fd(STDIN_FILENO), Fd(STDOUT_FILENO));
        server->stop();
        return served ? 0 : report(served.error());
    }
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
