// SPDX-License-Identifier: Apache-2.0
#include "core/compile/HostCompiler.h"

#include "core/base/Digest.h"
#include "core/compile/Trampoline.h"
#include "core/compile/Tunables.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

const char *const objectName = "kernels.so";

/// The first program of that name on $PATH, or empty.
std::string findProgram(const std::string &name)
{
    // The sandbox's working folder is another one, so a relative path would lead nowhere there.
    if (name.find('/') != std::string::npos)
        return ::access(name.c_str(), X_OK) == 0 ? fs::absolute(name).lexically_normal().string()
                                                 : std::string();
    const char *path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    while (true) {
        const std::size_t colon = rest.find(':');
        const std::string candidate = std::string(rest.substr(0, colon)) + '/' + name;
        if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
        if (colon == std::string_view::npos)
            return {};
        rest.remove_prefix(colon + 1);
    }
}

/// English messages without colour, whatever the person's locale; a PATH for the assembler and linker.
std::map<std::string, std::string> compilerEnvironment()
{
    return {{"LC_ALL", "C"}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"TMPDIR", "."}};
}

std::string keyOf(const CompileCommand &command, const CompilerIdentity &identity)
{
    FileTree everything = command.files;
    std::string line = identity.version + '\n' + identity.processor + '\n';
    for (const std::string &argument : command.arguments)
        line += argument + '\n';
    everything.emplace("command", std::move(line));
    return treeDigest(everything);
}

} // namespace

const std::vector<std::string> &hostCompilerFlags()
{
    // -fopenmp goes to the compiler proper alone: the driver would link the system's libgomp, and the
    // process would run two OpenMP runtimes beside each other (PyTorch brings its own).
    static const std::vector<std::string> flags = {"-std=c++20",
                                                   "-O3",
                                                   "-march=native",
                                                   "-Wp,-fopenmp",
                                                   "-fPIC",
                                                   "-shared",
                                                   "-fno-math-errno",
                                                   "-fno-trapping-math",
                                                   "-Wall",
                                                   "-fmax-errors=20",
                                                   "-fno-diagnostics-show-caret",
                                                   "-fdiagnostics-color=never"};
    return flags;
}

std::string processorIdentity()
{
    const auto text = readFile("/proc/cpuinfo", 16u << 20);
    std::string relevant;
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    // The first processor stands for all; clock rates and the like change from one read to the next.
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        if (line.empty())
            break;
        for (const std::string_view field :
             {"vendor_id", "cpu family", "model\t", "model name", "flags", "Features"})
            if (line.substr(0, field.size()) == field)
                relevant += std::string(line) + '\n';
        if (end == std::string_view::npos)
            break;
        rest.remove_prefix(end + 1);
    }
    return sha256Hex(relevant).substr(0, 16);
}

Result<std::string> findCompiler(std::string program)
{
    if (program.empty()) {
        const char *chosen = std::getenv("CXX");
        program = chosen != nullptr && *chosen != '\0' ? chosen : "g++";
    }
    std::string path = findProgram(program);
    if (path.empty())
        return Error(Code::Environment, "there is no C++ compiler \"" + program + '"', program,
                     program.find(' ') == std::string::npos
                         ? "install the package g++, or set CXX to a compiler"
                         : "set CXX to the path of a compiler alone, without arguments");
    return path;
}

Result<CompilerIdentity> identifyCompiler(std::string program, const CompilerLauncher &launch)
{
    HEDDLE_TRY(const std::string path, findCompiler(std::move(program)));
    HEDDLE_TRY(const CompilerOutput output,
               launch({.program = path,
                       .arguments = {"--version"},
                       .environment = compilerEnvironment(),
                       .files = {},
                       .output = {}},
                      {}));
    if (output.exitCode != 0 || output.log.empty())
        return Error(Code::Environment,
                     "the C++ compiler does not work in the sandbox: "
                         + (output.log.empty() ? "it says nothing" : output.log.substr(0, 400)),
                     path, "install the package g++, or set CXX to another compiler");
    return CompilerIdentity{.program = path,
                            .version = output.log.substr(0, output.log.find('\n')),
                            .processor = processorIdentity()};
}

Result<CompileCommand> hostCompileCommand(const std::string &program, const Plan &plan, const FileTree &files,
                                          const std::map<std::string, std::int64_t> &tunables,
                                          const FileTree &headers, const TaskLayout *layout)
{
    if (plan.target != PlanTarget::Cpu)
        return Error(Code::InvalidInput, "the host compiler builds plans for the target cpu only",
                     "plan.json: target", "write \"target\": \"cpu\" and kernels in C++");
    CompileCommand command{.program = program,
                           .arguments = hostCompilerFlags(),
                           .environment = compilerEnvironment(),
                           .files = generateTrampolines(plan, files, layout),
                           .output = objectName};
    HEDDLE_TRY(const std::vector<std::string> macros, tunableMacros(plan, tunables));
    command.arguments.insert(command.arguments.end(), macros.begin(), macros.end());
    for (const auto &[name, bytes] : files)
        if (name != "plan.json")
            command.files.emplace("src/" + name, bytes);
    for (const auto &[name, bytes] : headers)
        command.files.emplace("include/" + name, bytes);
    command.arguments.insert(command.arguments.end(), {"-Isrc", "-Iinclude"});
    for (std::size_t i = 0; i < plan.sources.size(); ++i)
        command.arguments.push_back("heddle_unit_" + std::to_string(i) + ".cpp");
    command.arguments.insert(command.arguments.end(), {"-o", objectName});
    return command;
}

HostCompiler::HostCompiler(CompilerIdentity identity, fs::path cacheFolder, FileTree headers,
                           CompilerLauncher launch)
    : m_identity(std::move(identity)),
      m_cacheFolder(std::move(cacheFolder)),
      m_headers(std::move(headers)),
      m_launch(std::move(launch))
{
}

Result<HostCompiler> HostCompiler::create(CompilerIdentity identity, fs::path cacheFolder,
                                          const fs::path &includeFolder, CompilerLauncher launch)
{
    HEDDLE_TRY(FileTree files, readTree(includeFolder, 4u << 20));
    FileTree headers;
    for (auto &[name, bytes] : files)
        if (name.size() > 2 && name.substr(name.size() - 2) == ".h")
            headers.emplace(name, std::move(bytes));
    if (headers.count("heddle_cpu.h") == 0 || headers.count("heddle_abi.h") == 0)
        return Error(Code::Environment, "the headers of CPU kernels are missing", includeFolder.string(),
                     "install Heddle again; resources/include must hold heddle_cpu.h and heddle_abi.h");
    return HostCompiler(std::move(identity), std::move(cacheFolder), std::move(headers), std::move(launch));
}

Result<CompileOutcome> HostCompiler::compile(const Plan &plan, const FileTree &files,
                                             const std::map<std::string, std::int64_t> &tunables,
                                             const TaskLayout *layout, const CancelToken &cancel) const
{
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    HEDDLE_TRY(const CompileCommand command,
               hostCompileCommand(m_identity.program, plan, files, tunables, m_headers, layout));
    CompileOutcome outcome;
    outcome.key = keyOf(command, m_identity);
    const fs::path folder = m_cacheFolder / outcome.key.substr(0, 2) / outcome.key;
    const fs::path object = folder / objectName;
    const fs::path log = folder / "log.txt";
    std::error_code code;
    // The log is written before the object, so an object that exists is complete with its warnings.
    if (fs::exists(object, code)) {
        if (const auto text = readFile(log))
            outcome.log = *text;
        outcome.isBuilt = outcome.isCached = true;
    } else {
        HEDDLE_TRY(CompilerOutput output, m_launch(command, cancel));
        outcome.log = std::move(output.log);
        outcome.isBuilt = output.exitCode == 0 && !output.object.empty();
        if (outcome.isBuilt) {
            HEDDLE_CHECK_OK(makeFolder(folder));
            HEDDLE_CHECK_OK(writeFileAtomically(log, outcome.log));
            HEDDLE_CHECK_OK(writeFileAtomically(object, output.object));
        }
    }
    outcome.diagnostics = parseDiagnostics(outcome.log, "src/");
    if (outcome.isBuilt)
        outcome.object = object;
    else if (outcome.diagnostics.empty())
        outcome.diagnostics.push_back({.file = {},
                                       .line = 0,
                                       .column = 0,
                                       .severity = Diagnostic::Severity::Error,
                                       .message = outcome.log.empty() ? "the compiler ended without a message"
                                                                      : outcome.log.substr(0, 2000)});
    outcome.seconds = elapsed();
    return outcome;
}

} // namespace heddle
