// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/Diagnostic.h"
#include "core/compile/Nvrtc.h"
#include "core/compile/ResourceUse.h"
#include "core/plan/Plan.h"

#include <map>
#include <string>
#include <vector>

namespace heddle {

/// What one source became.
struct CudaModule {
    std::string cubin; ///< ELF image
    std::string ptx;
    std::map<std::string, ResourceUse> kernels; ///< by name; every entry function of the cubin
};

struct CudaOutcome {
    bool isBuilt = false;
    bool isCached = false;
    std::map<std::string, CudaModule> modules; ///< by source
    std::vector<Diagnostic> diagnostics;
    std::string log;      ///< the compiler's whole text
    std::string key;      ///< content address: sources, headers, tunables, options, architecture, NVRTC
    double seconds = 0.0; ///< wall clock of this call

    /// Adds what NVRTC made of one source, and a message for each kernel of the plan that it lacks.
    void add(const Plan &plan, const std::string &source, NvrtcProduct product);
    /// Adds an error in a file where nobody knows its line.
    void refuse(const std::string &file, std::string message);
};

} // namespace heddle
