// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

// The part of NVRTC's C interface that is used; results and the program are an int and an opaque pointer.
using Program = struct NvrtcProgramTag *;

template<typename Function>
bool bind(void *library, const char *name, Function &function)
{
    void *symbol = ::dlsym(library, name);
    static_assert(sizeof function == sizeof symbol);
    std::memcpy(&function, &symbol, sizeof function);
    return symbol != nullptr;
}

} // namespace

struct Nvrtc::Library {
    void *handle = nullptr;
    fs::path path;
    int (*version)(int *, int *) = nullptr;
    int (*create)(Program *, const char *, const char *, int, const char *const *,
                  const char *const *) = nullptr;
    int (*compile)(Program, int, const char *const *) = nullptr;
    int (*destroy)(Program *) = nullptr;
    int (*logSize)(Program, std::size_t *) = nullptr;
    int (*log)(Program, char *) = nullptr;
    int (*cubinSize)(Program, std::size_t *) = nullptr;
    int (*cubin)(Program, char *) = nullptr;
    const char *(*errorText)(int) = nullptr;

    ~Library()
    {
        if (handle != nullptr)
            ::dlclose(handle);
    }

    bool load(const fs::path &file)
    {
        path = file;
        handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        return handle != nullptr && bind(handle, "nvrtcVersion", version)
            && bind(handle, "nvrtcCreateProgram", create) && bind(handle, "nvrtcCompileProgram", compile)
            && bind(handle, "nvrtcDestroyProgram", destroy) && bind(handle, "nvrtcGetProgramLogSize", logSize)
            && bind(handle, "nvrtcGetProgramLog", log) && bind(handle, "nvrtcGetCUBINSize", cubinSize)
            && bind(handle, "nvrtcGetCUBIN", cubin) && bind(handle, "nvrtcGetErrorString", errorText);
    }
};

Nvrtc::Nvrtc(std::unique_ptr<Library> library) : m_library(std::move(library)) {}
Nvrtc::Nvrtc(Nvrtc &&) noexcept = default;
Nvrtc &Nvrtc::operator=(Nvrtc &&) noexcept = default;
Nvrtc::~Nvrtc() = default;

std::vector<fs::path> Nvrtc::findLibraries(const std::vector<fs::path> &sitePackages)
{
    std::vector<fs::path> folders;
    std::vector<fs::path> found;
    std::error_code code;
    if (const char *chosen = std::getenv("HEDDLE_NVRTC");
        chosen != nullptr && fs::is_regular_file(chosen, code))
        found.emplace_back(chosen);
    for (const char *folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"})
        folders.emplace_back(folder);
    for (const fs::path &site : sitePackages)
        for (fs::directory_iterator entry(site / "nvidia", code), end; !code && entry != end;
             entry.increment(code))
            folders.push_back(entry->path() / "lib");
    for (const fs::path &folder : folders)
        for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
            const std::string name = entry->path().filename().string();
            // Not libnvrtc-builtins.so, which the library opens by itself.
            if (name.rfind("libnvrtc.so", 0) == 0)
                found.push_back(entry->path());
        }
    return found;
}

Result<Nvrtc> Nvrtc::open(const std::vector<fs::path> &libraries)
{
    for (const fs::path &path : libraries) {
        auto library = std::make_unique<Library>();
        if (library->load(path))
            return Nvrtc(std::move(library));
    }
    return Error(
        Code::Environment, "there is no working NVRTC (the run-time compiler of CUDA)", {},
        "install a CUDA toolkit of version 11.3 or later, or a PyTorch with CUDA; or set HEDDLE_NVRTC to "
        "libnvrtc.so");
}

std::string Nvrtc::version() const
{
    int major = 0;
    int minor = 0;
    m_library->version(&major, &minor);
    return std::to_string(major) + '.' + std::to_string(minor);
}

const fs::path &Nvrtc::library() const { return m_library->path; }

Result<void> Nvrtc::compileSource(const Plan &plan, const std::string &source, const FileTree &files,
                                  const FileTree &headers, const std::vector<std::string> &options,
                                  NvrtcOutcome &outcome) const
{
    const auto text = files.find(source);
    if (text == files.end())
        return Error(Code::InvalidInput, "the candidate has no file \"" + source + '"', source);
    std::vector<const char *> names;
    std::vector<const char *> texts;
    for (const auto *tree : {&files, &headers})
        for (const auto &[name, bytes] : *tree)
            if (name != source) {
                names.push_back(name.c_str());
                texts.push_back(bytes.c_str());
            }
    Program program = nullptr;
    int code = m_library->create(&program, text->second.c_str(), source.c_str(),
                                 static_cast<int>(names.size()), texts.data(), names.data());
    if (code != 0)
        return Error(Code::Environment, std::string("NVRTC refused to start: ") + m_library->errorText(code),
                     source);
    std::vector<const char *> arguments;
    for (const std::string &option : options)
        arguments.push_back(option.c_str());
    code = m_library->compile(program, static_cast<int>(arguments.size()), arguments.data());
    std::size_t size = 0;
    if (m_library->logSize(program, &size) == 0 && size > 1) {
        std::string log(size, '\0');
        m_library->log(program, log.data());
        log.resize(size - 1);
        outcome.log += log;
    }
    std::string cubin;
    if (code == 0 && m_library->cubinSize(program, &size) == 0) {
        cubin.resize(size);
        code = m_library->cubin(program, cubin.data());
    }
    m_library->destroy(&program);
    if (code != 0 || cubin.empty()) {
        outcome.isBuilt = false;
        if (outcome.log.empty())
            outcome.log = source + "(1): error: " + m_library->errorText(code) + '\n';
        return {};
    }
    const std::vector<std::string> kernels = cubinKernels(cubin);
    for (const KernelStep *step : kernelSteps(plan))
        if (step->source == source && !std::binary_search(kernels.begin(), kernels.end(), step->kernel)) {
            outcome.isBuilt = false;
            outcome.log += source + "(1): error: there is no `extern \"C\" __global__ void " + step->kernel
                + "` in this file, which step " + std::to_string(step->number) + " launches\n";
        }
    outcome.cubins[source] = std::move(cubin);
    return {};
}

Result<NvrtcOutcome> Nvrtc::compile(const Plan &plan, const FileTree &files,
                                    const std::map<std::string, std::int64_t> &tunables,
                                    const FileTree &headers, const std::string &architecture,
                                    const std::vector<fs::path> &includeFolders) const
{
    if (plan.target != PlanTarget::Cuda)
        return Error(Code::InvalidInput, "NVRTC compiles plans for the target cuda only", "plan.json: target",
                     "judge this candidate on a cpu target");
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++20",
                                        "--extra-device-vectorization"};
    for (const auto &[name, tunable] : plan.tunables) {
        const auto chosen = tunables.find(name);
        options.push_back("-D" + name + '='
                          + std::to_string(chosen != tunables.end() ? chosen->second : tunable.defaultValue));
    }
    for (const auto &[name, value] : tunables) {
        const auto known = plan.tunables.find(name);
        if (known == plan.tunables.end()
            || std::find(known->second.choices.begin(), known->second.choices.end(), value)
                == known->second.choices.end())
            return Error(Code::InvalidInput,
                         std::to_string(value) + " is not a choice of a tunable \"" + name + '"',
                         "tunables." + name, "name a tunable of the plan and one of its choices");
    }
    for (const fs::path &folder : includeFolders)
        options.push_back("-I" + folder.string());
    NvrtcOutcome outcome;
    outcome.isBuilt = true;
    for (const std::string &source : plan.sources)
        HEDDLE_CHECK_OK(compileSource(plan, source, files, headers, options, outcome));
    outcome.diagnostics = parseDiagnostics(outcome.log, "");
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

} // namespace heddle
