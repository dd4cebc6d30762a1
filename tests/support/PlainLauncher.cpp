// SPDX-License-Identifier: Apache-2.0
#include "tests/support/PlainLauncher.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace heddle::testing {

Result<CompilerOutput> runProgram(const std::string &program, const std::vector<std::string> &arguments,
                                  const std::map<std::string, std::string> &environment,
                                  const std::filesystem::path &folder)
{
    std::vector<std::string> text{program};
    text.insert(text.end(), arguments.begin(), arguments.end());
    for (const auto &[name, value] : environment)
        text.push_back(name + '=' + value);
    std::vector<char *> argv;
    std::vector<char *> envp;
    for (std::size_t i = 0; i < text.size(); ++i)
        (i <= arguments.size() ? argv : envp).push_back(text[i].data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return Error(Code::Io, std::strerror(errno));
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], 1);
        ::dup2(ends[1], 2);
        if (::chdir(folder.c_str()) == 0)
            ::execve(program.c_str(), argv.data(), envp.data());
        ::_exit(127);
    }
    ::close(ends[1]);
    CompilerOutput output;
    char chunk[4096];
    for (ssize_t count = 0; (count = ::read(ends[0], chunk, sizeof chunk)) > 0;)
        output.log.append(chunk, static_cast<std::size_t>(count));
    ::close(ends[0]);
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child)
        return Error(Code::Environment, "cannot run " + program);
    output.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return output;
}

Result<CompilerOutput> launchPlainly(const CompileCommand &command, const CancelToken &)
{
    HEDDLE_TRY(const TempFolder folder, TempFolder::create("heddle-compile-"));
    for (const auto &[name, bytes] : command.files) {
        const auto path = folder.path() / name;
        HEDDLE_CHECK_OK(makeFolder(path.parent_path()));
        HEDDLE_CHECK_OK(writeFileAtomically(path, bytes));
    }
    HEDDLE_TRY(CompilerOutput output,
               runProgram(command.program, command.arguments, command.environment, folder.path()));
    if (!command.output.empty())
        if (auto object = readFile(folder.path() / command.output))
            output.object = std::move(object).value();
    return output;
}

} // namespace heddle::testing
