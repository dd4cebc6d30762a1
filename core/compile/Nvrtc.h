// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/base/Result.h"
#include "core/compile/Diagnostic.h"
#include "core/plan/Plan.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle {

/// What NVRTC made of one plan: a cubin for each source.
struct NvrtcOutcome {
    bool isBuilt = false;
    std::map<std::string, std::string> cubins; ///< source → ELF image
    std::vector<Diagnostic> diagnostics;
    std::string log;
    double seconds = 0.0;
};

/// libnvrtc, opened at run time: needs no GPU and no driver. Movable; one thread at a time.
class Nvrtc {
public:
    /// Places where libnvrtc.so may be: $HEDDLE_NVRTC, /usr/local/cuda, and the wheels below the given
    /// site-packages folders (nvidia/*/lib). Only files that exist.
    static std::vector<std::filesystem::path> findLibraries(
        const std::vector<std::filesystem::path> &sitePackages);
    /// Opens the first library that works. Errors: Environment, saying how to get one.
    static Result<Nvrtc> open(const std::vector<std::filesystem::path> &libraries);

    Nvrtc(Nvrtc &&) noexcept;
    Nvrtc &operator=(Nvrtc &&) noexcept;
    ~Nvrtc();

    /// "13.0"
    std::string version() const;
    const std::filesystem::path &library() const;

    /// Compiles every source of a cuda plan for `architecture` ("sm_90"). Headers of the candidate and
    /// `headers` (resources/include) are given in memory; nothing is read from disk but `includeFolders`
    /// (for cuda_fp16.h). A kernel of the plan that its cubin lacks is a diagnostic. A source that does not
    /// compile is an outcome, not an error. Errors: InvalidInput for a cpu plan or unknown tunables.
    Result<NvrtcOutcome> compile(const Plan &plan, const FileTree &files,
                                 const std::map<std::string, std::int64_t> &tunables, const FileTree &headers,
                                 const std::string &architecture,
                                 const std::vector<std::filesystem::path> &includeFolders = {}) const;

private:
    struct Library;
    explicit Nvrtc(std::unique_ptr<Library> library);
    Result<void> compileSource(const Plan &plan, const std::string &source, const FileTree &files,
                               const FileTree &headers, const std::vector<std::string> &options,
                               NvrtcOutcome &outcome) const;
    std::unique_ptr<Library> m_library;
};

/// Names of the kernels (entry functions) in a cubin, sorted. Reads the ELF symbol table with checks of
/// every offset; a damaged image gives an empty list.
std::vector<std::string> cubinKernels(std::string_view cubin);

} // namespace heddle
