// SPDX-License-Identifier: Apache-2.0
#include "core/compile/CudaOutcome.h"

#include "core/compile/Cubin.h"

#include <algorithm>

namespace heddle {

void CudaOutcome::refuse(const std::string &file, std::string message)
{
    isBuilt = false;
    diagnostics.push_back({.file = file,
                           .line = 0,
                           .column = 0,
                           .severity = Diagnostic::Severity::Error,
                           .message = std::move(message)});
}

void CudaOutcome::add(const Plan &plan, const std::string &source, NvrtcProduct product)
{
    log += product.log;
    const std::vector<Diagnostic> found = parseDiagnostics(product.log, "");
    diagnostics.insert(diagnostics.end(), found.begin(), found.end());
    if (!product.isBuilt) {
        isBuilt = false;
        const bool isSaid = std::any_of(found.begin(), found.end(), [](const Diagnostic &item) {
            return item.severity == Diagnostic::Severity::Error;
        });
        if (!isSaid)
            refuse(source,
                   product.log.empty() ? "the CUDA compiler ended without a message"
                                       : product.log.substr(0, 2000));
        return;
    }
    CudaModule module{std::move(product.cubin), std::move(product.ptx), {}};
    const auto said = resourcesFromLog(product.log);
    const auto stands = cubinResources(module.cubin);
    for (const std::string &name : cubinKernels(module.cubin)) {
        ResourceUse &use = module.kernels[name];
        if (const auto row = said.find(name); row != said.end())
            use = row->second;
        if (const auto row = stands.find(name); row != stands.end())
            use.addFrom(row->second);
    }
    for (const KernelStep *step : kernelSteps(plan))
        if (step->source == source && module.kernels.count(step->kernel) == 0)
            refuse(source,
                   "there is no `extern \"C\" __global__ void " + step->kernel + "` in this file, which step "
                       + std::to_string(step->number) + " launches");
    modules[source] = std::move(module);
}

} // namespace heddle
