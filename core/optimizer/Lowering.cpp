// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Lowering.h"

#include "core/optimizer/LoweringContext.h"

#include <algorithm>
#include <map>
#include <set>

namespace heddle {

namespace {

const LoweringTable &loweringTable()
{
    static const LoweringTable table = [] {
        LoweringTable made;
        addPointwiseRules(made);
        addActivationRules(made);
        addViewRules(made);
        addReductionRules(made);
        addNormRules(made);
        return made;
    }();
    return table;
}

/// Checks of the capture that compute nothing.
bool isAssertion(const std::string &name)
{
    return name.starts_with("_assert") || name.starts_with("sym_constrain");
}

/// Walks the nodes in order and keeps what each name stands for now: in-place operators replace it.
class GraphLowering {
public:
    explicit GraphLowering(const CapturedGraph &graph) : m_graph(graph) {}
    Result<LoweredGraph> run();

private:
    Result<void> checkOperators() const;
    Result<void> lowerNode(std::size_t position);
    Result<void> write(std::size_t position, const std::string &node, ValueId value);
    Result<ValueId> valueOf(const NodeResult &result) const;
    bool isUsedLater(std::size_t position, const std::string &name) const;

    const CapturedGraph &m_graph;
    LoweredGraph m_lowered;
    std::map<std::string, Values> m_values;
    std::map<std::string, std::string> m_storage; ///< node → the node that owns its memory
    std::map<std::string, std::string> m_state;   ///< node of a state tensor → "state:…"
    std::set<std::string> m_inputs;
    std::map<std::string, ValueId> m_written; ///< "state:…" → its new value
};

bool refersTo(const GraphArgument &argument, const std::string &name)
{
    if (argument.kind == GraphArgument::Kind::Reference && argument.text == name)
        return true;
    return std::any_of(argument.items.begin(), argument.items.end(),
                       [&name](const GraphArgument &item) { return refersTo(item, name); });
}

bool GraphLowering::isUsedLater(std::size_t position, const std::string &name) const
{
    for (std::size_t i = position + 1; i < m_graph.nodes.size(); ++i) {
        for (const GraphArgument &argument : m_graph.nodes[i].args) {
            if (refersTo(argument, name))
                return true;
        }
        for (const auto &[keyword, argument] : m_graph.nodes[i].kwargs) {
            if (refersTo(argument, name))
                return true;
        }
    }
    return std::any_of(m_graph.outputs.begin(), m_graph.outputs.end(),
                       [&name](const NodeResult &output) { return output.node == name; });
}

Result<void> GraphLowering::checkOperators() const
{
    std::set<std::string> unknown;
    std::string where;
    for (const GraphNode &node : m_graph.nodes) {
        std::string name = node.op.starts_with("aten.") ? node.op.substr(5) : node.op;
        name = name.substr(0, name.find('.'));
        if (isAssertion(name))
            continue;
        if (name.ends_with("_") && !name.starts_with("_"))
            name.pop_back();
        const bool isKnown =
            node.op.starts_with("aten.") && (loweringTable().contains(name) || name == "copy");
        if (!isKnown) {
            unknown.insert(node.op.substr(0, node.op.rfind('.')));
            if (where.empty())
                where = node.module.empty() ? node.name : node.module + " (" + node.name + ")";
        }
    }
    if (unknown.empty())
        return {};
    std::string list;
    for (const std::string &name : unknown)
        list += (list.empty() ? "" : ", ") + name;
    return Error(Code::NotCovered, "not covered: " + list + ".", where,
                 "The built-in optimiser writes element-wise chains, reductions, softmax and norms; "
                 "write a candidate for the rest by hand or with another policy.");
}

/// An in-place operator gave `node` a new value.
Result<void> GraphLowering::write(std::size_t position, const std::string &node, ValueId value)
{
    const std::string owner = m_storage.contains(node) ? m_storage.at(node) : node;
    const GraphNode &at = m_graph.nodes[position];
    const auto refuse = [&at](const std::string &reason) {
        return Error(Code::NotCovered, "not covered: " + at.op + ": " + reason + ".", at.name,
                     "Use the form of the operator that returns a new tensor.");
    };
    if (m_inputs.contains(owner))
        return refuse("it changes an input in place");
    for (const auto &[other, storage] : m_storage) {
        if (storage == owner && other != node && isUsedLater(position, other))
            return refuse("another view of the tensor that it changes is used afterwards");
    }
    const auto state = m_state.find(owner);
    if (state != m_state.end()) {
        if (owner != node)
            return refuse("it changes a part of a buffer");
        m_written[state->second] = value;
    }
    m_values[node] = {value};
    return {};
}

Result<void> GraphLowering::lowerNode(std::size_t position)
{
    const GraphNode &node = m_graph.nodes[position];
    m_lowered.ir.setOrigin(node.op);
    NodeReader reader(m_lowered.ir, m_values, node);
    std::string name = reader.name();
    if (isAssertion(name))
        return {};
    const bool isInPlace = name.ends_with("_") && !name.starts_with("_");
    Values values;
    if (isInPlace)
        name.pop_back();
    if (node.op == "aten.max.other" || node.op == "aten.min.other")
        name += "imum";
    for (const TensorType &type : node.out) {
        if (elementCount(type.shape) == 0)
            return reader.notCovered("a tensor without elements");
    }
    if (name == "copy") {
        HEDDLE_TRY(const ValueId target, reader.tensor(0, "self"));
        HEDDLE_TRY(const ValueId source, reader.tensor(1, "src"));
        const Shape shape = reader.shapeOf(target);
        values = {m_lowered.ir.expand(m_lowered.ir.cast(source, reader.dtypeOf(target)), shape)};
    } else {
        GraphNode plain = node;
        plain.op = "aten." + name + (node.op.rfind('.') > 5 ? node.op.substr(node.op.rfind('.')) : "");
        NodeReader plainReader(m_lowered.ir, m_values, plain);
        HEDDLE_TRY(values, loweringTable().find(name)->second(plainReader));
        for (const auto &[target, value] : plainReader.mutations())
            HEDDLE_CHECK_OK(write(position, target, value));
    }
    for (std::size_t i = 0; i < std::min(values.size(), node.out.size()); ++i) {
        if (m_lowered.ir.at(values[i]).type.shape != node.out[i].shape)
            return reader.notCovered("its result has another shape than the capture says");
    }
    if (isInPlace && !node.args.empty())
        HEDDLE_CHECK_OK(write(position, node.args[0].text, values[0]));
    if ((isInPlace || aliasingOperators().contains(name)) && !node.args.empty()) {
        const std::string &base = node.args[0].text;
        m_storage[node.name] = m_storage.contains(base) ? m_storage.at(base) : base;
    } else {
        m_storage[node.name] = node.name;
    }
    m_values[node.name] = std::move(values);
    return {};
}

Result<ValueId> GraphLowering::valueOf(const NodeResult &result) const
{
    const auto known = m_values.find(result.node);
    if (known == m_values.end() || result.index >= known->second.size())
        return Error(Code::InvalidInput,
                     "The captured graph returns '" + result.node + "', which nothing computes.", "outputs",
                     "Capture the graph again.");
    return known->second[result.index];
}

Result<LoweredGraph> GraphLowering::run()
{
    HEDDLE_CHECK_OK(checkOperators());
    for (const GraphSource &source : m_graph.sources) {
        m_storage[source.node] = source.node;
        m_values[source.node] = {source.name.empty() ? m_lowered.ir.constant(source.data, source.type)
                                                     : m_lowered.ir.source(source.name, source.type)};
        if (source.name.starts_with("state:"))
            m_state[source.node] = source.name;
        else if (source.name.starts_with("input:"))
            m_inputs.insert(source.node);
    }
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i)
        HEDDLE_CHECK_OK(lowerNode(i));
    for (const NodeResult &output : m_graph.outputs) {
        HEDDLE_TRY(const ValueId value, valueOf(output));
        if (elementCount(m_lowered.ir.at(value).type.shape) == 0)
            return Error(Code::NotCovered, "not covered: an output without elements.", output.node,
                         "Leave that output out of the task.");
        m_lowered.outputs.push_back(value);
    }
    for (const auto &[state, result] : m_graph.updates) {
        HEDDLE_TRY(const ValueId value, valueOf(result));
        m_written[state] = value;
    }
    m_lowered.updates.assign(m_written.begin(), m_written.end());
    return std::move(m_lowered);
}

} // namespace

Result<LoweredGraph> lowerGraph(const CapturedGraph &graph) { return GraphLowering(graph).run(); }

} // namespace heddle
