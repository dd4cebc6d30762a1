// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/optimizer/Graph.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle {

using ValueId = int;

/// The index into one dimension of the tensor that a view reads: offset + Σ stride × (index of a view's
/// dimension).
struct ViewIndex {
    std::int64_t offset = 0;
    std::vector<std::pair<int, std::int64_t>> terms; ///< (dimension of the view, stride)
};

/// One tensor as a pure function of others. Arguments of a Point all have its shape, but for literals,
/// which have none.
struct Value {
    enum class Kind : std::uint8_t {
        Source,  ///< read from a named buffer, or from a lifted constant
        Literal, ///< one number everywhere
        Point,   ///< `op` of the arguments, element by element
        Reduce,  ///< `op` over `dims` of the argument; the shape is what is left
        Index,   ///< the index along dimension dims[0]
        View,    ///< an affine re-indexing of the argument
        Reshape, ///< the same elements in the same order under another shape
    };
    Kind kind = Kind::Literal;
    TensorType type;
    std::string op;
    std::vector<ValueId> args;
    std::vector<int> dims;
    std::vector<ViewIndex> view;
    double number = 0.0;
    std::int64_t integer = 0; ///< the exact literal of an integer type
    std::string source;       ///< "input:x", "state:w", or "const:I"
    std::string origin;       ///< the captured operator that asked for it, for names and comments
};

/// Tensor expressions of a whole graph: values in topological order, equal ones merged.
/// Arithmetic in float16 and bfloat16 is written as eager does it on a CPU: computed in float32, then
/// rounded once.
class Ir {
public:
    const Value &at(ValueId id) const { return m_values[static_cast<std::size_t>(id)]; }
    int size() const { return static_cast<int>(m_values.size()); }
    const std::vector<std::vector<double>> &constants() const { return m_constants; }
    /// Whether a float32 value is widened to float64: its last bits then show in the result.
    bool widens() const { return m_widens; }
    /// Values made from now on carry this origin.
    void setOrigin(std::string origin) { m_origin = std::move(origin); }

    ValueId source(const std::string &name, const TensorType &type);
    ValueId constant(const std::vector<double> &data, const TensorType &type);
    ValueId real(double number, Dtype dtype);
    ValueId integer(std::int64_t number, Dtype dtype);
    /// Broadcasts, then applies `op`. The arguments must already have the dtypes that `op` computes in.
    ValueId point(std::string_view op, std::vector<ValueId> args, Dtype result);
    ValueId cast(ValueId value, Dtype dtype);
    /// A float32 value as float64 for accumulating: unlike with cast(), its last bits do not show in results.
    ValueId widened(ValueId value);
    ValueId reduce(std::string_view op, ValueId value, const std::vector<int> &dims, Dtype result);
    ValueId index(const Shape &shape, int dim);
    ValueId view(ValueId value, Shape shape, std::vector<ViewIndex> index);
    ValueId reshape(ValueId value, Shape shape);
    ValueId expand(ValueId value, const Shape &shape);
    ValueId permute(ValueId value, const std::vector<int> &order);
    ValueId slice(ValueId value, int dim, std::int64_t start, std::int64_t step, std::int64_t count);
    ValueId select(ValueId value, int dim, std::int64_t index);
    /// Puts dimensions of size 1 back where a reduction over `dims` of a tensor of rank `rank` took them.
    ValueId keepDims(ValueId value, const std::vector<int> &dims, int rank);

private:
    ValueId add(Value value);
    std::vector<Value> m_values;
    std::vector<std::vector<double>> m_constants;
    std::unordered_map<std::string, ValueId> m_known;
    std::string m_origin;
    bool m_widens = false;
};

bool isFloating(Dtype dtype);
bool isReducedPrecision(Dtype dtype); ///< float16 or bfloat16
/// The type that arithmetic on `dtype` computes in: float32 for the two short floats, else itself.
Dtype computeType(Dtype dtype);
/// The shape that tensors of these shapes broadcast to. They must be compatible.
Shape broadcastShape(const std::vector<Shape> &shapes);

} // namespace heddle
