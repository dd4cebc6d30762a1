// SPDX-License-Identifier: Apache-2.0
#include "core/plan/PlanNames.h"
#include "core/plan/PlanReader.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace heddle {

namespace {

constexpr std::size_t maxSteps = 4096;
constexpr std::size_t maxArguments = 128;
constexpr std::size_t maxRepeatDepth = 8;

std::string at(const std::string &where, std::size_t index)
{
    return where + '[' + std::to_string(index) + ']';
}

bool endsWith(std::string_view text, std::string_view end)
{
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

} // namespace

Result<std::vector<PlanStep>> PlanReader::readSteps(const Json &list, const std::string &where)
{
    if (!list.is_array() || list.size() > maxSteps)
        return bad(where, "this is not a list of steps",
                   "expected at most 4096 objects with \"kernel\" or \"repeat\"");
    std::vector<PlanStep> steps;
    for (std::size_t i = 0; i < list.size(); ++i) {
        HEDDLE_TRY(PlanStep step, readStep(list[i], at(where, i)));
        steps.push_back(std::move(step));
    }
    return steps;
}

Result<PlanStep> PlanReader::readStep(const Json &value, const std::string &where)
{
    if (!value.is_object() || value.contains("kernel") == value.contains("repeat"))
        return bad(where, "a step is either a kernel or a repeat",
                   "expected an object with \"kernel\" or with \"repeat\"");
    PlanStep step;
    const bool isKernel = value.contains("kernel");
    if (isKernel) {
        HEDDLE_TRY(KernelStep kernel, readKernel(value, where));
        step.kernel = std::move(kernel);
    } else {
        HEDDLE_CHECK_OK(checkMembers(value, where, {"repeat", "when"}));
        HEDDLE_TRY(RepeatStep repeat, readRepeat(value["repeat"], where + ".repeat"));
        step.repeat = std::move(repeat);
    }
    if (value.contains("when")) {
        HEDDLE_TRY(Expression when, readExpression(value["when"], where + ".when"));
        step.when = std::move(when);
    }
    m_step.clear();
    return step;
}

Result<RepeatStep> PlanReader::readRepeat(const Json &value, const std::string &where)
{
    HEDDLE_CHECK_OK(checkMembers(value, where, {"count", "index", "steps"}));
    if (m_indices.size() >= maxRepeatDepth)
        return bad(where, "repeats nest deeper than 8", "fold two of them into one with a larger count");
    RepeatStep repeat;
    HEDDLE_TRY(repeat.count, readExpression(memberOr(value, "count"), where + ".count"));
    repeat.index = stringOr(value, "index");
    HEDDLE_CHECK_OK(checkNewName(repeat.index, where + ".index", "repeat index"));
    m_indices.push_back(repeat.index);
    HEDDLE_TRY(repeat.steps, readSteps(memberOr(value, "steps"), where + ".steps"));
    m_indices.pop_back();
    if (repeat.steps.empty())
        return bad(where + ".steps", "the repeat holds no step", "expected at least one step");
    return repeat;
}

Result<KernelStep> PlanReader::readKernel(const Json &value, const std::string &where)
{
    KernelStep step;
    step.number = m_nextStep++;
    step.where = where;
    step.kernel = stringOr(value, "kernel");
    m_step = "step " + std::to_string(step.number) + " (" + step.kernel.substr(0, 128) + "): ";
    if (m_nextStep > maxSteps)
        return bad(where, "the plan has more than 4096 kernel steps", "use \"repeat\"");
    if (m_plan.target == PlanTarget::Cpu)
        HEDDLE_CHECK_OK(checkMembers(value, where, {"kernel", "source", "when", "args"}));
    else
        HEDDLE_CHECK_OK(checkMembers(value, where,
                                     {"kernel", "source", "when", "args", "grid", "block", "shared",
                                      "cluster", "cooperative", "stream"}));
    if (!isIdentifier(step.kernel) || step.kernel.rfind("heddle_", 0) == 0 || step.kernel == "main")
        return bad(where + ".kernel", "\"" + step.kernel.substr(0, 128) + "\" cannot name a kernel",
                   "expected a C identifier that does not start with heddle_");
    step.source = stringOr(value, "source");
    const char *ending = m_plan.target == PlanTarget::Cpu ? ".cpp" : ".cu";
    if (!isSafeRelativePath(step.source) || !endsWith(step.source, ending)
        || step.source.find_first_of("\"\\\n<>") != std::string::npos)
        return bad(where + ".source", "\"" + step.source + "\" cannot be a source for this target",
                   std::string("expected the relative path of a ") + ending + " file of the candidate");
    if (m_files != nullptr && m_files->count(step.source) == 0)
        return bad(where + ".source", "the candidate has no file \"" + step.source + '"',
                   "add the file, or name one that is there");
    if (std::find(m_plan.sources.begin(), m_plan.sources.end(), step.source) == m_plan.sources.end())
        m_plan.sources.push_back(step.source);
    const Json &args = memberOr(value, "args");
    if (!args.is_array() || args.size() > maxArguments)
        return bad(where + ".args", "this is not a list of arguments",
                   R"(expected at most 128 objects such as {"ptr": "input:x"} or {"i64": "rows"})");
    for (std::size_t i = 0; i < args.size(); ++i) {
        HEDDLE_TRY(PlanArgument argument, readArgument(args[i], at(where + ".args", i)));
        step.args.push_back(std::move(argument));
    }
    if (m_plan.target == PlanTarget::Cuda)
        HEDDLE_CHECK_OK(readLaunch(value, where, step.launch));
    return step;
}

Result<PlanArgument> PlanReader::readArgument(const Json &value, const std::string &where)
{
    PlanArgument argument;
    if (value.is_object() && value.contains("ptr")) {
        HEDDLE_CHECK_OK(checkMembers(value, where, {"ptr", "offset"}));
        HEDDLE_CHECK_OK(readPointer(value, where, argument));
        return argument;
    }
    HEDDLE_CHECK_OK(checkMembers(value, where, {"i64", "i32", "f32", "f64"}));
    if (value.size() != 1)
        return bad(where, "an argument has one type", "expected exactly one of ptr, i64, i32, f32, f64");
    const std::string type = value.begin().key();
    const std::string field = where + '.' + type;
    argument.kind = type == "i64" ? PlanArgument::Kind::I64
        : type == "i32"           ? PlanArgument::Kind::I32
        : type == "f32"           ? PlanArgument::Kind::F32
                                  : PlanArgument::Kind::F64;
    if (type == "f32" || type == "f64") {
        HEDDLE_CHECK_OK(readFloat(*value.begin(), field, argument));
    } else {
        HEDDLE_TRY(Expression integer, readExpression(*value.begin(), field));
        argument.integer = std::move(integer);
    }
    return argument;
}

Result<void> PlanReader::readPointer(const Json &value, const std::string &where, PlanArgument &argument)
{
    argument.kind = PlanArgument::Kind::Pointer;
    argument.buffer = stringOr(value, "ptr");
    const std::string &name = argument.buffer;
    const std::size_t colon = name.find(':');
    const std::string space = name.substr(0, colon == std::string::npos ? 0 : colon);
    if ((space != "input" && space != "state" && space != "tmp" && space != "out")
        || colon + 1 == name.size())
        return bad(where + ".ptr", "\"" + name + "\" names no buffer",
                   "expected input:NAME, state:NAME, tmp:NAME or out:I");
    const auto isNamed = [&](const PlanBuffer &buffer) { return buffer.name == name; };
    if (space == "tmp" && std::none_of(m_plan.buffers.begin(), m_plan.buffers.end(), isNamed))
        return bad(where + ".ptr", "there is no buffer \"" + name + '"', "declare it under \"buffers\"");
    if (space == "out" && std::none_of(m_plan.outputs.begin(), m_plan.outputs.end(), isNamed))
        return bad(where + ".ptr", "there is no output \"" + name + '"',
                   "the plan has " + std::to_string(m_plan.outputs.size()) + " outputs, counted from out:0");
    if (value.contains("offset")) {
        HEDDLE_TRY(Expression offset, readExpression(value["offset"], where + ".offset"));
        argument.offset = std::move(offset);
    }
    return {};
}

Result<void> PlanReader::readFloat(const Json &value, const std::string &where, PlanArgument &argument)
{
    if (value.is_number_float()) {
        argument.constant = value.get<double>();
        return {};
    }
    const std::string text = value.is_string() ? value.get<std::string>() : std::string();
    if (text.rfind("const:", 0) == 0) {
        const std::string number = text.substr(6);
        double parsed = 0.0;
        const char *end = number.data() + number.size();
        const auto [stop, code] = std::from_chars(number.data(), end, parsed);
        if (code != std::errc() || stop != end)
            return bad(where, "\"" + text + "\" is not a constant",
                       "expected const: and a number, such as const:0.5, const:1e-5, const:inf, const:-inf");
        argument.constant = parsed;
        return {};
    }
    if (text.rfind("input:", 0) == 0 && text.find_first_of("[ +-*/%<>=!(),") == std::string::npos
        && text.size() > 6) {
        argument.value = text;
        return {};
    }
    HEDDLE_TRY(Expression integer, readExpression(value, where));
    argument.integer = std::move(integer);
    return {};
}

Result<std::vector<Expression>> PlanReader::readTriple(const Json &value, const std::string &where)
{
    if (!value.is_array() || value.empty() || value.size() > 3)
        return bad(where, "this is not a launch size",
                   "expected a list of 1 to 3 expressions such as \"ceil_div(n, BLOCK)\"");
    std::vector<Expression> sizes;
    for (std::size_t i = 0; i < value.size(); ++i) {
        HEDDLE_TRY(Expression size, readExpression(value[i], at(where, i)));
        sizes.push_back(std::move(size));
    }
    return sizes;
}

Result<void> PlanReader::readLaunch(const Json &value, const std::string &where, PlanLaunch &launch)
{
    HEDDLE_TRY(launch.grid, readTriple(memberOr(value, "grid"), where + ".grid"));
    HEDDLE_TRY(launch.block, readTriple(memberOr(value, "block"), where + ".block"));
    if (value.contains("cluster")) {
        HEDDLE_TRY(launch.cluster, readTriple(value["cluster"], where + ".cluster"));
    }
    if (value.contains("shared")) {
        HEDDLE_TRY(Expression shared, readExpression(value["shared"], where + ".shared"));
        launch.shared = std::move(shared);
    }
    const Json &cooperative = memberOr(value, "cooperative");
    if (!cooperative.is_null() && !cooperative.is_boolean())
        return bad(where + ".cooperative", "this is not true or false", "expected true or false");
    launch.isCooperative = boolOr(value, "cooperative", false);
    const Json &stream = memberOr(value, "stream");
    if (!stream.is_null()
        && (!isInt64(stream) || stream.get<std::int64_t>() < 0 || stream.get<std::int64_t>() > 7))
        return bad(where + ".stream", "this is not a stream", "expected an integer from 0 to 7");
    launch.stream = integerOr(value, "stream", 0);
    return {};
}

} // namespace heddle
