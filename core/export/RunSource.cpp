// SPDX-License-Identifier: Apache-2.0
#include "core/export/RunSource.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace heddle {

namespace {

const char *const preamble = R"cpp(// Made by Heddle: runs the steps of the launch plan.
#include "include/heddle_abi.h"

#include <stdlib.h>

[[maybe_unused]] static int64_t heddle_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
[[maybe_unused]] static int64_t heddle_floor_mod(int64_t a, int64_t b) { return a - heddle_floor_div(a, b) * b; }
[[maybe_unused]] static int64_t heddle_ceil_div(int64_t a, int64_t b) { return -heddle_floor_div(-a, b); }
[[maybe_unused]] static int64_t heddle_min(int64_t a, int64_t b) { return b < a ? b : a; }
[[maybe_unused]] static int64_t heddle_max(int64_t a, int64_t b) { return a < b ? b : a; }

)cpp";

class RunWriter {
public:
    RunWriter(const Plan &plan, const ResolvedPlan &resolved, const TaskLayout &layout)
        : m_plan(plan), m_resolved(resolved), m_layout(layout)
    {
    }

    Result<std::string> write();

private:
    Result<std::string> steps(const std::vector<PlanStep> &steps, const std::string &margin);
    Result<std::string> call(const KernelStep &step, const std::string &margin);
    Result<std::string> argument(const PlanArgument &argument);
    Result<std::string> floating(const PlanArgument &argument);
    Result<std::string> expression(const Expression &expression);
    std::string baseOf(std::uint32_t buffer) const;

    const Plan &m_plan;
    const ResolvedPlan &m_resolved;
    const TaskLayout &m_layout;
};

std::string doubleText(double value)
{
    if (std::isnan(value))
        return "__builtin_nan(\"\")";
    if (std::isinf(value))
        return value < 0 ? "-__builtin_inf()" : "__builtin_inf()";
    std::array<char, 64> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific).ptr;
    return std::string(digits.data(), end);
}

/// " // input:x" for a pointer whose name cannot end or continue a comment.
std::string noteOf(const PlanArgument &argument)
{
    const std::string &name = argument.buffer;
    const bool isPlain = std::all_of(
        name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '\\'; });
    return name.empty() || !isPlain ? std::string() : " // " + name;
}

std::string RunWriter::baseOf(std::uint32_t buffer) const
{
    const ResolvedBuffer &info = m_resolved.buffers[buffer];
    if (info.kind == BufferKind::Scratch)
        return "scratch[" + std::to_string(info.indexInKind) + ']';
    const std::uint32_t index = info.kind == BufferKind::Output ? buffer - m_resolved.scratchCount : buffer;
    return "pointers[" + std::to_string(index) + ']';
}

Result<std::string> RunWriter::expression(const Expression &expression)
{
    for (const std::string &name : expression.names())
        if (name.find(':') != std::string::npos)
            HEDDLE_CHECK_OK(layoutValue(m_layout, name));
    return expression.cppText([this](std::string_view name) -> std::string {
        if (name.find(':') == std::string_view::npos)
            return "v_" + std::string(name);
        return "INT64_C(" + std::to_string(*layoutValue(m_layout, name)) + ')';
    });
}

Result<std::string> RunWriter::floating(const PlanArgument &argument)
{
    if (argument.constant)
        return doubleText(*argument.constant);
    if (argument.integer) {
        HEDDLE_TRY(const std::string text, expression(*argument.integer));
        return "static_cast<double>(" + text + ')';
    }
    for (const ValueInfo &value : m_layout.values) {
        if (value.name != argument.value)
            continue;
        if (value.value.is_object()) {
            const std::string word = stringOr(value.value, "v");
            return doubleText(word == "inf" ? HUGE_VAL : word == "-inf" ? -HUGE_VAL : std::nan(""));
        }
        if (value.value.is_boolean())
            return doubleText(value.value.get<bool>() ? 1.0 : 0.0);
        return doubleText(value.value.get<double>());
    }
    return Error(Code::Internal, "a value that resolve() found is gone: " + argument.value);
}

Result<std::string> RunWriter::argument(const PlanArgument &argument)
{
    switch (argument.kind) {
    case PlanArgument::Kind::Pointer: {
        std::uint32_t index = 0;
        while (m_resolved.buffers[index].name != argument.buffer)
            ++index;
        if (!argument.offset)
            return "{.ptr = " + baseOf(index) + '}';
        HEDDLE_TRY(const std::string offset, expression(*argument.offset));
        return "{.ptr = static_cast<char *>(" + baseOf(index) + ") + " + offset + " * "
            + std::to_string(dtypeBytes(m_resolved.buffers[index].dtype)) + '}';
    }
    case PlanArgument::Kind::I64: {
        HEDDLE_TRY(const std::string value, expression(*argument.integer));
        return "{.i64 = " + value + '}';
    }
    case PlanArgument::Kind::I32: {
        HEDDLE_TRY(const std::string value, expression(*argument.integer));
        return "{.i32 = static_cast<int32_t>(" + value + ")}";
    }
    case PlanArgument::Kind::F32: {
        HEDDLE_TRY(const std::string value, floating(argument));
        return "{.f32 = static_cast<float>(" + value + ")}";
    }
    case PlanArgument::Kind::F64: {
        HEDDLE_TRY(const std::string value, floating(argument));
        return "{.f64 = " + value + '}';
    }
    }
    return Error(Code::Internal, "an argument without a kind");
}

Result<std::string> RunWriter::call(const KernelStep &step, const std::string &margin)
{
    const std::string name = "heddle_step_" + std::to_string(step.number);
    if (step.args.empty())
        return margin + name + "(nullptr); // " + step.kernel + '\n';
    std::string text =
        margin + "{ // " + step.kernel + '\n' + margin + "    const heddle_arg arguments[] = {\n";
    for (const PlanArgument &item : step.args) {
        HEDDLE_TRY(const std::string value, argument(item));
        text += margin + "        " + value + ',' + noteOf(item) + '\n';
    }
    return text + margin + "    };\n" + margin + "    " + name + "(arguments);\n" + margin + "}\n";
}

Result<std::string> RunWriter::steps(const std::vector<PlanStep> &steps, const std::string &margin)
{
    std::string text;
    for (const PlanStep &step : steps) {
        std::string inner = margin;
        if (step.when) {
            HEDDLE_TRY(const std::string condition, expression(*step.when));
            text += margin + "if (" + condition + ") {\n";
            inner += "    ";
        }
        if (step.kernel) {
            HEDDLE_TRY(const std::string body, call(*step.kernel, inner));
            text += body;
        } else {
            HEDDLE_TRY(const std::string count, expression(step.repeat->count));
            const std::string index = "v_" + step.repeat->index;
            text +=
                inner + "for (int64_t " + index + " = 0; " + index + " < " + count + "; ++" + index + ") {\n";
            HEDDLE_TRY(const std::string body, this->steps(step.repeat->steps, inner + "    "));
            text += body + inner + "}\n";
        }
        if (step.when)
            text += margin + "}\n";
    }
    return text;
}

Result<std::string> RunWriter::write()
{
    std::string text = preamble;
    for (const ResolvedStep &step : m_resolved.steps)
        text += "extern \"C\" void " + step.trampoline + "(const union heddle_arg *);\n";
    text +=
        "\nextern \"C\" __attribute__((visibility(\"default\"))) int heddle_run(void *const *pointers)\n{\n";
    for (const auto &[name, value] : m_resolved.symbols) {
        const auto symbol = m_plan.symbols.find(name);
        text += "    [[maybe_unused]] const int64_t v_" + name + " = INT64_C(" + std::to_string(value) + ");"
            + (symbol == m_plan.symbols.end() ? "" : " // " + symbol->second.text()) + '\n';
    }
    const std::uint32_t count = m_resolved.scratchCount;
    if (count > 0) {
        text += "    void *scratch[" + std::to_string(count) + "] = {};\n    int failed = 0;\n";
        for (std::uint32_t i = 0; i < count; ++i) {
            const ResolvedBuffer &buffer = m_resolved.buffers[m_resolved.firstScratch() + i];
            text += "    failed |= posix_memalign(&scratch[" + std::to_string(i) + "], 64, "
                + std::to_string(std::max<std::uint64_t>(buffer.bytes, 1)) + "); // " + buffer.name + '\n';
        }
    }
    HEDDLE_TRY(const std::string body, steps(m_plan.steps, count > 0 ? "        " : "    "));
    if (count == 0)
        return text + body + "    return 0;\n}\n";
    // free(nullptr) is allowed, so one loop ends success and failure alike.
    return text + "    if (failed == 0) {\n" + body
        + "    }\n    for (void *block : scratch)\n        free(block);\n" + "    return failed != 0;\n}\n";
}

} // namespace

Result<std::string> generateRunSource(const Plan &plan, const ResolvedPlan &resolved,
                                      const TaskLayout &layout)
{
    return RunWriter(plan, resolved, layout).write();
}

} // namespace heddle
