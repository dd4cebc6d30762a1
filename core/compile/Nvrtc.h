// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/base/Result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace heddle {

/// One source for NVRTC. Headers are given in memory; nothing else is read from disk but what an option -I names or a
/// source includes by its path, which is why a stranger's source is compiled in a sandbox (CudaCompiler.h).
struct NvrtcUnit {
    std::string name; ///< "kernel.cu", as messages call it
    std::string text;
    FileTree headers; ///< by the names that #include uses
    std::vector<std::string> options;
};

/// What came of it.
struct NvrtcProduct {
    bool isBuilt = false;
    std::string cubin;
    std::string ptx;
    std::string log; ///< messages of the compiler and of ptxas
};

/// libnvrtc, opened at run time: needs no GPU and no driver. Movable; one thread at a time.
class Nvrtc {
public:
    /// Opens the first library that works. Errors: Environment, saying how to get one.
    static Result<Nvrtc> open(const std::vector<std::filesystem::path> &libraries);

    Nvrtc(Nvrtc &&) noexcept;
    Nvrtc &operator=(Nvrtc &&) noexcept;
    ~Nvrtc();

    /// "13.0"
    std::string version() const;
    const std::filesystem::path &library() const;
    /// The architectures that it compiles for, as numbers ("sm_90" is 90), ascending.
    std::vector<int> architectures() const;

    /// Compiles one source, in this process. A source that does not compile is a product without a cubin, not an error.
    /// Errors: Environment where the library itself refuses.
    Result<NvrtcProduct> compile(const NvrtcUnit &unit) const;

private:
    struct Library;
    explicit Nvrtc(std::unique_ptr<Library> library);
    std::unique_ptr<Library> m_library;
};

/// The error of a machine without NVRTC, with where to get one.
Error nvrtcMissing(const std::vector<std::filesystem::path> &tried);

} // namespace heddle
