// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/Commands.h"
#include "app/cli/CompileText.h"

#include "core/base/Digest.h"
#include "core/base/Places.h"
#include "core/base/Python.h"
#include "core/compile/CompileOnly.h"
#include "core/compile/CudaPlaces.h"
#include "core/compile/Occupancy.h"
#include "core/profile/MetricReport.h"
#include "core/profile/MetricSets.h"
#include "core/runtime/DeviceLock.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

constexpr auto measurementWait = std::chrono::minutes(10);

/// "BLOCK=128" for each --set.
Result<std::map<std::string, std::int64_t>> valuesOf(const std::vector<std::string> &settings)
{
    std::map<std::string, std::int64_t> values;
    for (const std::string &text : settings) {
        const std::size_t equals = text.find('=');
        const char *end = text.data() + text.size();
        std::int64_t value = 0;
        const bool hasName = equals != std::string::npos && equals > 0;
        const auto [stop, code] = std::from_chars(hasName ? text.data() + equals + 1 : end, end, value);
        if (!hasName || code != std::errc() || stop != end)
            return Error(Code::InvalidInput, "a value is written NAME=INTEGER", "--set " + text,
                         "for example --set BLOCK=128");
        values[text.substr(0, equals)] = value;
    }
    return values;
}

Result<void> checkTarget(const std::string &target)
{
    if (target.starts_with("ssh://"))
        return Error(Code::InvalidInput, "compile works on this machine alone", target,
                     "choose cpu, or cuda: and an architecture, such as cuda:sm_90");
    if (target == "cpu" || isCompileTarget(target))
        return {};
    return Error(Code::InvalidInput, "there is no such target to compile for", target,
                 "choose cpu, or cuda: and an architecture, such as cuda:sm_90");
}

/// Adds "metrics" or, where that can't be, the error as "metrics_error": what was compiled stays shown.
void addMetrics(const CompileTools &tools, const CancelToken &cancel, Json &report)
{
    const auto found = [&]() -> Result<Json> {
        HEDDLE_TRY(const CudaArchitecture architecture,
                   parseArchitecture(stringOr(memberOr(report, "target"), "architecture")));
        const auto chip = chipOf(architecture.number);
        if (!chip)
            return Error(Code::NotCovered, "which chip " + architecture.name() + " is, is not known here");
        HEDDLE_TRY(const fs::path program, ownProgram("heddle-counters"));
        return metricReport(program, findCudaPlaces(sitePackagesOf(tools.python)).cupti, *chip,
                            sandboxLauncher(*tools.spawner, tools.limits), cancel);
    }();
    if (found)
        report["compilation"]["metrics"] = *found;
    else
        report["compilation"]["metrics_error"] = toJson(found.error());
}

/// A compiler at work would spoil the times of whoever measures on this machine.
Result<DeviceLock> untilNobodyMeasures(Context &context)
{
    auto free = DeviceLock::acquire("cpu", std::chrono::milliseconds(1), context.cancel());
    if (free || free.error().code() == Code::Cancelled)
        return free;
    if (const ProgressSink progress = context.progress())
        progress({.phase = "waiting until nobody measures", .fraction = -1.0, .detail = {}});
    return DeviceLock::acquire("cpu", measurementWait, context.cancel());
}

Result<Json> compileHere(Context &context, const CompileArguments &arguments)
{
    HEDDLE_CHECK_OK(context.loadSettings({}));
    CompileRequest request;
    request.target = arguments.target.empty() ? "cpu" : arguments.target;
    HEDDLE_CHECK_OK(checkTarget(request.target));
    if (request.target == "cpu" && !arguments.show.empty())
        return Error(Code::InvalidInput, "what --show prints is of a GPU's architecture",
                     "--show " + arguments.show.front(),
                     "leave it out, or choose an architecture, such as --target cuda:sm_90");
    HEDDLE_TRY(request.files, readCandidate(arguments.candidate));
    HEDDLE_TRY(request.values, valuesOf(arguments.values));
    request.wantsPtx = arguments.shows("ptx");
    request.wantsSass = arguments.shows("sass");
    const Environment environment = context.environment();
    HEDDLE_TRY(const std::unique_ptr<Spawner> spawner,
               environment.unsandboxed ? Spawner::createUnsandboxed() : Spawner::create());
    CompileTools tools;
    tools.spawner = spawner.get();
    HEDDLE_TRY(tools.nvrtcProgram, ownProgram("heddle-nvrtc"));
    tools.resources = environment.resources;
    tools.python = environment.python;
    if (tools.python.empty())
        if (auto python = findPython()) // its wheels may hold NVRTC; without one a toolkit can
            tools.python = std::move(*python);
    tools.hostCompiler = environment.compiler.string();
    tools.limits.memoryBytes = compilerMemoryLimit();
    HEDDLE_TRY(const DeviceLock quiet, untilNobodyMeasures(context));
    HEDDLE_TRY(Json report, compileOnly(request, tools, context.cancel(), context.progress()));
    if (arguments.shows("metrics") && memberOr(report, "target").contains("architecture"))
        addMetrics(tools, context.cancel(), report);
    report["candidate"] = {{"digest", treeDigest(request.files)},
                           {"path", arguments.candidate.string()},
                           {"format", "native"},
                           {"policy", "person"}};
    return report;
}

} // namespace

bool CompileArguments::shows(std::string_view what) const
{
    return std::find(show.begin(), show.end(), what) != show.end();
}

int compile(Context &context, const CompileArguments &arguments)
{
    auto report = compileHere(context, arguments);
    context.clearProgress();
    if (!report)
        return context.fail(report.error(), "compile");
    context.say(compileText(*report));
    const Json &compilation = memberOr(*report, "compilation");
    int code = boolOr(compilation, "ok", false) ? Done : NotClean;
    // What was asked for and can't be had is told last, below all that can.
    for (const char *part : {"sass_error", "metrics_error"})
        if (const Json &missing = memberOr(compilation, part); missing.is_object()) {
            context.tell(errorFromJson(missing), "compile");
            code = code == Done ? EnvironmentFailed : code;
        }
    const int written = context.writeJson(std::move(*report), "compile");
    return written != Done ? written : code;
}

} // namespace heddle::cli
