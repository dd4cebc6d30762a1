// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/LoweringContext.h"

#include <algorithm>

namespace heddle {

namespace {

/// Rank of a dtype for promotion: category first (bool, integer, float), then width.
int promotionRank(Dtype dtype)
{
    switch (dtype) {
    case Dtype::Bool: return 0;
    case Dtype::UInt8: return 10;
    case Dtype::Int8: return 11;
    case Dtype::Int16: return 12;
    case Dtype::Int32: return 13;
    case Dtype::Int64: return 14;
    case Dtype::Float16: return 20;
    case Dtype::BFloat16: return 21;
    case Dtype::Float32: return 22;
    case Dtype::Float64: return 23;
    }
    return 0;
}

int category(Dtype dtype) { return promotionRank(dtype) / 10; }

Dtype promoteTwo(Dtype a, Dtype b)
{
    // The two pairs where neither side holds the other.
    if ((a == Dtype::UInt8 && b == Dtype::Int8) || (a == Dtype::Int8 && b == Dtype::UInt8))
        return Dtype::Int16;
    if (a != b && isReducedPrecision(a) && isReducedPrecision(b))
        return Dtype::Float32;
    return promotionRank(a) >= promotionRank(b) ? a : b;
}

} // namespace

std::string NodeReader::name() const
{
    std::string name = m_node.op;
    if (name.starts_with("aten."))
        name.erase(0, 5);
    return name.substr(0, name.find('.'));
}

const TensorType &NodeReader::out(std::size_t index) const
{
    static const TensorType none;
    return index < m_node.out.size() ? m_node.out[index] : none;
}

const GraphArgument *NodeReader::find(std::size_t position, std::string_view keyword) const
{
    const GraphArgument *found = nullptr;
    if (position < m_node.args.size())
        found = &m_node.args[position];
    const auto named = m_node.kwargs.find(std::string(keyword));
    if (named != m_node.kwargs.end())
        found = &named->second;
    return found && found->kind != GraphArgument::Kind::None ? found : nullptr;
}

bool NodeReader::isTensor(std::size_t position, std::string_view keyword) const
{
    const GraphArgument *argument = find(position, keyword);
    return argument && argument->kind == GraphArgument::Kind::Reference;
}

std::optional<ValueId> NodeReader::tensorOrNone(std::size_t position, std::string_view keyword)
{
    const GraphArgument *argument = find(position, keyword);
    if (!argument || argument->kind != GraphArgument::Kind::Reference)
        return std::nullopt;
    const auto known = m_known.find(argument->text);
    if (known == m_known.end() || argument->index >= known->second.size())
        return std::nullopt;
    const ValueId id = known->second[argument->index];
    return id < 0 ? std::nullopt : std::optional(id);
}

Result<ValueId> NodeReader::tensor(std::size_t position, std::string_view keyword)
{
    const auto found = tensorOrNone(position, keyword);
    if (!found)
        return notCovered("argument '" + std::string(keyword) + "' is not a tensor that could be computed");
    return *found;
}

Result<Values> NodeReader::tensors(std::size_t position, std::string_view keyword)
{
    const GraphArgument *argument = find(position, keyword);
    if (!argument || argument->kind != GraphArgument::Kind::List)
        return notCovered("argument '" + std::string(keyword) + "' is not a list of tensors");
    Values values;
    for (const GraphArgument &item : argument->items) {
        const auto known = m_known.find(item.text);
        if (item.kind != GraphArgument::Kind::Reference || known == m_known.end()
            || item.index >= known->second.size() || known->second[item.index] < 0)
            return notCovered("argument '" + std::string(keyword) + "' holds something other than tensors");
        values.push_back(known->second[item.index]);
    }
    return values;
}

Result<ValueId> NodeReader::operand(std::size_t position, std::string_view keyword, Dtype dtype)
{
    const GraphArgument *argument = find(position, keyword);
    if (argument && argument->isNumber()) {
        return argument->kind == GraphArgument::Kind::Real ? m_ir.real(argument->real, dtype)
                                                           : m_ir.integer(argument->integer, dtype);
    }
    HEDDLE_TRY(const ValueId value, tensor(position, keyword));
    return m_ir.cast(value, dtype);
}

std::optional<double> NodeReader::numberOrNone(std::size_t position, std::string_view keyword) const
{
    const GraphArgument *argument = find(position, keyword);
    return argument && argument->isNumber() ? std::optional(argument->real) : std::nullopt;
}

double NodeReader::number(std::size_t position, std::string_view keyword, double fallback) const
{
    return numberOrNone(position, keyword).value_or(fallback);
}

std::int64_t NodeReader::integer(std::size_t position, std::string_view keyword, std::int64_t fallback) const
{
    const GraphArgument *argument = find(position, keyword);
    return argument && argument->isNumber() ? static_cast<std::int64_t>(argument->real) : fallback;
}

bool NodeReader::flag(std::size_t position, std::string_view keyword, bool fallback) const
{
    return integer(position, keyword, fallback ? 1 : 0) != 0;
}

std::string NodeReader::text(std::size_t position, std::string_view keyword, std::string fallback) const
{
    const GraphArgument *argument = find(position, keyword);
    return argument && argument->kind == GraphArgument::Kind::String ? argument->text : std::move(fallback);
}

std::optional<Dtype> NodeReader::dtype(std::size_t position, std::string_view keyword) const
{
    const GraphArgument *argument = find(position, keyword);
    if (!argument || argument->kind != GraphArgument::Kind::Type)
        return std::nullopt;
    return dtypeFromName(argument->text);
}

std::vector<std::int64_t> NodeReader::integers(std::size_t position, std::string_view keyword) const
{
    std::vector<std::int64_t> result;
    const GraphArgument *argument = find(position, keyword);
    if (!argument)
        return result;
    if (argument->isNumber())
        result.push_back(argument->integer);
    for (const GraphArgument &item : argument->items)
        result.push_back(item.integer);
    return result;
}

std::vector<int> NodeReader::dims(std::size_t position, std::string_view keyword, int rank) const
{
    std::vector<int> result;
    for (const std::int64_t dim : integers(position, keyword))
        result.push_back(static_cast<int>(dim < 0 ? dim + rank : dim));
    if (result.empty()) {
        for (int d = 0; d < rank; ++d)
            result.push_back(d);
    }
    std::erase_if(result, [rank](int dim) { return dim < 0 || dim >= rank; });
    std::sort(result.begin(), result.end());
    return result;
}

Error NodeReader::notCovered(const std::string &reason) const
{
    return Error(Code::NotCovered, "not covered: " + m_node.op + ": " + reason + ".",
                 m_node.module.empty() ? m_node.name : m_node.module + " (" + m_node.name + ")",
                 "Write a candidate by hand, or take that operator out of the task.");
}

void NodeReader::mutate(std::size_t position, std::string_view keyword, ValueId value)
{
    const GraphArgument *argument = find(position, keyword);
    if (argument && argument->kind == GraphArgument::Kind::Reference)
        m_mutations.emplace_back(argument->text, value);
}

Result<Dtype> NodeReader::promoted(std::size_t first, std::size_t second)
{
    // Tensors with dimensions outrank zero-dimensional ones, which outrank numbers; a lower kind only
    // matters where its category (bool, integer, float) is higher.
    std::optional<Dtype> byKind[3];
    for (const std::size_t position : {first, second}) {
        Dtype dtype = Dtype::Float32;
        std::size_t kind = 2;
        if (const auto value = tensorOrNone(position, position == first ? "self" : "other")) {
            dtype = dtypeOf(*value);
            kind = rankOf(*value) > 0 ? 0 : 1;
        } else if (const GraphArgument *argument = find(position, position == first ? "self" : "other");
                   argument && argument->isNumber()) {
            dtype = argument->kind == GraphArgument::Kind::Real  ? Dtype::Float32
                : argument->kind == GraphArgument::Kind::Boolean ? Dtype::Bool
                                                                 : Dtype::Int64;
        } else {
            return notCovered("an operand is neither a tensor nor a number");
        }
        byKind[kind] = byKind[kind] ? promoteTwo(*byKind[kind], dtype) : dtype;
    }
    std::optional<Dtype> result;
    for (const auto &candidate : byKind) {
        if (candidate && (!result || category(*candidate) > category(*result)))
            result = candidate;
    }
    return *result;
}

ValueId NodeReader::call(std::string_view op, ValueId a) { return m_ir.point(op, {a}, dtypeOf(a)); }

ValueId NodeReader::call(std::string_view op, ValueId a, ValueId b)
{
    return m_ir.point(op, {a, b}, dtypeOf(a));
}

ValueId NodeReader::call(std::string_view op, ValueId a, double b)
{
    return call(op, a, m_ir.real(b, dtypeOf(a)));
}

ValueId NodeReader::compare(std::string_view op, ValueId a, ValueId b)
{
    return m_ir.point(op, {a, b}, Dtype::Bool);
}

ValueId NodeReader::sigmoid(ValueId x)
{
    return call(dtypeOf(x) == Dtype::Float32 ? "sigmoid_flush" : "sigmoid", x);
}

ValueId NodeReader::choose(ValueId condition, ValueId yes, ValueId no)
{
    return m_ir.point("where", {condition, yes, no}, dtypeOf(yes));
}

} // namespace heddle
