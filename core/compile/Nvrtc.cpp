// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Nvrtc.h"

#include "core/base/Symbol.h"

#include <dlfcn.h>

#include <cstdlib>

namespace heddle {

namespace fs = std::filesystem;

namespace {

// The part of NVRTC's C interface that is used; results and the program are an int and an opaque pointer.
using Program = struct NvrtcProgramTag *;

} // namespace

struct Nvrtc::Library {
    using SizeOf = int (*)(Program, std::size_t *);
    using BytesOf = int (*)(Program, char *);

    void *handle = nullptr;
    fs::path path;
    int (*version)(int *, int *) = nullptr;
    int (*architectureCount)(int *) = nullptr;
    int (*architectures)(int *) = nullptr;
    int (*create)(Program *, const char *, const char *, int, const char *const *,
                  const char *const *) = nullptr;
    int (*compile)(Program, int, const char *const *) = nullptr;
    int (*destroy)(Program *) = nullptr;
    SizeOf logSize = nullptr;
    BytesOf log = nullptr;
    SizeOf cubinSize = nullptr;
    BytesOf cubin = nullptr;
    SizeOf ptxSize = nullptr;
    BytesOf ptx = nullptr;
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
        return handle != nullptr && bindSymbol(handle, "nvrtcVersion", version)
            && bindSymbol(handle, "nvrtcGetNumSupportedArchs", architectureCount)
            && bindSymbol(handle, "nvrtcGetSupportedArchs", architectures)
            && bindSymbol(handle, "nvrtcCreateProgram", create)
            && bindSymbol(handle, "nvrtcCompileProgram", compile)
            && bindSymbol(handle, "nvrtcDestroyProgram", destroy)
            && bindSymbol(handle, "nvrtcGetProgramLogSize", logSize)
            && bindSymbol(handle, "nvrtcGetProgramLog", log)
            && bindSymbol(handle, "nvrtcGetCUBINSize", cubinSize)
            && bindSymbol(handle, "nvrtcGetCUBIN", cubin) && bindSymbol(handle, "nvrtcGetPTXSize", ptxSize)
            && bindSymbol(handle, "nvrtcGetPTX", ptx) && bindSymbol(handle, "nvrtcGetErrorString", errorText);
    }

    /// What a pair of functions gives; empty where they refuse.
    static std::string read(Program program, SizeOf sizeOf, BytesOf bytesOf)
    {
        std::size_t size = 0;
        if (sizeOf(program, &size) != 0 || size == 0)
            return {};
        std::string bytes(size, '\0');
        return bytesOf(program, bytes.data()) == 0 ? bytes : std::string();
    }
    /// The same for text, which ends in a NUL.
    static std::string readText(Program program, SizeOf sizeOf, BytesOf bytesOf)
    {
        std::string text = read(program, sizeOf, bytesOf);
        return text.substr(0, text.find('\0'));
    }
};

Nvrtc::Nvrtc(std::unique_ptr<Library> library) : m_library(std::move(library)) {}
Nvrtc::Nvrtc(Nvrtc &&) noexcept = default;
Nvrtc &Nvrtc::operator=(Nvrtc &&) noexcept = default;
Nvrtc::~Nvrtc() = default;

Error nvrtcMissing(const std::vector<fs::path> &tried)
{
    const char *chosen = std::getenv("HEDDLE_NVRTC");
    if (chosen != nullptr && chosen[0] != '\0')
        return Error(
            Code::Environment, "HEDDLE_NVRTC names no working NVRTC (the run-time compiler of CUDA)", chosen,
            "set it to a file libnvrtc.so of CUDA 11.3 or later, or leave it out to have one looked for");
    return Error(Code::Environment, "there is no working NVRTC (the run-time compiler of CUDA)",
                 tried.empty() ? std::string() : tried.front().string(),
                 "pip install nvidia-cuda-nvrtc (no GPU is needed), or install a CUDA toolkit or a PyTorch "
                 "with CUDA, or "
                 "set HEDDLE_NVRTC to libnvrtc.so");
}

Result<Nvrtc> Nvrtc::open(const std::vector<fs::path> &libraries)
{
    for (const fs::path &path : libraries) {
        auto library = std::make_unique<Library>();
        if (library->load(path))
            return Nvrtc(std::move(library));
    }
    return nvrtcMissing(libraries);
}

std::string Nvrtc::version() const
{
    int major = 0;
    int minor = 0;
    m_library->version(&major, &minor);
    return std::to_string(major) + '.' + std::to_string(minor);
}

const fs::path &Nvrtc::library() const { return m_library->path; }

std::vector<int> Nvrtc::architectures() const
{
    int count = 0;
    if (m_library->architectureCount(&count) != 0 || count <= 0)
        return {};
    std::vector<int> all(static_cast<std::size_t>(count));
    return m_library->architectures(all.data()) == 0 ? all : std::vector<int>();
}

Result<NvrtcProduct> Nvrtc::compile(const NvrtcUnit &unit) const
{
    std::vector<const char *> names;
    std::vector<const char *> texts;
    for (const auto &[name, bytes] : unit.headers) {
        names.push_back(name.c_str());
        texts.push_back(bytes.c_str());
    }
    Program program = nullptr;
    int code = m_library->create(&program, unit.text.c_str(), unit.name.c_str(),
                                 static_cast<int>(names.size()), texts.data(), names.data());
    if (code != 0)
        return Error(Code::Environment, std::string("NVRTC refused to start: ") + m_library->errorText(code),
                     unit.name);
    std::vector<const char *> options;
    for (const std::string &option : unit.options)
        options.push_back(option.c_str());
    code = m_library->compile(program, static_cast<int>(options.size()), options.data());
    NvrtcProduct product;
    product.log = Library::readText(program, m_library->logSize, m_library->log);
    if (code == 0) {
        product.cubin = Library::read(program, m_library->cubinSize, m_library->cubin);
        product.ptx = Library::readText(program, m_library->ptxSize, m_library->ptx);
    }
    m_library->destroy(&program);
    product.isBuilt = code == 0 && !product.cubin.empty();
    // An option that it does not know, or a failure inside: the log may be empty then.
    if (!product.isBuilt && product.log.empty())
        product.log = unit.name + "(1): error: NVRTC says " + m_library->errorText(code) + '\n';
    return product;
}

} // namespace heddle
