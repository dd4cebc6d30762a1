// SPDX-License-Identifier: Apache-2.0
#include "core/compile/CudaCompiler.h"

#include "core/base/Digest.h"
#include "core/compile/Tunables.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// The options of every compilation but architecture, tunables and include folders. Line information changes no instruction;
/// -v makes ptxas say what each kernel uses.
const std::vector<std::string> &fixedOptions()
{
    static const std::vector<std::string> options = {"--std=c++20", "--extra-device-vectorization",
                                                     "--generate-line-info", "--ptxas-options=-v"};
    return options;
}

/// Why there is no answer: the Error that heddle-nvrtc wrote, else how it ended.
Error childError(const CompilerOutput &output, bool hasSource)
{
    const std::string_view log = output.log;
    const std::size_t last = log.substr(0, log.find_last_not_of('\n') + 1).rfind('\n');
    const std::string_view line = last == std::string_view::npos ? log : log.substr(last + 1);
    if (const auto said = parseJson(line, "heddle-nvrtc");
        said && said->is_object() && said->contains("message"))
        return errorFromJson(*said);
    // It has answered before: what ends it now is this source.
    if (hasSource)
        return Error(Code::Crashed,
                     "the CUDA compiler crashed on this source"
                         + (output.exitCode > 128 ? " (signal " + std::to_string(output.exitCode - 128) + ')'
                                                  : std::string()));
    return Error(Code::Environment,
                 "the CUDA compiler does not work in the sandbox: "
                     + (log.empty() ? std::string("it says nothing") : std::string(log.substr(0, 400))));
}

/// What the source cost, as a message to whoever wrote it. Nothing where the machine is to blame.
std::optional<std::string> reproach(const Error &error)
{
    switch (error.code()) {
    case Code::Crashed: return error.message() + " (write it otherwise)";
    case Code::TimedOut:
    case Code::OutOfMemory:
        return "the CUDA compiler reached its limit of "
            + std::string(error.code() == Code::TimedOut ? "time" : "memory")
            + " on this source (write less code, or fewer template instantiations)";
    default: return std::nullopt;
    }
}

} // namespace

CudaCompiler::CudaCompiler(CudaCompilerSetup setup, CompilerLauncher launch, FileTree headers)
    : m_setup(std::move(setup)),
      m_launch(std::move(launch)),
      m_headers(std::move(headers)),
      m_cache(m_setup.cacheFolder)
{
}

Result<CudaCompiler> CudaCompiler::create(CudaCompilerSetup setup, CompilerLauncher launch)
{
    std::error_code code;
    std::erase_if(setup.places.nvrtc, [&](const fs::path &path) { return !fs::is_regular_file(path, code); });
    if (setup.places.nvrtc.empty())
        return nvrtcMissing({});
    HEDDLE_TRY(const FileTree files, readTree(setup.includeFolder, 4u << 20));
    FileTree headers;
    for (const auto &[name, bytes] : files)
        if (name.ends_with(".cuh"))
            headers.emplace(name, bytes);
    if (headers.count("heddle.cuh") == 0)
        return Error(Code::NotFound, "the header of CUDA kernels is missing", setup.includeFolder.string(),
                     "install Heddle again; resources/include must hold heddle.cuh");
    CudaCompiler compiler(std::move(setup), std::move(launch), std::move(headers));
    NvrtcJob question;
    for (const fs::path &path : compiler.m_setup.places.nvrtc)
        question.libraries.push_back(path.string());
    HEDDLE_TRY(const NvrtcAnswer answer, compiler.run(question, {}, {}));
    compiler.m_library = answer.library;
    compiler.m_version = answer.version;
    compiler.m_architectures = answer.architectures;
    compiler.m_includeFolders = cudaIncludeFolders(compiler.m_library);
    return compiler;
}

Result<void> CudaCompiler::checkArchitecture(const CudaArchitecture &architecture) const
{
    if (std::find(m_architectures.begin(), m_architectures.end(), architecture.number)
        != m_architectures.end())
        return {};
    std::string known;
    for (const int number : m_architectures)
        known += (known.empty() ? "sm_" : ", sm_") + std::to_string(number);
    return Error(Code::InvalidInput, "NVRTC " + m_version + " does not compile for " + architecture.name(),
                 m_library.string(),
                 "choose one of " + known
                     + (architecture.number < (m_architectures.empty() ? 0 : m_architectures.front())
                            ? ", or set HEDDLE_NVRTC to an older one"
                            : ", or set HEDDLE_NVRTC to a newer one"));
}

CompileCommand CudaCompiler::command(const NvrtcJob &job) const
{
    CompileCommand command{.program = m_setup.program.string(),
                           .arguments = {},
                           .environment = {},
                           .files = {{NvrtcJob::fileName, encodeJob(job)}},
                           .output = NvrtcJob::answerName,
                           .readOnly = {m_setup.program},
                           .isHostCompiler = false};
    std::set<fs::path> shown;
    for (const std::string &library : job.libraries)
        // Its builtins lie beside it. Not the whole folder, which may be a home folder.
        for (const fs::path &file : filesBeside(library, "libnvrtc"))
            shown.insert(file);
    shown.insert(m_includeFolders.begin(), m_includeFolders.end());
    command.readOnly.insert(command.readOnly.end(), shown.begin(), shown.end());
    return command;
}

std::string CudaCompiler::keyOf(const NvrtcJob &job, const FileTree &sources) const
{
    FileTree everything{{"job", encodeJob(job)}, {"nvrtc", m_version + '\n' + fileIdentity(m_library)}};
    for (const auto &[name, bytes] : sources)
        everything.emplace("src/" + name, bytes);
    for (const auto &[name, bytes] : m_headers)
        everything.emplace("include/" + name, bytes);
    // Headers on disk are many; a toolkit that changes changes this one, which all the others go with.
    for (const fs::path &folder : m_includeFolders)
        everything.emplace("headers" + folder.string(), fileIdentity(folder / "cuda_fp16.h"));
    return treeDigest(everything);
}

Result<NvrtcAnswer> CudaCompiler::run(const NvrtcJob &job, const FileTree &sources,
                                      const CancelToken &cancel) const
{
    CompileCommand command = this->command(job);
    for (const auto &[name, bytes] : sources)
        command.files.emplace("src/" + name, bytes);
    for (const auto &[name, bytes] : m_headers)
        command.files.emplace("include/" + name, bytes);
    HEDDLE_TRY(const CompilerOutput output, m_launch(command, cancel));
    if (output.exitCode != 0 || output.object.empty())
        return childError(output, !job.sources.empty());
    return decodeAnswer(output.object);
}

Result<CudaOutcome> CudaCompiler::compile(const Plan &plan, const FileTree &files,
                                          const std::map<std::string, std::int64_t> &tunables,
                                          const CudaArchitecture &architecture,
                                          const CancelToken &cancel) const
{
    if (plan.target != PlanTarget::Cuda)
        return Error(Code::InvalidInput, "NVRTC compiles plans for the target cuda only", "plan.json: target",
                     "compile this candidate for the target cpu");
    HEDDLE_CHECK_OK(checkArchitecture(architecture));
    const auto start = std::chrono::steady_clock::now();
    NvrtcJob job{{m_library.string()}, plan.sources, {"--gpu-architecture=" + architecture.name()}};
    job.options.insert(job.options.end(), fixedOptions().begin(), fixedOptions().end());
    HEDDLE_TRY(const std::vector<std::string> macros, tunableMacros(plan, tunables));
    job.options.insert(job.options.end(), macros.begin(), macros.end());
    for (const fs::path &folder : m_includeFolders)
        job.options.push_back("-I" + folder.string());
    FileTree sources = files;
    sources.erase("plan.json");
    CudaOutcome outcome;
    outcome.key = keyOf(job, sources);
    outcome.isBuilt = true;
    std::optional<NvrtcAnswer> answer;
    if (const auto cached = m_cache.load(outcome.key))
        if (auto decoded = decodeAnswer(*cached); decoded) {
            answer = std::move(*decoded);
            outcome.isCached = true;
        }
    if (!answer) {
        auto made = run(job, sources, cancel);
        if (made) {
            answer = std::move(*made);
        } else if (const auto message = reproach(made.error())) {
            outcome.refuse(plan.sources.empty() ? "plan.json" : plan.sources.front(), *message);
        } else {
            return std::move(made).error();
        }
    }
    if (answer) {
        const bool isWhole = std::all_of(answer->products.begin(), answer->products.end(),
                                         [](const auto &entry) { return entry.second.isBuilt; });
        // What does not compile is told anew each time: its file is being worked on.
        if (isWhole && !outcome.isCached)
            HEDDLE_CHECK_OK(m_cache.store(outcome.key, encodeAnswer(*answer)));
        for (auto &[source, product] : answer->products)
            outcome.add(plan, source, std::move(product));
    }
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

} // namespace heddle
