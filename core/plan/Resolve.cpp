// SPDX-License-Identifier: Apache-2.0
#include "core/plan/PlanNames.h"
#include "core/plan/Resolved.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace heddle {

namespace {

// The limits of every CUDA device since compute capability 3.0 (CUDA programming guide, "Compute
// capabilities"); more specific limits are the driver's to report.
constexpr std::int64_t maxGridX = 2147483647;
constexpr std::int64_t maxGridYZ = 65535;
constexpr std::int64_t maxBlockThreads = 1024;
constexpr std::int64_t maxBlockZ = 64;
constexpr std::int64_t maxClusterBlocks = 16;
constexpr std::int64_t maxSharedBytes = 228 * 1024;
constexpr std::int64_t maxBufferBytes = std::int64_t{1} << 50;

std::string shapeText(const std::vector<std::int64_t> &shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + ']';
}

class Resolver {
public:
    Resolver(const Plan &plan, const TaskLayout &layout) : m_plan(plan), m_layout(layout) {}
    Result<ResolvedPlan> run(const std::map<std::string, std::int64_t> &tunables);

private:
    Result<void> addBuffers();
    Result<void> addSized(const PlanBuffer &buffer, BufferKind kind, std::uint32_t index,
                          const std::string &where);
    Result<void> checkOutputs();
    Result<void> checkUpdates();
    Result<void> runSteps(const std::vector<PlanStep> &steps);
    Result<void> runRepeat(const RepeatStep &repeat);
    Result<void> call(const KernelStep &step);
    Result<ResolvedArgument> argument(const PlanArgument &argument, const std::string &where);
    Result<ResolvedArgument> pointer(const PlanArgument &argument, const std::string &where);
    Result<double> floating(const PlanArgument &argument, const std::string &where);
    Result<std::uint32_t> launch(const KernelStep &step);
    Result<void> triple(const std::vector<Expression> &sizes, const std::string &where,
                        const std::array<std::int64_t, 3> &limits, std::array<std::int64_t, 3> &out);
    Result<std::int64_t> evaluate(const Expression &expression, const std::string &where);
    Error bad(const std::string &where, std::string message, std::string next) const
    {
        return Error(Code::InvalidInput, m_step + message, "plan.json: " + where, std::move(next));
    }

    const Plan &m_plan;
    const TaskLayout &m_layout;
    ResolvedPlan m_out;
    std::map<std::string, std::uint32_t, std::less<>> m_bufferIndex;
    std::vector<std::pair<std::string, std::int64_t>> m_indices; ///< of the repeats being run
    std::string m_step;
    std::size_t m_iterations = 0;
};

Result<std::int64_t> Resolver::evaluate(const Expression &expression, const std::string &where)
{
    auto value = expression.evaluate([this](std::string_view name) -> Result<std::int64_t> {
        for (auto index = m_indices.rbegin(); index != m_indices.rend(); ++index)
            if (index->first == name)
                return index->second;
        if (const auto symbol = m_out.symbols.find(std::string(name)); symbol != m_out.symbols.end())
            return symbol->second;
        return layoutValue(m_layout, name);
    });
    if (value)
        return value;
    const Error &error = value.error();
    const Error &reason = error.cause() ? *error.cause() : error;
    std::string message = error.message();
    if (error.cause())
        message += ": " + reason.message();
    for (const auto &[name, at] : m_indices)
        message += " (" + name + " = " + std::to_string(at) + ')';
    return bad(where, std::move(message), reason.next());
}

Result<ResolvedPlan> Resolver::run(const std::map<std::string, std::int64_t> &tunables)
{
    HEDDLE_TRY(m_out.symbols, buildSymbols(m_plan, m_layout, tunables));
    m_out.target = m_plan.target;
    HEDDLE_CHECK_OK(addBuffers());
    HEDDLE_CHECK_OK(checkOutputs());
    HEDDLE_CHECK_OK(checkUpdates());
    for (const KernelStep *step : kernelSteps(m_plan))
        m_out.steps.push_back({.number = step->number,
                               .kernel = step->kernel,
                               .source = step->source,
                               .trampoline = "heddle_step_" + std::to_string(step->number)});
    HEDDLE_CHECK_OK(runSteps(m_plan.steps));
    return std::move(m_out);
}

Result<void> Resolver::addSized(const PlanBuffer &buffer, BufferKind kind, std::uint32_t index,
                                const std::string &where)
{
    ResolvedBuffer out{.name = buffer.name,
                       .kind = kind,
                       .indexInKind = index,
                       .dtype = buffer.dtype,
                       .shape = {},
                       .bytes = 0,
                       .isWritable = true};
    std::int64_t bytes = dtypeBytes(buffer.dtype);
    for (std::size_t i = 0; i < buffer.shape.size(); ++i) {
        const std::string field = where + ".shape[" + std::to_string(i) + ']';
        HEDDLE_TRY(const std::int64_t size, evaluate(buffer.shape[i], field));
        if (size < 0)
            return bad(field, buffer.name + " would have the size " + std::to_string(size),
                       "sizes are at least 0");
        out.shape.push_back(size);
        if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > maxBufferBytes)
            return bad(field, buffer.name + " would be larger than 2^50 bytes", "use smaller sizes");
    }
    out.bytes = static_cast<std::uint64_t>(bytes);
    if (kind == BufferKind::Scratch)
        m_out.scratchBytes += out.bytes;
    m_out.buffers.push_back(std::move(out));
    return {};
}

Result<void> Resolver::addBuffers()
{
    const auto addTensors = [&](const std::vector<TensorInfo> &tensors, BufferKind kind) {
        for (std::uint32_t i = 0; i < tensors.size(); ++i) {
            const TensorInfo &tensor = tensors[i];
            const bool isWritable = kind == BufferKind::State
                && std::find(m_plan.updates.begin(), m_plan.updates.end(), tensor.name)
                    != m_plan.updates.end();
            if (isWritable)
                m_out.updates.push_back(static_cast<std::uint32_t>(m_out.buffers.size()));
            m_out.buffers.push_back({.name = tensor.name,
                                     .kind = kind,
                                     .indexInKind = i,
                                     .dtype = tensor.dtype,
                                     .shape = tensor.shape,
                                     .bytes = static_cast<std::uint64_t>(tensor.bytes()),
                                     .isWritable = isWritable});
        }
    };
    addTensors(m_layout.inputs, BufferKind::Input);
    addTensors(m_layout.state, BufferKind::State);
    for (std::uint32_t i = 0; i < m_plan.buffers.size(); ++i)
        HEDDLE_CHECK_OK(
            addSized(m_plan.buffers[i], BufferKind::Scratch, i, "buffers[" + std::to_string(i) + ']'));
    for (std::uint32_t i = 0; i < m_plan.outputs.size(); ++i)
        HEDDLE_CHECK_OK(
            addSized(m_plan.outputs[i], BufferKind::Output, i, "outputs[" + std::to_string(i) + ']'));
    m_out.inputCount = static_cast<std::uint32_t>(m_layout.inputs.size());
    m_out.stateCount = static_cast<std::uint32_t>(m_layout.state.size());
    m_out.scratchCount = static_cast<std::uint32_t>(m_plan.buffers.size());
    m_out.outputCount = static_cast<std::uint32_t>(m_plan.outputs.size());
    for (std::uint32_t i = 0; i < m_out.buffers.size(); ++i)
        m_bufferIndex.emplace(m_out.buffers[i].name, i);
    return {};
}

Result<void> Resolver::checkOutputs()
{
    if (m_layout.outputs.empty())
        return {};
    if (m_layout.outputs.size() != m_out.outputCount)
        return bad("outputs",
                   "the plan has " + std::to_string(m_out.outputCount) + " outputs, the task has "
                       + std::to_string(m_layout.outputs.size()),
                   "list one output for each tensor of the task");
    for (std::uint32_t i = 0; i < m_out.outputCount; ++i) {
        const ResolvedBuffer &have = m_out.buffers[m_out.firstOutput() + i];
        const TensorInfo &want = m_layout.outputs[i];
        const std::string where = "outputs[" + std::to_string(i) + ']';
        if (have.dtype != want.dtype)
            return bad(where + ".dtype",
                       "out:" + std::to_string(i) + " is " + std::string(dtypeName(have.dtype)),
                       "the task returns " + std::string(dtypeName(want.dtype)));
        if (have.shape != want.shape)
            return bad(where + ".shape",
                       "out:" + std::to_string(i) + " has the shape " + shapeText(have.shape),
                       "the task returns " + shapeText(want.shape));
    }
    return {};
}

Result<void> Resolver::checkUpdates()
{
    for (std::size_t i = 0; i < m_plan.updates.size(); ++i) {
        const std::string where = "updates[" + std::to_string(i) + ']';
        const auto found = m_bufferIndex.find(m_plan.updates[i]);
        if (found == m_bufferIndex.end())
            return bad(where, "the task has no \"" + m_plan.updates[i] + '"',
                       "name a state tensor of the task");
        const auto &known = m_layout.updates;
        if (!m_layout.outputs.empty()
            && std::find(known.begin(), known.end(), m_plan.updates[i]) == known.end())
            return bad(where, "the task's forward() does not change \"" + m_plan.updates[i] + '"',
                       known.empty() ? "remove it from \"updates\"" : "it changes " + joined(known));
    }
    for (const std::string &name : m_layout.updates)
        if (std::find(m_plan.updates.begin(), m_plan.updates.end(), name) == m_plan.updates.end())
            return bad("updates", "the task's forward() changes \"" + name + "\", the plan does not",
                       "list it under \"updates\" and write it in a step");
    return {};
}

Result<void> Resolver::runSteps(const std::vector<PlanStep> &steps)
{
    for (const PlanStep &step : steps) {
        if (step.when) {
            HEDDLE_TRY(
                const std::int64_t isWanted,
                evaluate(*step.when, step.kernel ? step.kernel->where + ".when" : "steps (repeat).when"));
            if (isWanted == 0)
                continue;
        }
        if (step.kernel)
            HEDDLE_CHECK_OK(call(*step.kernel));
        else
            HEDDLE_CHECK_OK(runRepeat(*step.repeat));
        m_step.clear();
    }
    return {};
}

Result<void> Resolver::runRepeat(const RepeatStep &repeat)
{
    const std::string where = "steps (repeat over " + repeat.index + ").count";
    HEDDLE_TRY(const std::int64_t count, evaluate(repeat.count, where));
    if (count < 0)
        return bad(where, "the count is " + std::to_string(count), "counts are at least 0");
    if (count > static_cast<std::int64_t>(maxCallsPerPlan))
        return bad(where, "the count is " + std::to_string(count),
                   "at most 262144; loop inside the kernel instead");
    for (std::int64_t i = 0; i < count; ++i) {
        // Bounds nested repeats whose steps are all left out by `when` as well.
        if (++m_iterations > maxCallsPerPlan)
            return bad(where, "the repeats of the plan run more than 262144 times",
                       "loop inside the kernel instead");
        m_indices.emplace_back(repeat.index, i);
        auto done = runSteps(repeat.steps);
        m_indices.pop_back();
        if (!done)
            return done;
    }
    return {};
}

Result<void> Resolver::call(const KernelStep &step)
{
    m_step = "step " + std::to_string(step.number) + " (" + step.kernel + "): ";
    if (m_out.calls.size() >= maxCallsPerPlan)
        return bad(step.where, "the plan makes more than 262144 calls", "loop inside the kernel instead");
    ResolvedCall call{.step = step.number,
                      .firstArgument = static_cast<std::uint32_t>(m_out.arguments.size()),
                      .argumentCount = static_cast<std::uint32_t>(step.args.size()),
                      .launch = 0};
    for (std::size_t i = 0; i < step.args.size(); ++i) {
        HEDDLE_TRY(const ResolvedArgument value,
                   argument(step.args[i], step.where + ".args[" + std::to_string(i) + ']'));
        m_out.arguments.push_back(value);
    }
    if (m_plan.target == PlanTarget::Cuda) {
        HEDDLE_TRY(call.launch, launch(step));
    }
    m_out.maxArguments = std::max(m_out.maxArguments, call.argumentCount);
    m_out.calls.push_back(call);
    return {};
}

Result<ResolvedArgument> Resolver::pointer(const PlanArgument &argument, const std::string &where)
{
    const auto found = m_bufferIndex.find(argument.buffer);
    if (found == m_bufferIndex.end()) {
        std::vector<std::string> known;
        for (const ResolvedBuffer &buffer : m_out.buffers)
            known.push_back(buffer.name);
        return bad(where + ".ptr", "there is no tensor \"" + argument.buffer + '"',
                   "there are " + joined(known));
    }
    const ResolvedBuffer &buffer = m_out.buffers[found->second];
    ResolvedArgument out;
    out.buffer = found->second;
    out.value.i64 = 0;
    if (!argument.offset)
        return out;
    HEDDLE_TRY(const std::int64_t offset, evaluate(*argument.offset, where + ".offset"));
    const std::int64_t size = dtypeBytes(buffer.dtype);
    const std::int64_t elements = static_cast<std::int64_t>(buffer.bytes) / size;
    if (offset < 0 || offset > elements)
        return bad(where + ".offset", "the offset " + std::to_string(offset) + " leaves " + buffer.name,
                   "expected 0 to " + std::to_string(elements) + " elements");
    out.value.i64 = offset * size;
    return out;
}

Result<double> Resolver::floating(const PlanArgument &argument, const std::string &where)
{
    if (argument.constant)
        return *argument.constant;
    if (argument.integer) {
        HEDDLE_TRY(const std::int64_t value, evaluate(*argument.integer, where));
        return static_cast<double>(value);
    }
    for (const ValueInfo &value : m_layout.values) {
        if (value.name != argument.value)
            continue;
        // Infinities and NaN travel as {"t": "float", "v": "inf"} (oracle-protocol.md).
        const std::string word = stringOr(value.value, "v");
        if (value.value.is_object() && stringOr(value.value, "t") == "float") {
            constexpr double infinity = std::numeric_limits<double>::infinity();
            return word == "inf" ? infinity
                : word == "-inf" ? -infinity
                                 : std::numeric_limits<double>::quiet_NaN();
        }
        if (value.value.is_boolean())
            return value.value.get<bool>() ? 1.0 : 0.0;
        if (value.value.is_number())
            return value.value.get<double>();
        return bad(where, argument.value + " is not a number: " + compactText(value.value), "pass a number");
    }
    return bad(where, "the task has no value \"" + argument.value + '"',
               "expected a non-tensor input of forward(), or const:NUMBER");
}

Result<ResolvedArgument> Resolver::argument(const PlanArgument &argument, const std::string &where)
{
    ResolvedArgument out;
    switch (argument.kind) {
    case PlanArgument::Kind::Pointer: return pointer(argument, where);
    case PlanArgument::Kind::I64: {
        HEDDLE_TRY(out.value.i64, evaluate(*argument.integer, where + ".i64"));
        return out;
    }
    case PlanArgument::Kind::I32: {
        HEDDLE_TRY(const std::int64_t value, evaluate(*argument.integer, where + ".i32"));
        if (value < std::numeric_limits<std::int32_t>::min()
            || value > std::numeric_limits<std::int32_t>::max())
            return bad(where + ".i32", std::to_string(value) + " does not fit into 32 bits",
                       "pass it as i64");
        out.value.i32 = static_cast<std::int32_t>(value);
        return out;
    }
    case PlanArgument::Kind::F32: {
        HEDDLE_TRY(const double value, floating(argument, where + ".f32"));
        out.value.f32 = static_cast<float>(value);
        return out;
    }
    case PlanArgument::Kind::F64: {
        HEDDLE_TRY(out.value.f64, floating(argument, where + ".f64"));
        return out;
    }
    }
    return Error(Code::Internal, "an argument without a kind");
}

Result<void> Resolver::triple(const std::vector<Expression> &sizes, const std::string &where,
                              const std::array<std::int64_t, 3> &limits, std::array<std::int64_t, 3> &out)
{
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::string field = where + '[' + std::to_string(i) + ']';
        HEDDLE_TRY(out[i], evaluate(sizes[i], field));
        if (out[i] < 1 || out[i] > limits[i])
            return bad(field, "the launch size is " + std::to_string(out[i]),
                       "expected 1 to " + std::to_string(limits[i])
                           + "; leave an empty launch out with \"when\"");
    }
    return {};
}

Result<std::uint32_t> Resolver::launch(const KernelStep &step)
{
    ResolvedLaunch out;
    HEDDLE_CHECK_OK(
        triple(step.launch.grid, step.where + ".grid", {maxGridX, maxGridYZ, maxGridYZ}, out.grid));
    HEDDLE_CHECK_OK(triple(step.launch.block, step.where + ".block",
                           {maxBlockThreads, maxBlockThreads, maxBlockZ}, out.block));
    if (out.block[0] * out.block[1] * out.block[2] > maxBlockThreads)
        return bad(step.where + ".block",
                   "the block has " + shapeText({out.block.begin(), out.block.end()}) + " threads",
                   "at most 1024 in all");
    HEDDLE_CHECK_OK(triple(step.launch.cluster, step.where + ".cluster",
                           {maxClusterBlocks, maxClusterBlocks, maxClusterBlocks}, out.cluster));
    if (step.launch.shared) {
        HEDDLE_TRY(out.sharedBytes, evaluate(*step.launch.shared, step.where + ".shared"));
        if (out.sharedBytes < 0 || out.sharedBytes > maxSharedBytes)
            return bad(step.where + ".shared",
                       "the dynamic shared memory is " + std::to_string(out.sharedBytes) + " bytes",
                       "expected 0 to " + std::to_string(maxSharedBytes));
    }
    out.isCooperative = step.launch.isCooperative;
    out.stream = step.launch.stream;
    m_out.launches.push_back(out);
    return static_cast<std::uint32_t>(m_out.launches.size() - 1);
}

} // namespace

Result<ResolvedPlan> resolve(const Plan &plan, const TaskLayout &layout,
                             const std::map<std::string, std::int64_t> &tunables)
{
    return Resolver(plan, layout).run(tunables);
}

} // namespace heddle
