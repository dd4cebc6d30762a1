// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/json/Json.h"
#include "core/plan/Dtype.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

using Shape = std::vector<std::int64_t>;

/// Product of the shape; 1 for a scalar.
std::int64_t elementCount(const Shape &shape);

struct TensorType {
    Dtype dtype = Dtype::Float32;
    Shape shape;
};

/// One argument of a captured node (ARG of docs/architecture/graph.md).
struct GraphArgument {
    enum class Kind : std::uint8_t { None, Reference, Integer, Real, Boolean, String, Type, List };
    Kind kind = Kind::None;
    std::string text;                 ///< Reference: the node; String; Type: the dtype's word
    std::size_t index = 0;            ///< Reference: which result
    std::int64_t integer = 0;         ///< Integer, Boolean
    double real = 0.0;                ///< Real, and Integer as a double
    std::vector<GraphArgument> items; ///< List

    bool isNumber() const;
};

struct GraphNode {
    std::string name;
    std::string op;
    std::vector<GraphArgument> args;
    std::map<std::string, GraphArgument> kwargs;
    std::vector<TensorType> out;
    std::string module;
};

/// A tensor that exists before the first node: an input, a parameter, a buffer or a lifted constant.
struct GraphSource {
    std::string node;
    std::string name; ///< "input:x", "state:fc.weight"; empty for a constant
    TensorType type;
    std::vector<double> data; ///< constants only
};

struct NodeResult {
    std::string node;
    std::size_t index = 0;
};

/// The captured graph as typed values. Immutable plain data.
struct CapturedGraph {
    std::vector<GraphSource> sources;
    std::vector<GraphNode> nodes;
    std::vector<NodeResult> outputs;
    std::vector<std::pair<std::string, NodeResult>> updates; ///< "state:…" and its new value
};

/// Reads docs/architecture/graph.md. Errors: InvalidInput with the member at fault.
Result<CapturedGraph> graphFromJson(const Json &value);

} // namespace heddle
