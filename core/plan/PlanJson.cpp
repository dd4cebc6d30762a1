// SPDX-License-Identifier: Apache-2.0
#include "core/plan/Plan.h"

#include <array>
#include <charconv>

namespace heddle {

namespace {

Json toJson(const std::vector<Expression> &expressions)
{
    Json list = Json::array();
    for (const Expression &expression : expressions)
        list.push_back(expression.text());
    return list;
}

Json toJson(const PlanBuffer &buffer)
{
    return {{"dtype", dtypeName(buffer.dtype)}, {"shape", toJson(buffer.shape)}};
}

/// The shortest decimal that reads back as the same double, inf and nan included.
std::string constantText(double value)
{
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return "const:" + std::string(digits.data(), end);
}

Json toJson(const PlanArgument &argument)
{
    if (argument.kind == PlanArgument::Kind::Pointer) {
        Json out{{"ptr", argument.buffer}};
        if (argument.offset)
            out["offset"] = argument.offset->text();
        return out;
    }
    constexpr std::array<const char *, 5> names = {"ptr", "i64", "i32", "f32", "f64"};
    const std::string text = argument.constant ? constantText(*argument.constant)
        : argument.integer                     ? argument.integer->text()
                                               : argument.value;
    return {{names[static_cast<std::size_t>(argument.kind)], text}};
}

Json toJson(const std::vector<PlanStep> &steps, PlanTarget target);

Json toJson(const PlanStep &step, PlanTarget target)
{
    Json out = Json::object();
    if (step.when)
        out["when"] = step.when->text();
    if (step.repeat) {
        out["repeat"] = {{"count", step.repeat->count.text()},
                         {"index", step.repeat->index},
                         {"steps", toJson(step.repeat->steps, target)}};
        return out;
    }
    out["kernel"] = step.kernel->kernel;
    out["source"] = step.kernel->source;
    out["args"] = Json::array();
    for (const PlanArgument &argument : step.kernel->args)
        out["args"].push_back(toJson(argument));
    if (target == PlanTarget::Cpu)
        return out;
    const PlanLaunch &launch = step.kernel->launch;
    out["grid"] = toJson(launch.grid);
    out["block"] = toJson(launch.block);
    if (!launch.cluster.empty())
        out["cluster"] = toJson(launch.cluster);
    if (launch.shared)
        out["shared"] = launch.shared->text();
    if (launch.isCooperative)
        out["cooperative"] = true;
    if (launch.stream != 0)
        out["stream"] = launch.stream;
    return out;
}

Json toJson(const std::vector<PlanStep> &steps, PlanTarget target)
{
    Json list = Json::array();
    for (const PlanStep &step : steps)
        list.push_back(toJson(step, target));
    return list;
}

void collect(const std::vector<PlanStep> &steps, std::vector<const KernelStep *> &out)
{
    for (const PlanStep &step : steps) {
        if (step.kernel)
            out.push_back(&*step.kernel);
        else
            collect(step.repeat->steps, out);
    }
}

} // namespace

Json planToJson(const Plan &plan)
{
    Json out{{"heddle", 1}, {"target", targetName(plan.target)}};
    for (const auto &[name, expression] : plan.symbols)
        out["symbols"][name] = expression.text();
    for (const auto &[name, tunable] : plan.tunables)
        out["tunables"][name] = {{"default", tunable.defaultValue}, {"choices", tunable.choices}};
    for (const PlanBuffer &buffer : plan.buffers) {
        Json item = toJson(buffer);
        item["name"] = buffer.name;
        out["buffers"].push_back(std::move(item));
    }
    if (!plan.updates.empty())
        out["updates"] = plan.updates;
    out["steps"] = toJson(plan.steps, plan.target);
    for (const PlanBuffer &output : plan.outputs)
        out["outputs"].push_back(toJson(output));
    return out;
}

std::vector<const KernelStep *> kernelSteps(const Plan &plan)
{
    std::vector<const KernelStep *> steps;
    collect(plan.steps, steps);
    return steps;
}

} // namespace heddle
