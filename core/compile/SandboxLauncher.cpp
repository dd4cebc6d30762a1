// SPDX-License-Identifier: Apache-2.0
#include "core/compile/SandboxLauncher.h"

#include "core/sandbox/RunLimited.h"

#include <unistd.h>

#include <algorithm>

namespace heddle {

namespace fs = std::filesystem;

std::uint64_t compilerMemoryLimit()
{
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
    return std::min(pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2, std::uint64_t{4} << 30);
}

CompilerLauncher sandboxLauncher(Spawner &spawner, CompilerLimits allowed)
{
    return [&spawner, allowed](const CompileCommand &command,
                               const CancelToken &cancel) -> Result<CompilerOutput> {
        HEDDLE_TRY(const TempFolder folder, TempFolder::create("heddle-compile-"));
        HEDDLE_CHECK_OK(writeTree(folder.path(), command.files));
        SandboxPolicy policy;
        policy.role = Role::Compiler;
        policy.scratch = folder.path();
        policy.needsCompiler = command.isHostCompiler;
        policy.readOnly = command.readOnly;
        policy.memoryBytes = allowed.memoryBytes;
        for (const auto &[name, value] : command.environment)
            if (name != "PATH" && name != "HOME" && name != "TMPDIR" && name != "LC_ALL")
                policy.environment.push_back(name + '=' + value);
        std::vector<std::string> argv{command.program};
        argv.insert(argv.end(), command.arguments.begin(), command.arguments.end());
        CommandLimits limits;
        limits.outputBytes = allowed.logBytes;
        // Only what compiles has an output; a question to the compiler is no candidate's work.
        limits.timeout = command.output.empty() ? std::chrono::milliseconds(120'000) : allowed.time;
        limits.cancel = cancel;
        HEDDLE_TRY(const CommandResult result, runLimited(spawner, policy, argv, limits));
        CompilerOutput output;
        const ExitStatus &status = result.status;
        output.exitCode = status.isSuccess() ? 0
            : status.signal != 0             ? 128 + status.signal
                                             : std::max(1, status.code);
        output.log = result.output + result.error;
        // A compiler that a source has taken over could have left a link to a file of ours.
        const fs::path object = folder.path() / command.output;
        std::error_code code;
        if (!command.output.empty() && fs::is_regular_file(fs::symlink_status(object, code)))
            if (auto bytes = readFile(object))
                output.object = std::move(*bytes);
        return output;
    };
}

} // namespace heddle
