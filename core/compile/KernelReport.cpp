// SPDX-License-Identifier: Apache-2.0
#include "core/compile/KernelReport.h"

#include "core/plan/LaunchShape.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle {

namespace {

/// A launch that one or more steps make.
struct Launch {
    std::vector<std::uint32_t> steps;
    LaunchShape shape;
    std::string problem; ///< where the shape can't be evaluated
};

std::vector<Launch> launchesOf(const Plan &plan, const std::string &source, const std::string &kernel,
                               const std::map<std::string, std::int64_t> &values)
{
    std::vector<Launch> launches;
    for (const KernelStep *step : kernelSteps(plan)) {
        if (step->source != source || step->kernel != kernel)
            continue;
        Launch launch{{step->number}, {}, {}};
        if (auto shape = launchShape(plan, *step, values))
            launch.shape = std::move(*shape);
        else
            launch.problem = shape.error().where() + ": " + shape.error().message();
        const auto same = std::find_if(launches.begin(), launches.end(), [&](const Launch &other) {
            return other.shape == launch.shape && other.problem == launch.problem;
        });
        if (same != launches.end())
            same->steps.push_back(step->number);
        else
            launches.push_back(std::move(launch));
    }
    return launches;
}

/// Why there is no occupancy; empty where there can be one.
std::string reasonAgainst(const Launch &launch, const ResourceUse &use, const CudaArchitecture &architecture)
{
    if (!launch.problem.empty())
        return launch.problem;
    if (!launch.shape.unknown.empty()) {
        std::string names;
        std::string flags;
        for (const std::string &name : launch.shape.unknown) {
            names += (names.empty() ? "" : ", ") + name;
            flags += " --set " + name + "=…";
        }
        return "the launch depends on " + names + ", known only with a task's shapes: give" + flags;
    }
    if (!multiprocessorLimits(architecture.number))
        return "the limits of " + architecture.name() + " are not known here";
    if (!use.registers || !use.staticSharedBytes)
        return "the compiler did not say how many registers and how much shared memory it uses";
    return {};
}

Json launchJson(const Launch &launch, const ResourceUse &use, const CudaArchitecture &architecture)
{
    const auto threads = launch.shape.threads();
    Json row{{"steps", launch.steps},
             {"block", launch.shape.block ? Json(*launch.shape.block) : Json()},
             {"threads", threads ? Json(*threads) : Json()},
             {"cluster", launch.shape.cluster ? Json(*launch.shape.cluster) : Json()},
             {"shared_dynamic_bytes", launch.shape.sharedBytes ? Json(*launch.shape.sharedBytes) : Json()},
             {"occupancy", nullptr},
             {"message", reasonAgainst(launch, use, architecture)}};
    if (!row["message"].get_ref<const std::string &>().empty())
        return row;
    if (use.maxThreads && *threads > *use.maxThreads) {
        row["occupancy"] = {{"blocks", 0}, {"warps", 0}, {"share", 0.0}, {"limiters", Json::array()}};
        row["message"] = "it was compiled for blocks of at most " + std::to_string(*use.maxThreads)
            + " threads (__launch_bounds__), this one has " + std::to_string(*threads);
        return row;
    }
    const MultiprocessorLimits limits = *multiprocessorLimits(architecture.number);
    const Occupancy occupancy = occupancyOf(
        limits,
        {.threads = *threads,
         .registers = static_cast<int>(std::clamp<std::int64_t>(*use.registers, 0, 1024)),
         .sharedBytes = *use.staticSharedBytes + *launch.shape.sharedBytes,
         .barriers = static_cast<int>(std::clamp<std::int64_t>(use.barriers.value_or(1), 1, 16))});
    row["occupancy"] = {{"blocks", occupancy.blocks},
                        {"warps", occupancy.warps},
                        {"share", occupancy.share},
                        {"limiters", occupancy.limiters}};
    row["message"] = occupancy.refusal;
    const auto &cluster = *launch.shape.cluster;
    if (occupancy.refusal.empty() && cluster[0] * cluster[1] * cluster[2] > 1)
        row["message"] = "at most: blocks of a cluster start together, which can leave room unused";
    return row;
}

} // namespace

Json kernelReport(const Plan &plan, const CudaOutcome &outcome, const CudaArchitecture &architecture,
                  const std::map<std::string, std::int64_t> &values)
{
    Json rows = Json::array();
    for (const auto &[source, module] : outcome.modules)
        for (const auto &[name, use] : module.kernels) {
            Json row = toJson(use);
            row["name"] = name;
            row["source"] = source;
            row["launches"] = Json::array();
            for (const Launch &launch : launchesOf(plan, source, name, values))
                row["launches"].push_back(launchJson(launch, use, architecture));
            rows.push_back(std::move(row));
        }
    return rows;
}

} // namespace heddle
