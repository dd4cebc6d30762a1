// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Graph.h"

#include <cmath>
#include <limits>

namespace heddle {

namespace {

Error malformed(const std::string &where, const std::string &expected)
{
    return Error(Code::InvalidInput, "The captured graph is malformed: expected " + expected + ".", where,
                 "Capture the graph again; docs/architecture/graph.md describes it.");
}

Result<TensorType> typeFromJson(const Json &value, const std::string &where)
{
    TensorType type;
    const auto dtype = dtypeFromName(stringOr(value, "dtype"));
    if (!dtype) {
        return Error(Code::NotCovered,
                     "The graph has a tensor of dtype '" + stringOr(value, "dtype", "none") + "'.", where,
                     "Keep that tensor out of the optimised module.");
    }
    type.dtype = *dtype;
    const Json &shape = memberOr(value, "shape");
    if (!shape.is_array())
        return malformed(where + ".shape", "a list of sizes");
    for (const Json &size : shape) {
        if (!size.is_number_integer() || size.get<std::int64_t>() < 0)
            return malformed(where + ".shape", "sizes that are integers of at least 0");
        type.shape.push_back(size.get<std::int64_t>());
    }
    return type;
}

Result<GraphArgument> argumentFromJson(const Json &value, const std::string &where)
{
    using Kind = GraphArgument::Kind;
    GraphArgument argument;
    if (value.is_null())
        return argument;
    if (value.is_boolean()) {
        argument.kind = Kind::Boolean;
        argument.integer = value.get<bool>() ? 1 : 0;
        argument.real = static_cast<double>(argument.integer);
    } else if (value.is_number_integer()) {
        argument.kind = Kind::Integer;
        argument.integer = value.get<std::int64_t>();
        argument.real = static_cast<double>(argument.integer);
    } else if (value.is_number()) {
        argument.kind = Kind::Real;
        argument.real = value.get<double>();
    } else if (value.is_string()) {
        argument.kind = Kind::String;
        argument.text = value.get<std::string>();
    } else if (value.is_array()) {
        argument.kind = Kind::List;
        for (const Json &item : value) {
            HEDDLE_TRY(auto parsed, argumentFromJson(item, where));
            argument.items.push_back(std::move(parsed));
        }
    } else if (value.contains("ref")) {
        argument.kind = Kind::Reference;
        argument.text = stringOr(value, "ref");
        argument.index = static_cast<std::size_t>(integerOr(value, "index", 0));
    } else if (value.contains("dtype")) {
        argument.kind = Kind::Type;
        argument.text = stringOr(value, "dtype");
    } else if (value.contains("inf")) {
        argument.kind = Kind::Real;
        argument.real = std::copysign(std::numeric_limits<double>::infinity(), numberOr(value, "inf", 1.0));
    } else if (value.contains("nan")) {
        argument.kind = Kind::Real;
        argument.real = std::numeric_limits<double>::quiet_NaN();
    } else {
        return malformed(where, "a reference, a number, a string, a list or null");
    }
    return argument;
}

Result<NodeResult> resultFromJson(const Json &value, const std::string &where)
{
    if (value.is_string())
        return NodeResult{value.get<std::string>(), 0};
    const Json &pair = memberOr(value, "getitem");
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_number_integer())
        return NodeResult{pair[0].get<std::string>(), pair[1].get<std::size_t>()};
    return malformed(where, "a node's name or {\"getitem\": [name, index]}");
}

Result<void> readSources(const Json &list, const std::string &member, std::vector<GraphSource> &sources)
{
    if (!list.is_array())
        return {};
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string where = member + "[" + std::to_string(i) + "]";
        HEDDLE_TRY(auto type, typeFromJson(list[i], where));
        GraphSource source{stringOr(list[i], "node"), stringOr(list[i], "name"), std::move(type), {}};
        if (source.node.empty())
            return malformed(where, "the name of a node");
        if (member == "constants") {
            source.name.clear();
            for (const Json &number : memberOr(list[i], "data")) {
                HEDDLE_TRY(const auto parsed, argumentFromJson(number, where + ".data"));
                source.data.push_back(parsed.real);
            }
            if (static_cast<std::int64_t>(source.data.size()) != elementCount(source.type.shape))
                return malformed(where + ".data", "one number for each element");
        } else if (source.name.empty()) {
            return malformed(where + ".name", "a name such as \"input:x\"");
        }
        sources.push_back(std::move(source));
    }
    return {};
}

Result<GraphNode> nodeFromJson(const Json &value, const std::string &where)
{
    GraphNode node;
    node.name = stringOr(value, "name");
    node.op = stringOr(value, "op");
    node.module = stringOr(value, "module");
    if (node.name.empty() || node.op.empty())
        return malformed(where, "a node with \"name\" and \"op\"");
    for (const Json &item : memberOr(value, "args")) {
        HEDDLE_TRY(auto argument, argumentFromJson(item, where + ".args"));
        node.args.push_back(std::move(argument));
    }
    const Json &kwargs = memberOr(value, "kwargs");
    if (kwargs.is_object()) {
        for (const auto &[key, item] : kwargs.items()) {
            HEDDLE_TRY(auto argument, argumentFromJson(item, where + ".kwargs." + key));
            node.kwargs.emplace(key, std::move(argument));
        }
    }
    const Json &out = memberOr(value, "out");
    if (out.is_array()) {
        for (const Json &item : out) {
            if (item.is_null()) { // a result that this call does not make
                node.out.emplace_back();
                continue;
            }
            HEDDLE_TRY(auto type, typeFromJson(item, where + ".out"));
            node.out.push_back(std::move(type));
        }
    } else if (out.is_object()) {
        HEDDLE_TRY(auto type, typeFromJson(out, where + ".out"));
        node.out.push_back(std::move(type));
    }
    return node;
}

} // namespace

std::int64_t elementCount(const Shape &shape)
{
    std::int64_t count = 1;
    for (const std::int64_t size : shape)
        count *= size;
    return count;
}

bool GraphArgument::isNumber() const
{
    return kind == Kind::Integer || kind == Kind::Real || kind == Kind::Boolean;
}

Result<CapturedGraph> graphFromJson(const Json &value)
{
    CapturedGraph graph;
    if (!value.is_object() || !memberOr(value, "nodes").is_array())
        return malformed("nodes", "a list of nodes");
    for (const std::string member : {"inputs", "state", "constants"})
        HEDDLE_CHECK_OK(readSources(memberOr(value, member), member, graph.sources));
    const Json &nodes = memberOr(value, "nodes");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        HEDDLE_TRY(auto node, nodeFromJson(nodes[i], "nodes[" + std::to_string(i) + "]"));
        graph.nodes.push_back(std::move(node));
    }
    for (const Json &item : memberOr(value, "outputs")) {
        HEDDLE_TRY(auto result, resultFromJson(item, "outputs"));
        graph.outputs.push_back(std::move(result));
    }
    if (graph.outputs.empty())
        return malformed("outputs", "at least one output");
    for (const Json &item : memberOr(value, "updates")) {
        HEDDLE_TRY(auto result, resultFromJson(memberOr(item, "node"), "updates"));
        result.index = static_cast<std::size_t>(integerOr(item, "index", 0));
        graph.updates.emplace_back(stringOr(item, "state"), std::move(result));
    }
    return graph;
}

} // namespace heddle
