// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/ArtefactCache.h"
#include "core/compile/CudaOutcome.h"
#include "core/compile/CudaPlaces.h"
#include "core/compile/HostCompiler.h"
#include "core/compile/NvrtcJob.h"
#include "core/compile/Occupancy.h"
#include "core/plan/Plan.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace heddle {

/// Where NVRTC and what it needs are. Everything about the surroundings that a test replaces.
struct CudaCompilerSetup {
    std::filesystem::path program;       ///< heddle-nvrtc
    CudaPlaces places;                   ///< `nvrtc` is used
    std::filesystem::path includeFolder; ///< resources/include
    std::filesystem::path cacheFolder;
};

/// Compiles CUDA plans to cubins for a chosen architecture, without a GPU or driver, with a content-addressed cache. Each
/// compilation is a child process of `launch` (the sandbox, with limits on time and memory), so that a source that hangs the
/// compiler or takes all memory costs that child. Thread-safe: holds only constants.
class CudaCompiler {
public:
    /// Asks NVRTC what it is, in a child. Errors: Environment where there is none that works, with how to get one; NotFound
    /// where a part of Heddle is missing.
    static Result<CudaCompiler> create(CudaCompilerSetup setup, CompilerLauncher launch);

    const std::filesystem::path &library() const { return m_library; }
    const std::string &version() const { return m_version; } ///< "13.0"
    /// As numbers ("sm_90" is 90), ascending.
    const std::vector<int> &architectures() const { return m_architectures; }
    /// Our headers for device code, by name.
    const FileTree &headers() const { return m_headers; }
    /// Errors: InvalidInput for an architecture that this NVRTC doesn't compile for, with those that it does.
    Result<void> checkArchitecture(const CudaArchitecture &architecture) const;

    /// A source that does not compile, or that the compiler can't finish within its limits, is an outcome with diagnostics.
    /// A kernel of the plan that its cubin lacks is a diagnostic. Errors: InvalidInput for a plan of another target, unknown
    /// tunables or architectures; those of the launch.
    Result<CudaOutcome> compile(const Plan &plan, const FileTree &files,
                                const std::map<std::string, std::int64_t> &tunables,
                                const CudaArchitecture &architecture, const CancelToken &cancel = {}) const;

private:
    CudaCompiler(CudaCompilerSetup setup, CompilerLauncher launch, FileTree headers);
    CompileCommand command(const NvrtcJob &job) const;
    std::string keyOf(const NvrtcJob &job, const FileTree &sources) const;
    Result<NvrtcAnswer> run(const NvrtcJob &job, const FileTree &sources, const CancelToken &cancel) const;

    CudaCompilerSetup m_setup;
    CompilerLauncher m_launch;
    FileTree m_headers; ///< of resources/include, for device code
    ArtefactCache m_cache;
    std::filesystem::path m_library;
    std::string m_version;
    std::vector<int> m_architectures;
    std::vector<std::filesystem::path> m_includeFolders;
};

} // namespace heddle
