// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Trampoline.h"

#include <algorithm>
#include <optional>

namespace heddle {

namespace {

bool isNamePart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool isWritable(const Plan &plan, const std::string &buffer)
{
    if (buffer.rfind("tmp:", 0) == 0 || buffer.rfind("out:", 0) == 0)
        return true;
    return std::find(plan.updates.begin(), plan.updates.end(), buffer) != plan.updates.end();
}

/// What the checks are made from.
struct Known {
    const Plan &plan;
    const TaskLayout *layout;
};

/// The C++ element type of a buffer: the plan says it for scratch and outputs, the task for the others.
std::optional<std::string> elementOf(const Known &known, const std::string &name)
{
    for (const auto *list : {&known.plan.buffers, &known.plan.outputs})
        for (const PlanBuffer &buffer : *list)
            if (buffer.name == name)
                return std::string(dtypeCppName(buffer.dtype, PlanTarget::Cpu));
    if (known.layout == nullptr)
        return std::nullopt;
    for (const auto *list : {&known.layout->inputs, &known.layout->state})
        for (const TensorInfo &tensor : *list)
            if (tensor.name == name)
                return std::string(dtypeCppName(tensor.dtype, PlanTarget::Cpu));
    return std::nullopt;
}

std::string scalarName(PlanArgument::Kind kind)
{
    switch (kind) {
    case PlanArgument::Kind::I64: return "int64_t";
    case PlanArgument::Kind::I32: return "int32_t";
    case PlanArgument::Kind::F32: return "float";
    case PlanArgument::Kind::F64: return "double";
    case PlanArgument::Kind::Pointer: break;
    }
    return "void *";
}

/// A string literal's inside: names come from the plan and may hold any character.
std::string literalText(const std::string &text)
{
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c == '\n' || static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

std::string expectedType(const Known &known, const PlanArgument &argument)
{
    if (argument.kind != PlanArgument::Kind::Pointer)
        return scalarName(argument.kind);
    return (isWritable(known.plan, argument.buffer) ? "" : "const ")
        + elementOf(known, argument.buffer).value_or("T") + " *";
}

std::string checkOfArgument(const Known &known, const KernelStep &step, std::size_t index)
{
    const PlanArgument &argument = step.args[index];
    const std::string position = std::to_string(index);
    std::string condition;
    std::string what = "the " + scalarName(argument.kind);
    if (argument.kind != PlanArgument::Kind::Pointer) {
        condition = "takes_scalar<decltype(" + step.kernel + "), " + position + ", "
            + scalarName(argument.kind) + '>';
    } else {
        const bool writable = isWritable(known.plan, argument.buffer);
        const auto element = elementOf(known, argument.buffer);
        const std::string access = writable ? "true" : "false";
        what = (writable ? "" : "read-only ") + argument.buffer;
        if (element)
            condition = "takes_pointer<decltype(" + step.kernel + "), " + position + ", " + *element + ", "
                + access + '>';
        else
            condition = "takes_any_pointer<decltype(" + step.kernel + "), " + position + ", " + access + '>';
    }
    return "static_assert(heddle::abi::" + condition + ", \"step " + std::to_string(step.number)
        + ": argument " + position + " of " + step.kernel + " is " + literalText(what)
        + " in plan.json, so this parameter must be " + expectedType(known, argument) + "\");";
}

std::string checkOfCount(const Known &known, const KernelStep &step)
{
    std::string list;
    for (const PlanArgument &argument : step.args)
        list += (list.empty() ? "" : ", ") + expectedType(known, argument);
    return "static_assert(heddle::abi::arity<decltype(" + step.kernel + ")> == "
        + std::to_string(step.args.size()) + ", \"step " + std::to_string(step.number) + ": plan.json passes "
        + std::to_string(step.args.size()) + " arguments to " + step.kernel + ": (" + list + ")\");";
}

std::string trampoline(const Known &known, const KernelStep &step, const FileTree &files)
{
    const auto source = files.find(step.source);
    const int line = source == files.end() ? 0 : lineOfFunction(source->second, step.kernel);
    // Each check stands on a line of its own that the compiler believes to be the kernel's.
    const std::string place = line > 0 ? "#line " + std::to_string(line) + " \"src/" + step.source + "\"\n"
                                       : "#line 1 \"plan.json\"\n";
    std::string out = "\n// step " + std::to_string(step.number) + ": " + literalText(step.kernel) + '\n';
    out += place + "static_assert(heddle::abi::returns_void<decltype(" + step.kernel + ")>, \"" + step.kernel
        + " must return void\");\n";
    out += place + checkOfCount(known, step) + '\n';
    for (std::size_t i = 0; i < step.args.size(); ++i)
        out += place + checkOfArgument(known, step, i) + '\n';
    out += place + "extern \"C\" __attribute__((visibility(\"default\"))) void heddle_step_"
        + std::to_string(step.number)
        + "([[maybe_unused]] const union heddle_arg *arguments) { heddle::abi::call(" + step.kernel
        + ", arguments); }\n";
    return out;
}

} // namespace

int lineOfFunction(std::string_view source, std::string_view name)
{
    int line = 1;
    for (std::size_t i = 0; i + name.size() <= source.size(); ++i) {
        if (source[i] == '\n')
            ++line;
        if (source[i] != name.front() || source.substr(i, name.size()) != name
            || (i > 0 && isNamePart(source[i - 1])))
            continue;
        std::size_t after = i + name.size();
        while (after < source.size() && (source[after] == ' ' || source[after] == '\n'))
            ++after;
        // "void name(": a call inside an expression is preceded by something else than a word or a star.
        std::size_t before = i;
        while (before > 0 && source[before - 1] == ' ')
            --before;
        const bool hasType =
            before > 0 && ((before < i && isNamePart(source[before - 1])) || source[before - 1] == '*');
        if (hasType && after < source.size() && source[after] == '(')
            return line;
    }
    return 0;
}

FileTree generateTrampolines(const Plan &plan, const FileTree &files, const TaskLayout *layout)
{
    FileTree units;
    for (std::size_t i = 0; i < plan.sources.size(); ++i) {
        std::string text = "#include \"include/heddle_abi.h\"\n#include \"src/" + plan.sources[i] + "\"\n";
        for (const KernelStep *step : kernelSteps(plan))
            if (step->source == plan.sources[i])
                text += trampoline({plan, layout}, *step, files);
        units.emplace("heddle_unit_" + std::to_string(i) + ".cpp", std::move(text));
    }
    return units;
}

} // namespace heddle
