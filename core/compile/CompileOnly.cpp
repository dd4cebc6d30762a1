// SPDX-License-Identifier: Apache-2.0
#include "core/compile/CompileOnly.h"

#include "core/compile/CudaCompiler.h"
#include "core/compile/Disassembler.h"
#include "core/compile/KernelReport.h"
#include "core/plan/CandidateFormat.h"
#include "core/plan/LaunchShape.h"

#include <algorithm>
#include <set>

namespace heddle {

namespace {

constexpr std::string_view cudaPrefix = "cuda:";

void tell(const ProgressSink &progress, const char *phase)
{
    if (progress)
        progress({.phase = phase, .fraction = -1.0, .detail = {}});
}

Result<void> checkTarget(const CompileRequest &request, const Plan &plan)
{
    const bool isCuda = isCompileTarget(request.target);
    if (isCuda == (plan.target == PlanTarget::Cuda))
        return {};
    return Error(Code::InvalidInput,
                 isCuda ? "this plan is for the target cpu" : "this plan is for the target cuda",
                 "plan.json: target",
                 isCuda ? "compile it with --target cpu, or leave --target out"
                        : "choose an architecture, such as --target cuda:sm_90");
}

/// The values that are tunables. Errors: InvalidInput for a name that the plan does not know.
Result<std::map<std::string, std::int64_t>> tunablesOf(const Plan &plan,
                                                       const std::map<std::string, std::int64_t> &values)
{
    std::map<std::string, std::int64_t> tunables;
    const std::vector<std::string> known = settableNames(plan);
    for (const auto &[name, value] : values) {
        if (plan.tunables.count(name) != 0) {
            tunables[name] = value;
        } else if (name.find(':') == std::string::npos
                   && std::find(known.begin(), known.end(), name) == known.end()) {
            std::string list;
            for (const std::string &other : known)
                list += (list.empty() ? "" : ", ") + other;
            return Error(Code::InvalidInput, "the plan has no tunable and no symbol \"" + name + '"',
                         "--set " + name,
                         list.empty() ? "leave it out: this plan has none" : "it has " + list);
        }
    }
    return tunables;
}

Json refusal(const CompileRequest &request, const Error &error)
{
    return {{"target", {{"name", request.target}}},
            {"compilation", {{"ok", false}, {"kernels", Json::array()}}},
            {"diagnostics", toJson(std::vector{diagnosticOf(error)})}};
}

Result<Json> compileCpu(const CompileRequest &request, const Plan &plan,
                        const std::map<std::string, std::int64_t> &tunables, const CompileTools &tools,
                        const CancelToken &cancel)
{
    const CompilerLauncher launch = sandboxLauncher(*tools.spawner, tools.limits);
    HEDDLE_TRY(CompilerIdentity identity, identifyCompiler(tools.hostCompiler, launch));
    HEDDLE_TRY(const HostCompiler compiler,
               HostCompiler::create(std::move(identity), cacheFolder() / "objects",
                                    tools.resources / "include", launch));
    auto outcome = compiler.compile(plan, request.files, tunables, nullptr, cancel);
    if (!outcome) {
        const Code code = outcome.error().code();
        if (code != Code::TimedOut && code != Code::OutOfMemory)
            return std::move(outcome).error();
        return refusal(request,
                       Error(code, "the compiler reached its limit: " + outcome.error().message(),
                             plan.sources.empty() ? "plan.json" : plan.sources.front() + ':',
                             "write less code, or fewer template instantiations"));
    }
    std::error_code code;
    const std::uintmax_t bytes = outcome->isBuilt ? std::filesystem::file_size(outcome->object, code) : 0;
    return Json{{"target", {{"name", request.target}}},
                {"compilation",
                 {{"ok", outcome->isBuilt},
                  {"cached", outcome->isCached},
                  {"compiler",
                   {{"name", "host"},
                    {"version", compiler.identity().version},
                    {"path", compiler.identity().program}}},
                  {"binary_bytes", outcome->isBuilt && !code ? Json(bytes) : Json()},
                  {"kernels", Json::array()}}},
                {"diagnostics", toJson(outcome->diagnostics)},
                {"seconds", {{"compile", outcome->seconds}}}};
}

/// Adds "sass" or, where that can't be, the error as "sass_error": what was compiled stays shown.
void addSass(const CudaOutcome &outcome, const CudaPlaces &places, const std::set<std::string> &ownFiles,
             const CompileTools &tools, const CancelToken &cancel, Json &compilation)
{
    CompilerLimits limits = tools.limits;
    limits.logBytes = 64u << 20; // the disassembly is what it writes
    const auto disassembler = Disassembler::create(places.nvdisasm, sandboxLauncher(*tools.spawner, limits));
    if (!disassembler) {
        compilation["sass_error"] = toJson(disassembler.error());
        return;
    }
    compilation["disassembler"] = {{"version", disassembler->version()},
                                   {"path", disassembler->program().string()}};
    compilation["sass"] = Json::object();
    for (const auto &[source, module] : outcome.modules) {
        const auto kernels = disassembler->disassemble(module.cubin, ownFiles, cancel);
        if (!kernels) {
            compilation.erase("sass");
            compilation["sass_error"] = toJson(kernels.error());
            return;
        }
        for (const SassKernel &kernel : *kernels)
            compilation["sass"][kernel.name] = toJson(kernel);
    }
}

Result<Json> compileCuda(const CompileRequest &request, const Plan &plan,
                         const std::map<std::string, std::int64_t> &tunables, const CompileTools &tools,
                         const CancelToken &cancel, const ProgressSink &progress)
{
    HEDDLE_TRY(const CudaArchitecture architecture,
               parseArchitecture(std::string_view(request.target).substr(cudaPrefix.size())));
    const CudaPlaces places = findCudaPlaces(sitePackagesOf(tools.python));
    HEDDLE_TRY(const CudaCompiler compiler,
               CudaCompiler::create({.program = tools.nvrtcProgram,
                                     .places = places,
                                     .includeFolder = tools.resources / "include",
                                     .cacheFolder = cacheFolder() / "cubins"},
                                    sandboxLauncher(*tools.spawner, tools.limits)));
    HEDDLE_TRY(const CudaOutcome outcome,
               compiler.compile(plan, request.files, tunables, architecture, cancel));
    std::uint64_t bytes = 0;
    Json ptx = Json::object();
    for (const auto &[source, module] : outcome.modules) {
        bytes += module.cubin.size();
        ptx[source] = module.ptx;
    }
    Json report{
        {"target",
         {{"name", request.target},
          {"architecture", architecture.name()},
          {"capability", architecture.capability()}}},
        {"compilation",
         {{"ok", outcome.isBuilt},
          {"cached", outcome.isCached},
          {"compiler",
           {{"name", "NVRTC"}, {"version", compiler.version()}, {"path", compiler.library().string()}}},
          {"binary_bytes", outcome.isBuilt ? Json(bytes) : Json()},
          {"kernels", kernelReport(plan, outcome, architecture, request.values)}}},
        {"diagnostics", toJson(outcome.diagnostics)},
        {"seconds", {{"compile", outcome.seconds}}}};
    if (request.wantsPtx && outcome.isBuilt)
        report["compilation"]["ptx"] = std::move(ptx);
    if (request.wantsSass && outcome.isBuilt) {
        tell(progress, "disassembling");
        std::set<std::string> ownFiles;
        for (const FileTree *tree : {&request.files, &compiler.headers()})
            for (const auto &[name, text] : *tree)
                ownFiles.insert(name);
        addSass(outcome, places, ownFiles, tools, cancel, report["compilation"]);
    }
    return report;
}

} // namespace

bool isCompileTarget(std::string_view target) { return target.starts_with(cudaPrefix); }

Result<Json> compileOnly(const CompileRequest &request, const CompileTools &tools, const CancelToken &cancel,
                         const ProgressSink &progress)
{
    HEDDLE_TRY(const std::string format, candidateFormat(request.files));
    if (format != "native")
        return Error(Code::InvalidInput,
                     "only a native candidate is compiled by itself, and this has no plan.json", {},
                     "judge it instead, with its task");
    const auto plan = parsePlan(request.files);
    // As a source that does not compile: what is wrong is the candidate, not the command.
    if (!plan)
        return refusal(request, plan.error());
    HEDDLE_CHECK_OK(checkTarget(request, *plan));
    HEDDLE_TRY(const auto tunables, tunablesOf(*plan, request.values));
    tell(progress, "compiling");
    Result<Json> result = plan->target == PlanTarget::Cuda
        ? compileCuda(request, *plan, tunables, tools, cancel, progress)
        : compileCpu(request, *plan, tunables, tools, cancel);
    if (result) {
        Json chosen = Json::object();
        for (const auto &[name, tunable] : plan->tunables)
            chosen[name] = tunables.count(name) != 0 ? tunables.at(name) : tunable.defaultValue;
        (*result)["compilation"]["tunables"] = std::move(chosen);
    }
    return result;
}

} // namespace heddle
