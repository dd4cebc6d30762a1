// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/optimizer/Lowering.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

using Values = std::vector<ValueId>;

/// One captured node while it is lowered: its arguments by position or keyword, and the IR to write to.
class NodeReader {
public:
    NodeReader(Ir &ir, const std::map<std::string, Values> &known, const GraphNode &node)
        : m_ir(ir), m_known(known), m_node(node)
    {
    }

    Ir &ir() { return m_ir; }
    const GraphNode &node() const { return m_node; }
    /// The operator without "aten." and overload: "add".
    std::string name() const;
    const TensorType &out(std::size_t index = 0) const;
    bool hasOut(std::size_t index = 0) const { return index < m_node.out.size(); }

    /// The argument at `position`, or by keyword, or null.
    const GraphArgument *find(std::size_t position, std::string_view keyword) const;
    bool isTensor(std::size_t position, std::string_view keyword) const;
    /// The tensor there; NotCovered when it is missing.
    Result<ValueId> tensor(std::size_t position, std::string_view keyword);
    std::optional<ValueId> tensorOrNone(std::size_t position, std::string_view keyword);
    Result<Values> tensors(std::size_t position, std::string_view keyword);
    /// A tensor, or a number as a literal of `dtype`.
    Result<ValueId> operand(std::size_t position, std::string_view keyword, Dtype dtype);
    double number(std::size_t position, std::string_view keyword, double fallback) const;
    std::optional<double> numberOrNone(std::size_t position, std::string_view keyword) const;
    std::int64_t integer(std::size_t position, std::string_view keyword, std::int64_t fallback) const;
    bool flag(std::size_t position, std::string_view keyword, bool fallback) const;
    std::string text(std::size_t position, std::string_view keyword, std::string fallback) const;
    std::optional<Dtype> dtype(std::size_t position, std::string_view keyword) const;
    std::vector<std::int64_t> integers(std::size_t position, std::string_view keyword) const;
    /// Dimensions there, made non-negative; all of them when absent or empty.
    std::vector<int> dims(std::size_t position, std::string_view keyword, int rank) const;

    const Shape &shapeOf(ValueId value) const { return m_ir.at(value).type.shape; }
    Dtype dtypeOf(ValueId value) const { return m_ir.at(value).type.dtype; }
    int rankOf(ValueId value) const { return static_cast<int>(shapeOf(value).size()); }
    Error notCovered(const std::string &reason) const;

    /// The operator writes `value` into its argument at `position` (running statistics of a norm).
    void mutate(std::size_t position, std::string_view keyword, ValueId value);
    const std::vector<std::pair<std::string, ValueId>> &mutations() const { return m_mutations; }

    /// PyTorch's promotion of the arguments at positions 0 and 1 (tensor, zero-dimensional tensor, number).
    Result<Dtype> promoted(std::size_t first, std::size_t second);

    // Shorthands: arithmetic in the dtype of the first argument.
    ValueId call(std::string_view op, ValueId a);
    ValueId call(std::string_view op, ValueId a, ValueId b);
    ValueId call(std::string_view op, ValueId a, double b);
    ValueId compare(std::string_view op, ValueId a, ValueId b);
    /// 1 / (1 + e^-x).
    ValueId sigmoid(ValueId x);
    ValueId choose(ValueId condition, ValueId yes, ValueId no);

private:
    Ir &m_ir;
    const std::map<std::string, Values> &m_known;
    const GraphNode &m_node;
    std::vector<std::pair<std::string, ValueId>> m_mutations; ///< (node, new value)
};

using LoweringRule = Result<Values> (*)(NodeReader &);
using LoweringTable = std::map<std::string, LoweringRule, std::less<>>;

/// Each adds the operators of its family, by name() (without a trailing underscore).
void addPointwiseRules(LoweringTable &table);
void addActivationRules(LoweringTable &table);
void addViewRules(LoweringTable &table);
void addReductionRules(LoweringTable &table);
void addNormRules(LoweringTable &table);

/// Operators whose result shares the storage of their first argument.
const std::set<std::string, std::less<>> &aliasingOperators();

/// Reductions that families share; `dims` non-negative; the reduced dimensions stay with size 1.
ValueId keptSum(NodeReader &reader, ValueId value, const std::vector<int> &dims);
ValueId keptMean(NodeReader &reader, ValueId value, const std::vector<int> &dims);
std::int64_t reducedCount(const Shape &shape, const std::vector<int> &dims);

/// Mean and biased variance of float32 values, in that type.
struct MeanAndVariance {
    ValueId mean;
    ValueId variance;
};
/// Both in one pass, from the sums of x and x² in float64, where the squares are exact: their difference then
/// loses to cancellation only what float32 inputs of that mean cannot resolve either. For rows of at least
/// `fewest` elements, by default those that no second-level cache holds; nothing for shorter ones, whose second
/// pass is cheap, and for other types.
std::optional<MeanAndVariance> momentsInOnePass(NodeReader &reader, ValueId x, const std::vector<int> &dims,
                                                std::int64_t fewest = 65536);

} // namespace heddle
