// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/base/File.h"
#include "core/base/Result.h"
#include "core/compile/Diagnostic.h"
#include "core/plan/Plan.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heddle {

/// One run of a program: who launches it writes `files` into an empty folder, runs `program` there with
/// `arguments` and nothing but `environment`, and returns the bytes of `output` if that file appeared.
struct CompileCommand {
    std::string program;
    std::vector<std::string> arguments;
    std::map<std::string, std::string> environment;
    FileTree files;
    std::string output;
    /// What it needs to see in the sandbox besides /usr.
    std::vector<std::filesystem::path> readOnly = {};
    /// Its own installation is looked for and shown too (core/sandbox/CompilerView.h).
    bool isHostCompiler = true;
};

struct CompilerOutput {
    int exitCode = 0;
    std::string log;    ///< what it wrote to stdout and stderr
    std::string object; ///< bytes of CompileCommand::output; empty without one
};

/// Runs a command: inside the sandbox (the worker), or plainly (tests/support). Errors are those of the
/// launch itself (Environment, TimedOut, Cancelled); a compiler that refuses the source is no error.
using CompilerLauncher = std::function<Result<CompilerOutput>(const CompileCommand &, const CancelToken &)>;

/// Which compiler, exactly, and for which processor: part of every cache key.
struct CompilerIdentity {
    std::string program;   ///< absolute path
    std::string version;   ///< first line of --version
    std::string processor; ///< digest of model and instruction sets, since -march=native depends on them
};

/// The absolute path of `program`; empty: of $CXX, else of g++ on $PATH. Errors: Environment with the Debian package to
/// install.
Result<std::string> findCompiler(std::string program);
/// Asks the compiler for its version; `program` as above. Errors: as above, and where it does not work in the sandbox.
Result<CompilerIdentity> identifyCompiler(std::string program, const CompilerLauncher &launch);

/// The fixed flags, without tunables and include folders (docs/architecture/plan.md says why each).
const std::vector<std::string> &hostCompilerFlags();
/// Digest of what -march=native depends on, from /proc/cpuinfo.
std::string processorIdentity();

/// The command that builds a CPU candidate. `headers` are the files of resources/include; `layout`, if given,
/// lets the trampolines check the dtypes of inputs and state.
/// Errors: InvalidInput for a plan of another target, or for tunables that are not the plan's.
Result<CompileCommand> hostCompileCommand(const std::string &program, const Plan &plan, const FileTree &files,
                                          const std::map<std::string, std::int64_t> &tunables,
                                          const FileTree &headers, const TaskLayout *layout = nullptr);

struct CompileOutcome {
    bool isBuilt = false;
    bool isCached = false;
    std::vector<Diagnostic> diagnostics;
    std::string log;              ///< the compiler's whole text, for a failure nobody could parse
    std::filesystem::path object; ///< the .so in the cache; empty if not built
    std::string key;              ///< content address: sources, flags, tunables, compiler, processor
    double seconds = 0.0;         ///< wall clock of this call
};

/// Compiles CPU candidates to shared objects with a content-addressed cache. Thread-safe: holds only
/// constants; two threads that compile the same thing both do it and one rename wins.
class HostCompiler {
public:
    /// `includeFolder` is resources/include; its files are read once. Errors: those of reading it.
    static Result<HostCompiler> create(CompilerIdentity identity, std::filesystem::path cacheFolder,
                                       const std::filesystem::path &includeFolder, CompilerLauncher launch);

    /// A source that does not compile is an outcome with diagnostics, not an error.
    Result<CompileOutcome> compile(const Plan &plan, const FileTree &files,
                                   const std::map<std::string, std::int64_t> &tunables,
                                   const TaskLayout *layout = nullptr, const CancelToken &cancel = {}) const;

    const CompilerIdentity &identity() const { return m_identity; }
    const FileTree &headers() const { return m_headers; }

private:
    HostCompiler(CompilerIdentity identity, std::filesystem::path cacheFolder, FileTree headers,
                 CompilerLauncher launch);

    CompilerIdentity m_identity;
    std::filesystem::path m_cacheFolder;
    FileTree m_headers;
    CompilerLauncher m_launch;
};

} // namespace heddle
