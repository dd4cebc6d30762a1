// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/base/File.h"
#include "core/compile/SandboxLauncher.h"
#include "core/json/Json.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace heddle {

struct CompileRequest {
    FileTree files;     ///< of a native candidate
    std::string target; ///< "cpu", or "cuda:sm_90"
    /// By name: tunables (one of their choices), and values that shapes would give: symbols, "input:x.shape[0]".
    std::map<std::string, std::int64_t> values;
    bool wantsPtx = false;
    bool wantsSass = false;
};

/// Where things are, and who runs compilers.
struct CompileTools {
    Spawner *spawner = nullptr;
    std::filesystem::path nvrtcProgram; ///< heddle-nvrtc
    std::filesystem::path resources;    ///< folder that holds include/
    std::filesystem::path python;       ///< whose wheels may hold NVRTC; may be empty
    std::string hostCompiler;           ///< empty: $CXX, else g++
    CompilerLimits limits = {};
};

/// Compiles a candidate and says all that can be known of it without running it: no task, no worker, no GPU, no driver.
/// Returns {"target", "compilation", "diagnostics", "seconds"} of core/schemas/report.schema.json. A candidate that does not
/// compile is a report with "ok": false. Errors: InvalidInput for a candidate of another format or target, an unknown
/// architecture or name; Environment without a compiler; Cancelled.
Result<Json> compileOnly(const CompileRequest &request, const CompileTools &tools, const CancelToken &cancel,
                         const ProgressSink &progress);

/// Whether a target only compiles ("cuda:sm_90"). Not whether it is spelt right.
bool isCompileTarget(std::string_view target);

} // namespace heddle
