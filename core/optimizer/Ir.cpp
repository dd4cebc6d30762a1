// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Ir.h"

#include <algorithm>
#include <bit>

namespace heddle {

namespace {

/// Everything that makes two values equal. The origin is left out: it only serves names.
std::string keyOf(const Value &value)
{
    std::string key = std::to_string(static_cast<int>(value.kind)) + "|"
        + std::string(dtypeName(value.type.dtype)) + "|" + value.op + "|" + value.source + "|";
    for (const std::int64_t size : value.type.shape)
        key += std::to_string(size) + ",";
    key += "|";
    for (const ValueId arg : value.args)
        key += std::to_string(arg) + ",";
    key += "|";
    for (const int dim : value.dims)
        key += std::to_string(dim) + ",";
    for (const ViewIndex &index : value.view) {
        key += ";" + std::to_string(index.offset);
        for (const auto &[dim, stride] : index.terms)
            key += "+" + std::to_string(dim) + "*" + std::to_string(stride);
    }
    key += "|" + std::to_string(std::bit_cast<std::uint64_t>(value.number)) + "|"
        + std::to_string(value.integer);
    return key;
}

std::vector<ViewIndex> identityIndex(std::size_t rank)
{
    std::vector<ViewIndex> index(rank);
    for (std::size_t d = 0; d < rank; ++d)
        index[d].terms.emplace_back(static_cast<int>(d), 1);
    return index;
}

bool isIdentity(const std::vector<ViewIndex> &index, const Shape &shape)
{
    for (std::size_t d = 0; d < index.size(); ++d) {
        const bool plain = index[d].terms.size() == 1 && index[d].terms[0].first == static_cast<int>(d)
            && index[d].terms[0].second == 1;
        if (index[d].offset != 0 || (!plain && !(shape[d] == 1 && index[d].terms.empty())))
            return false;
    }
    return true;
}

} // namespace

bool isFloating(Dtype dtype)
{
    return dtype == Dtype::Float32 || dtype == Dtype::Float64 || isReducedPrecision(dtype);
}

bool isReducedPrecision(Dtype dtype) { return dtype == Dtype::Float16 || dtype == Dtype::BFloat16; }

Dtype computeType(Dtype dtype) { return isReducedPrecision(dtype) ? Dtype::Float32 : dtype; }

Shape broadcastShape(const std::vector<Shape> &shapes)
{
    Shape result;
    for (const Shape &shape : shapes) {
        if (shape.size() > result.size())
            result.insert(result.begin(), shape.size() - result.size(), 1);
        for (std::size_t back = 1; back <= shape.size(); ++back) {
            const std::int64_t size = shape[shape.size() - back];
            if (size != 1)
                result[result.size() - back] = size;
        }
    }
    return result;
}

ValueId Ir::add(Value value)
{
    std::string key = keyOf(value);
    const auto known = m_known.find(key);
    if (known != m_known.end())
        return known->second;
    value.origin = m_origin;
    m_values.push_back(std::move(value));
    const ValueId id = static_cast<ValueId>(m_values.size()) - 1;
    m_known.emplace(std::move(key), id);
    return id;
}

ValueId Ir::source(const std::string &name, const TensorType &type)
{
    Value value;
    value.kind = Value::Kind::Source;
    value.type = type;
    value.source = name;
    return add(std::move(value));
}

ValueId Ir::constant(const std::vector<double> &data, const TensorType &type)
{
    if (data.size() == 1) {
        const ValueId one = isFloating(type.dtype) ? real(data[0], type.dtype)
                                                   : integer(static_cast<std::int64_t>(data[0]), type.dtype);
        return type.shape.empty() ? one : expand(one, type.shape);
    }
    m_constants.push_back(data);
    return source("const:" + std::to_string(m_constants.size() - 1), type);
}

ValueId Ir::real(double number, Dtype dtype)
{
    if (!isFloating(dtype))
        return integer(static_cast<std::int64_t>(number), dtype);
    Value value;
    value.type.dtype = dtype;
    value.number = number;
    return add(std::move(value));
}

ValueId Ir::integer(std::int64_t number, Dtype dtype)
{
    if (isFloating(dtype))
        return real(static_cast<double>(number), dtype);
    Value value;
    value.type.dtype = dtype;
    value.integer = dtype == Dtype::Bool ? (number != 0 ? 1 : 0) : number;
    return add(std::move(value));
}

ValueId Ir::point(std::string_view op, std::vector<ValueId> args, Dtype result)
{
    std::vector<Shape> shapes;
    for (const ValueId arg : args)
        shapes.push_back(at(arg).type.shape);
    Value value;
    value.kind = Value::Kind::Point;
    value.op = op;
    value.type = {computeType(result), broadcastShape(shapes)};
    for (ValueId &arg : args) {
        if (isReducedPrecision(at(arg).type.dtype))
            arg = cast(arg, Dtype::Float32);
        if (at(arg).kind != Value::Kind::Literal)
            arg = expand(arg, value.type.shape);
    }
    value.args = std::move(args);
    const ValueId id = add(std::move(value));
    return isReducedPrecision(result) ? cast(id, result) : id;
}

ValueId Ir::cast(ValueId id, Dtype dtype)
{
    const Value &from = at(id);
    if (from.type.dtype == dtype)
        return id;
    if (from.kind == Value::Kind::Literal) {
        if (isFloating(from.type.dtype) && dtype == Dtype::Bool)
            return integer(from.number != 0.0 ? 1 : 0, dtype);
        return isFloating(from.type.dtype) ? real(from.number, dtype) : integer(from.integer, dtype);
    }
    m_widens = m_widens || (dtype == Dtype::Float64 && from.type.dtype == Dtype::Float32);
    Value value;
    value.kind = Value::Kind::Point;
    value.op = "cast";
    value.type = {dtype, from.type.shape};
    value.args = {id};
    return add(std::move(value));
}

ValueId Ir::widened(ValueId id)
{
    const bool shows = m_widens;
    const ValueId wide = cast(id, Dtype::Float64);
    m_widens = shows;
    return wide;
}

ValueId Ir::reduce(std::string_view op, ValueId id, const std::vector<int> &dims, Dtype result)
{
    const Shape shape = at(id).type.shape;
    Value value;
    value.kind = Value::Kind::Reduce;
    value.op = op;
    value.type.dtype = result;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (std::find(dims.begin(), dims.end(), static_cast<int>(d)) == dims.end())
            value.type.shape.push_back(shape[d]);
    }
    value.dims = dims;
    std::sort(value.dims.begin(), value.dims.end());
    value.args = {id};
    return add(std::move(value));
}

ValueId Ir::index(const Shape &shape, int dim)
{
    Value value;
    value.kind = Value::Kind::Index;
    value.type = {Dtype::Int64, shape};
    value.dims = {dim};
    return add(std::move(value));
}

ValueId Ir::view(ValueId id, Shape shape, std::vector<ViewIndex> index)
{
    const Value &base = at(id);
    if (base.type.shape == shape && isIdentity(index, shape))
        return id;
    Value value;
    value.kind = Value::Kind::View;
    value.type = {base.type.dtype, std::move(shape)};
    value.args = {id};
    value.view = std::move(index);
    return add(std::move(value));
}

ValueId Ir::reshape(ValueId id, Shape shape)
{
    const Value &base = at(id);
    if (base.type.shape == shape)
        return id;
    Value value;
    value.kind = Value::Kind::Reshape;
    value.type = {base.type.dtype, std::move(shape)};
    value.args = {id};
    return add(std::move(value));
}

ValueId Ir::expand(ValueId id, const Shape &shape)
{
    const Shape from = at(id).type.shape;
    const std::size_t lead = shape.size() - from.size();
    std::vector<ViewIndex> index(from.size());
    for (std::size_t d = 0; d < from.size(); ++d) {
        if (from[d] != 1 || shape[d + lead] == 1)
            index[d].terms.emplace_back(static_cast<int>(d + lead), 1);
    }
    return view(id, shape, std::move(index));
}

ValueId Ir::permute(ValueId id, const std::vector<int> &order)
{
    const Shape from = at(id).type.shape;
    Shape shape;
    std::vector<ViewIndex> index(from.size());
    for (std::size_t d = 0; d < order.size(); ++d) {
        shape.push_back(from[static_cast<std::size_t>(order[d])]);
        index[static_cast<std::size_t>(order[d])].terms.emplace_back(static_cast<int>(d), 1);
    }
    return view(id, std::move(shape), std::move(index));
}

ValueId Ir::slice(ValueId id, int dim, std::int64_t start, std::int64_t step, std::int64_t count)
{
    Shape shape = at(id).type.shape;
    auto index = identityIndex(shape.size());
    shape[static_cast<std::size_t>(dim)] = count;
    index[static_cast<std::size_t>(dim)] = {start, {{dim, step}}};
    return view(id, std::move(shape), std::move(index));
}

ValueId Ir::select(ValueId id, int dim, std::int64_t position)
{
    const Shape from = at(id).type.shape;
    Shape shape;
    std::vector<ViewIndex> index(from.size());
    for (std::size_t d = 0; d < from.size(); ++d) {
        if (static_cast<int>(d) == dim) {
            index[d].offset = position;
        } else {
            index[d].terms.emplace_back(static_cast<int>(shape.size()), 1);
            shape.push_back(from[d]);
        }
    }
    return view(id, std::move(shape), std::move(index));
}

ValueId Ir::keepDims(ValueId id, const std::vector<int> &dims, int rank)
{
    const Shape from = at(id).type.shape;
    Shape shape;
    std::vector<ViewIndex> index(from.size());
    std::size_t next = 0;
    for (int d = 0; d < rank; ++d) {
        if (std::find(dims.begin(), dims.end(), d) != dims.end()) {
            shape.push_back(1);
        } else {
            index[next].terms.emplace_back(d, 1);
            shape.push_back(from[next++]);
        }
    }
    return view(id, std::move(shape), std::move(index));
}

} // namespace heddle
