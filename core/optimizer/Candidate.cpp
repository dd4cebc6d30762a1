// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Candidate.h"

namespace heddle {

namespace {

constexpr const char *preamble =
    R"(// Written by Heddle's built-in optimiser from the captured graph of the task.
#include "heddle_cpu.h"

)";

Json shapeJson(const Shape &shape)
{
    Json list = Json::array();
    for (const std::int64_t size : shape)
        list.push_back(std::to_string(size));
    return list;
}

Json planJson(const FusionPlan &plan, const std::vector<WrittenKernel> &kernels,
              const std::map<std::string, KernelTunable> &tunables)
{
    Json buffers = Json::array();
    for (const KernelBuffer &buffer : plan.temporaries)
        buffers.push_back({{"name", buffer.name},
                           {"dtype", dtypeName(buffer.type.dtype)},
                           {"shape", shapeJson(buffer.type.shape)}});
    Json outputs = Json::array();
    for (const KernelBuffer &buffer : plan.outputs)
        outputs.push_back({{"dtype", dtypeName(buffer.type.dtype)}, {"shape", shapeJson(buffer.type.shape)}});
    Json steps = Json::array();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        Json args = Json::array();
        for (const std::string &buffer : kernels[i].arguments)
            args.push_back({{"ptr", buffer}});
        steps.push_back(
            {{"kernel", plan.kernels[i].name}, {"source", "kernel.cpp"}, {"args", std::move(args)}});
    }
    Json choices = Json::object();
    for (const auto &[name, tunable] : tunables)
        choices[name] = {{"default", tunable.fallback}, {"choices", tunable.choices}};
    Json json = {{"heddle", 1},
                 {"target", "cpu"},
                 {"symbols", Json::object()},
                 {"tunables", std::move(choices)},
                 {"buffers", std::move(buffers)},
                 {"steps", std::move(steps)},
                 {"outputs", std::move(outputs)}};
    if (!plan.updates.empty())
        json["updates"] = plan.updates;
    return json;
}

} // namespace

Result<WrittenCandidate> writeCandidate(const FusionPlan &plan)
{
    std::vector<WrittenKernel> kernels;
    WrittenCandidate candidate;
    std::string body;
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
        HEDDLE_TRY(auto kernel, writeKernel(plan.kernels[i], i, plan.constants));
        body += (i == 0 ? "" : "\n") + kernel.text;
        candidate.tunables.insert(kernel.tunables.begin(), kernel.tunables.end());
        kernels.push_back(std::move(kernel));
    }
    candidate.files["kernel.cpp"] = preamble + body;
    candidate.files["plan.json"] = prettyText(planJson(plan, kernels, candidate.tunables)) + "\n";
    candidate.plan = plan;
    return candidate;
}

FileTree withDefaults(const WrittenCandidate &candidate, const std::map<std::string, std::int64_t> &defaults)
{
    FileTree files = candidate.files;
    auto plan = parseJson(files["plan.json"], "plan.json");
    if (!plan)
        return files;
    for (const auto &[name, value] : defaults) {
        if ((*plan)["tunables"].contains(name))
            (*plan)["tunables"][name]["default"] = value;
    }
    files["plan.json"] = prettyText(*plan) + "\n";
    return files;
}

Result<WrittenCandidate> candidateForGraph(const Json &graph, FusionMode mode)
{
    HEDDLE_TRY(const auto captured, graphFromJson(graph));
    HEDDLE_TRY(const auto lowered, lowerGraph(captured));
    HEDDLE_TRY(const auto plan, planFusion(lowered, mode));
    return writeCandidate(plan);
}

} // namespace heddle
