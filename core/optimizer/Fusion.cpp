// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Fusion.h"

#include "core/optimizer/KernelBuilder.h"
#include "core/optimizer/KernelNames.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace heddle {

namespace {

class FusionPlanner {
public:
    FusionPlanner(const LoweredGraph &graph, FusionMode mode) : m_graph(graph), m_mode(mode) {}
    Result<FusionPlan> run();

private:
    struct Group {
        std::vector<KernelRoot> roots;
        Kernel kernel;
    };
    Result<void> place(const KernelRoot &root, int depth);
    bool joinGroup(std::size_t number, const KernelRoot &root);
    BuildOutcome build(const std::vector<KernelRoot> &roots, std::size_t before) const;
    void record(const KernelRoot &root, std::size_t group);
    Result<void> checkUpdates() const;
    void dropUnreadTemporaries();
    std::string kernelName(const Kernel &kernel, std::size_t number) const;
    Error notCovered(ValueId value, const std::string &reason) const;

    const LoweredGraph &m_graph;
    FusionMode m_mode;
    std::vector<Group> m_groups;
    std::map<ValueId, std::pair<std::size_t, KernelBuffer>> m_realised; ///< value → (group, buffer)
    std::vector<KernelBuffer> m_temporaries;
};

Error FusionPlanner::notCovered(ValueId value, const std::string &reason) const
{
    const std::string &origin = m_graph.ir.at(value).origin;
    return Error(Code::NotCovered, "not covered: " + origin + ": " + reason + ".", origin,
                 "Write a candidate by hand, or split the task into smaller ones.");
}

BuildOutcome FusionPlanner::build(const std::vector<KernelRoot> &roots, std::size_t before) const
{
    std::map<ValueId, KernelBuffer> available;
    for (const auto &[value, place] : m_realised) {
        if (place.first < before)
            available.emplace(value, place.second);
    }
    KernelBuilder builder(m_graph.ir, available);
    if (m_mode == FusionMode::Separate)
        builder.separateReductions();
    return builder.build(roots);
}

void FusionPlanner::record(const KernelRoot &root, std::size_t group)
{
    if (!m_realised.contains(root.value))
        m_realised[root.value] = {group, {root.buffer, m_graph.ir.at(root.value).type}};
}

/// Whether a kernel that is to be joined reads something that the other reads too.
bool sharesReads(const Kernel &kernel, const Kernel &alone)
{
    return std::any_of(alone.expressions.begin(), alone.expressions.end(), [&](const KernelExpression &each) {
        if (each.kind != KernelExpression::Kind::Load)
            return false;
        const auto &buffers = kernel.buffers;
        return std::find(buffers.begin(), buffers.end(), alone.buffer(each.buffer)) != buffers.end();
    });
}

bool FusionPlanner::joinGroup(std::size_t number, const KernelRoot &root)
{
    std::vector<KernelRoot> roots = m_groups[number].roots;
    roots.push_back(root);
    BuildOutcome joined = build(roots, number);
    if (!joined.kernel)
        return false;
    const BuildOutcome alone = build({root}, m_groups.size());
    if (alone.kernel && !sharesReads(m_groups[number].kernel, *alone.kernel))
        return false;
    m_groups[number] = {std::move(roots), std::move(*joined.kernel)};
    record(root, number);
    return true;
}

Result<void> FusionPlanner::place(const KernelRoot &root, int depth)
{
    if (depth > 64)
        return notCovered(root.value, "its intermediates depend on each other too deeply");
    for (int round = 0; round < 256; ++round) {
        if (m_mode == FusionMode::Full) {
            for (std::size_t number = m_groups.size(); number-- > 0;) {
                if (joinGroup(number, root))
                    return {};
            }
        }
        BuildOutcome outcome = build({root}, m_groups.size());
        if (outcome.kernel) {
            record(root, m_groups.size());
            m_groups.push_back({{root}, std::move(*outcome.kernel)});
            return {};
        }
        if (!outcome.realise || *outcome.realise == root.value || m_realised.contains(*outcome.realise))
            return notCovered(root.value,
                              outcome.refusal.empty() ? "its indices cannot be written as loops"
                                                      : outcome.refusal);
        const KernelBuffer buffer{"tmp:t" + std::to_string(m_temporaries.size()),
                                  m_graph.ir.at(*outcome.realise).type};
        m_temporaries.push_back(buffer);
        HEDDLE_CHECK_OK(place({*outcome.realise, buffer.name}, depth + 1));
    }
    return notCovered(root.value, "it needs too many intermediate buffers");
}

/// A buffer that is updated may be read by its own kernel at the same element only, and by none after it.
Result<void> FusionPlanner::checkUpdates() const
{
    for (const auto &[state, value] : m_graph.updates) {
        bool isWritten = false;
        for (const Group &group : m_groups) {
            const Kernel &kernel = group.kernel;
            const KernelStore *store = nullptr;
            for (const KernelStore &each : kernel.stores) {
                if (kernel.buffer(each.buffer).name == state)
                    store = &each;
            }
            for (const KernelExpression &each : kernel.expressions) {
                if (each.kind != KernelExpression::Kind::Load || kernel.buffer(each.buffer).name != state)
                    continue;
                if (isWritten || (store && each.index != store->index))
                    return notCovered(value, "the buffer " + state + " is read after it was updated");
            }
            isWritten = isWritten || store != nullptr;
        }
    }
    return {};
}

/// A value that got a buffer for one kernel may have been inlined by all others in the end.
void FusionPlanner::dropUnreadTemporaries()
{
    std::erase_if(m_temporaries, [this](const KernelBuffer &temporary) {
        for (const Group &group : m_groups) {
            const auto &buffers = group.kernel.buffers;
            const auto place = std::find(buffers.begin(), buffers.end(), temporary);
            if (place != buffers.end() && group.kernel.reads(static_cast<int>(place - buffers.begin())))
                return false;
        }
        for (Group &group : m_groups)
            std::erase_if(group.kernel.stores, [&](const KernelStore &store) {
                return group.kernel.buffer(store.buffer) == temporary;
            });
        return true;
    });
    std::erase_if(m_groups, [](const Group &group) { return group.kernel.stores.empty(); });
}

std::string FusionPlanner::kernelName(const Kernel &kernel, std::size_t number) const
{
    // Operators in the order in which the kernel meets them, each once.
    std::vector<std::string> names;
    for (const KernelExpression &each : kernel.expressions) {
        if (each.kind != KernelExpression::Kind::Operation && each.kind != KernelExpression::Kind::Total)
            continue;
        std::string name = operatorName(each.origin);
        for (char &c : name) {
            if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
                c = '_';
        }
        if (!name.empty() && name != "to" && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
    std::string name;
    for (const std::string &each : names) {
        if (name.size() + each.size() > 40)
            break;
        name += (name.empty() ? "" : "_") + each;
    }
    if (name.empty())
        name = "copy";
    return "fused_" + name + (number == 0 ? "" : "_" + std::to_string(number));
}

Result<FusionPlan> FusionPlanner::run()
{
    FusionPlan plan;
    std::vector<KernelRoot> roots;
    for (std::size_t i = 0; i < m_graph.outputs.size(); ++i) {
        roots.push_back({m_graph.outputs[i], "out:" + std::to_string(i)});
        plan.outputs.push_back({roots.back().buffer, m_graph.ir.at(m_graph.outputs[i]).type});
    }
    for (const auto &[state, value] : m_graph.updates) {
        roots.push_back({value, state});
        plan.updates.push_back(state);
    }
    // In the order of computation, so that a later value can read an earlier one.
    std::stable_sort(roots.begin(), roots.end(),
                     [](const KernelRoot &a, const KernelRoot &b) { return a.value < b.value; });
    for (const KernelRoot &root : roots)
        HEDDLE_CHECK_OK(place(root, 0));
    HEDDLE_CHECK_OK(checkUpdates());
    dropUnreadTemporaries();
    for (std::size_t number = 0; number < m_groups.size(); ++number) {
        m_groups[number].kernel.name = kernelName(m_groups[number].kernel, number);
        m_groups[number].kernel.isPrecise = m_graph.ir.widens();
        plan.kernels.push_back(std::move(m_groups[number].kernel));
    }
    plan.temporaries = m_temporaries;
    plan.constants = m_graph.ir.constants();
    return plan;
}

std::string shapeText(const Shape &shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i ? "," : "") + std::to_string(shape[i]);
    return text + "]";
}

void printAxes(std::ostringstream &out, const Kernel &kernel, const std::vector<int> &axes)
{
    out << "(";
    for (std::size_t i = 0; i < axes.size(); ++i)
        out << (i ? " " : "") << "a" << axes[i] << "=" << kernel.extent(axes[i]);
    out << ")";
}

void printKernel(std::ostringstream &out, const Kernel &kernel)
{
    out << "kernel " << kernel.name << " outer";
    printAxes(out, kernel, kernel.outer);
    for (const auto &space : kernel.spaces) {
        out << " inner";
        printAxes(out, kernel, space);
    }
    out << "\n";
    for (int stage = 0; stage < kernel.stages; ++stage) {
        out << "  stage " << stage << ":";
        for (const KernelReduction &reduction : kernel.reductions) {
            if (reduction.stage == stage)
                out << " " << reduction.op << " of " << operatorName(reduction.origin) << ";";
        }
        for (const KernelStore &store : kernel.stores) {
            if (store.stage == stage)
                out << " store " << kernel.buffer(store.buffer).name << "[" << store.index.text() << "];";
        }
        out << "\n";
    }
    std::set<std::string> reads;
    for (const KernelExpression &each : kernel.expressions) {
        if (each.kind == KernelExpression::Kind::Load)
            reads.insert(kernel.buffer(each.buffer).name + "[" + each.index.text() + "]");
    }
    for (const std::string &read : reads)
        out << "  read " << read << "\n";
}

/// What one stage computes, such as "max of softmax, writes out:0".
std::string stageWords(const Kernel &kernel, int stage)
{
    std::string words;
    const auto add = [&words](const std::string &part) { words += (words.empty() ? "" : ", ") + part; };
    for (const KernelReduction &reduction : kernel.reductions) {
        if (reduction.stage == stage)
            add(std::string(reduction.op).substr(0, reduction.op.find('_')) + " of "
                + std::string(operatorName(reduction.origin)));
    }
    for (const KernelStore &store : kernel.stores) {
        if (store.stage == stage)
            add("writes " + kernel.buffer(store.buffer).name);
    }
    return words;
}

std::string kernelWords(const Kernel &kernel)
{
    const std::int64_t inner = kernel.spaces.empty() ? 1 : kernel.count(kernel.spaces.front());
    std::string words = kernel.name + ", "
        + (kernel.outer.empty() ? std::to_string(inner) + " elements"
                                : std::to_string(kernel.outerCount()) + " rows of " + std::to_string(inner));
    for (int stage = 0; stage < kernel.stages; ++stage)
        words += std::string(stage == 0 ? ": " : "; then ") + stageWords(kernel, stage);
    std::set<std::string> reads;
    for (const KernelExpression &each : kernel.expressions) {
        if (each.kind == KernelExpression::Kind::Load)
            reads.insert(kernel.buffer(each.buffer).name);
    }
    std::string list;
    for (const std::string &read : reads)
        list += (list.empty() ? "" : ", ") + read;
    return words + ". It reads " + (list.empty() ? "nothing" : list) + ".";
}

} // namespace

std::int64_t FusionPlan::minimalBytes() const
{
    std::set<std::string> seen;
    std::int64_t bytes = 0;
    for (const Kernel &kernel : kernels) {
        for (const KernelBuffer &buffer : kernel.buffers) {
            if (!buffer.name.starts_with("tmp:") && seen.insert(buffer.name).second)
                bytes += elementCount(buffer.type.shape) * dtypeBytes(buffer.type.dtype);
        }
    }
    return bytes;
}

std::int64_t FusionPlan::plannedBytes() const
{
    std::int64_t bytes = 0;
    for (const Kernel &kernel : kernels)
        bytes += kernel.minimalBytes();
    return bytes;
}

std::string FusionPlan::text() const
{
    std::ostringstream out;
    for (const KernelBuffer &buffer : temporaries)
        out << "buffer " << buffer.name << " " << dtypeName(buffer.type.dtype) << shapeText(buffer.type.shape)
            << "\n";
    for (const Kernel &kernel : kernels)
        printKernel(out, kernel);
    return out.str();
}

std::string FusionPlan::summary() const
{
    std::string words;
    for (const Kernel &kernel : kernels)
        words += (words.empty() ? "" : "\n") + kernelWords(kernel);
    return words;
}

Result<FusionPlan> planFusion(const LoweredGraph &graph, FusionMode mode)
{
    return FusionPlanner(graph, mode).run();
}

} // namespace heddle
