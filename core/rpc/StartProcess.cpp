// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/StartProcess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

extern char **environ;

namespace heddle {

Result<void> startProcess(const ProcessStart &start)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const auto place = [&](int fd, int number) {
        if (fd < 0)
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0);
        else
            posix_spawn_file_actions_adddup2(&actions, fd, number);
    };
    place(start.input, STDIN_FILENO);
    place(start.output, STDOUT_FILENO);
    place(start.error, STDERR_FILENO);

    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // The caller may block or ignore signals for a thread of its own; the program must still hear how it is to end.
    sigset_t none;
    sigset_t pipe;
    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe);
    const int apart = start.outlivesUs ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes,
                             static_cast<short>(apart | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));

    std::vector<char *> argv;
    for (const std::string &argument : start.arguments)
        argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    std::vector<char *> environment;
    for (const std::string &entry : start.environment)
        environment.push_back(const_cast<char *>(entry.c_str()));
    for (char **entry = environ; *entry != nullptr; ++entry) {
        const std::string_view ours(*entry);
        const auto hasName = [&](const std::string &given) {
            return ours.starts_with(std::string_view(given).substr(0, given.find('=') + 1));
        };
        if (std::none_of(start.environment.begin(), start.environment.end(), hasName))
            environment.push_back(*entry);
    }
    environment.push_back(nullptr);
    pid_t pid = 0;
    const int failed = ::posix_spawnp(&pid, start.arguments.front().c_str(), &actions, &attributes,
                                      argv.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0)
        return Error(Code::Environment,
                     std::string("the program could not be started: ") + std::strerror(failed),
                     start.arguments.front());
    std::thread([pid] { ::waitpid(pid, nullptr, 0); }).detach();
    return {};
}

} // namespace heddle
