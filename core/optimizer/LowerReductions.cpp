// SPDX-License-Identifier: Apache-2.0
// Reductions. Sums of floats are kept in float32 values here; how they are accumulated (in lanes, blocks
// and double) is the kernel writer's business.
#include "core/optimizer/LoweringContext.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle {

std::int64_t reducedCount(const Shape &shape, const std::vector<int> &dims)
{
    std::int64_t count = 1;
    for (const int dim : dims)
        count *= shape[static_cast<std::size_t>(dim)];
    return count;
}

namespace {

ValueId kept(NodeReader &reader, std::string_view op, ValueId value, const std::vector<int> &dims)
{
    const int rank = reader.rankOf(value);
    return reader.ir().keepDims(reader.ir().reduce(op, value, dims, reader.dtypeOf(value)), dims, rank);
}

/// Gives a kept-dimension result the shape and dtype that the capture says.
ValueId shaped(NodeReader &reader, ValueId value, std::size_t index = 0)
{
    return reader.ir().cast(reader.ir().reshape(value, reader.out(index).shape), reader.out(index).dtype);
}

/// The first index of the extreme value: the least index at which the element equals it. A NaN is the
/// extreme value of any row that holds one.
ValueId extremeIndexOf(NodeReader &reader, ValueId x, bool isMax, const std::vector<int> &dims)
{
    Ir &ir = reader.ir();
    ValueId rows = x;
    std::vector<int> along = dims;
    if (dims.size() != 1) { // over everything: the index is that of the flattened tensor
        rows = ir.reshape(x, {elementCount(reader.shapeOf(x))});
        along = {0};
    }
    const ValueId peak = kept(reader, isMax ? "max" : "min", rows, along);
    const ValueId isNaN = reader.compare("ne", rows, rows);
    const ValueId isPeak = reader.compare("or", reader.compare("eq", rows, peak), isNaN);
    const ValueId position = ir.index(reader.shapeOf(rows), along.front());
    const ValueId none = ir.integer(std::numeric_limits<std::int64_t>::max(), Dtype::Int64);
    return ir.reduce("min", ir.point("where", {isPeak, position, none}, Dtype::Int64), along, Dtype::Int64);
}

/// Where the reduced dimensions are named: overloads without them reduce everything.
std::vector<int> reducedDims(NodeReader &reader, ValueId value)
{
    const std::string &op = reader.node().op;
    if (op.ends_with(".default") && !op.ends_with("amax.default") && !op.ends_with("amin.default")
        && !op.ends_with("argmax.default") && !op.ends_with("argmin.default")
        && !op.ends_with("logsumexp.default") && !op.ends_with("count_nonzero.default"))
        return reader.dims(99, "none", reader.rankOf(value));
    return reader.dims(1, "dim", reader.rankOf(value));
}

Result<ValueId> computed(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    return reader.ir().cast(self, computeType(reader.out().dtype));
}

/// sum((x - mean)²) / max(0, n - correction) with reduced dimensions kept.
ValueId varianceOf(NodeReader &reader, ValueId x, const std::vector<int> &dims, double correction)
{
    const auto elements = static_cast<double>(reducedCount(reader.shapeOf(x), dims));
    if (const auto moments = momentsInOnePass(reader, x, dims))
        return reader.call("mul", moments->variance, elements / std::max(0.0, elements - correction));
    const ValueId centred = reader.call("sub", x, keptMean(reader, x, dims));
    const ValueId squares = keptSum(reader, reader.call("mul", centred, centred), dims);
    return reader.call("div", squares, std::max(0.0, elements - correction));
}

Result<Values> sumLike(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, computed(reader));
    const auto dims = reducedDims(reader, x);
    const std::string name = reader.name();
    if (name == "sum")
        return Values{shaped(reader, keptSum(reader, x, dims))};
    if (name == "mean")
        return Values{shaped(reader, keptMean(reader, x, dims))};
    return Values{shaped(reader, kept(reader, "prod", x, dims))};
}

Result<Values> extremes(NodeReader &reader)
{
    const std::string &op = reader.node().op;
    if (op.ends_with(".other"))
        return reader.notCovered("an overload that should have been named maximum or minimum");
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const ValueId x = reader.ir().cast(self, computeType(reader.dtypeOf(self)));
    const std::string name = reader.name();
    const bool isMax = name.ends_with("max");
    const auto dims = reducedDims(reader, x);
    const ValueId value = shaped(reader, kept(reader, isMax ? "max" : "min", x, dims));
    if (!op.ends_with(".dim") || !reader.hasOut(1))
        return Values{value};
    const ValueId index = extremeIndexOf(reader, x, isMax, dims);
    return Values{value, shaped(reader, index, 1)};
}

Result<Values> extremeIndex(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const ValueId x = reader.ir().cast(self, computeType(reader.dtypeOf(self)));
    const auto dims = reducedDims(reader, x);
    if (dims.size() != 1 && static_cast<int>(dims.size()) != reader.rankOf(x))
        return reader.notCovered("several dimensions, but not all");
    return Values{shaped(reader, extremeIndexOf(reader, x, reader.name() == "argmax", dims))};
}

Result<Values> anyAll(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const ValueId x = reader.ir().cast(self, Dtype::Bool);
    const auto dims = reducedDims(reader, x);
    return Values{shaped(reader, kept(reader, reader.name() == "any" ? "max" : "min", x, dims))};
}

Result<Values> spread(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, computed(reader));
    const std::string &op = reader.node().op;
    const bool hasDims = !op.ends_with(".default");
    const auto dims =
        hasDims ? reader.dims(1, "dim", reader.rankOf(x)) : reader.dims(99, "none", reader.rankOf(x));
    double correction = 1.0;
    if (const auto given = reader.numberOrNone(99, "correction"))
        correction = *given;
    else if (!op.ends_with("correction"))
        correction = reader.flag(hasDims ? 2 : 1, "unbiased", true) ? 1.0 : 0.0;
    const std::string name = reader.name();
    ValueId result = varianceOf(reader, x, dims, correction);
    if (name.starts_with("std"))
        result = reader.call("sqrt", result);
    Values values{shaped(reader, result)};
    if (name.ends_with("_mean"))
        values.push_back(shaped(reader, keptMean(reader, x, dims), 1));
    return values;
}

Result<Values> vectorNorm(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, computed(reader));
    const std::string name = reader.name();
    const bool isFrobenius = name == "frobenius_norm";
    const double order = isFrobenius ? 2.0 : reader.number(1, name == "norm" ? "p" : "ord", 2.0);
    const auto dims = reader.dims(isFrobenius ? 1 : 2, "dim", reader.rankOf(x));
    const ValueId size = reader.call("abs", x);
    ValueId result = x;
    if (order == 2.0) {
        result = reader.call("sqrt", keptSum(reader, reader.call("mul", x, x), dims));
    } else if (order == 1.0) {
        result = keptSum(reader, size, dims);
    } else if (std::isinf(order)) {
        result = kept(reader, order > 0 ? "max" : "min", size, dims);
    } else if (order == 0.0) {
        const ValueId isSet = reader.compare("ne", x, reader.ir().real(0.0, reader.dtypeOf(x)));
        result = keptSum(reader, reader.ir().cast(isSet, reader.dtypeOf(x)), dims);
    } else {
        result = reader.call("pow", keptSum(reader, reader.call("pow", size, order), dims), 1.0 / order);
    }
    return Values{shaped(reader, result)};
}

Result<Values> countNonzero(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const ValueId isSet = reader.ir().cast(reader.ir().cast(self, Dtype::Bool), Dtype::Int64);
    return Values{shaped(reader, keptSum(reader, isSet, reducedDims(reader, self)))};
}

Result<Values> logSumExp(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, computed(reader));
    const auto dims = reducedDims(reader, x);
    const ValueId peak = kept(reader, "max", x, dims);
    const ValueId total = keptSum(reader, reader.call("exp", reader.call("sub", x, peak)), dims);
    const ValueId result = reader.call("add", reader.call("log", total), peak);
    // An infinite maximum gives inf - inf above; the result is that maximum then.
    const ValueId edge = reader.ir().real(std::numeric_limits<double>::infinity(), reader.dtypeOf(x));
    const ValueId isInfinite = reader.compare("eq", reader.call("abs", peak), edge);
    return Values{shaped(reader, reader.choose(isInfinite, peak, result))};
}

/// softmax and log_softmax along one dimension.
Result<Values> softmax(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, computed(reader));
    const int rank = reader.rankOf(x);
    if (rank == 0)
        return reader.notCovered("a zero-dimensional tensor");
    const std::int64_t dim = reader.integer(1, "dim", -1);
    const std::vector<int> dims{static_cast<int>(dim < 0 ? dim + rank : dim)};
    const ValueId shifted = reader.call("sub", x, kept(reader, "max", x, dims));
    const ValueId exponential = reader.call("exp", shifted);
    const ValueId total = keptSum(reader, exponential, dims);
    const bool isLog = reader.name().find("log_softmax") != std::string::npos;
    const ValueId result = isLog ? reader.call("sub", shifted, reader.call("log", total))
                                 : reader.call("mul", exponential, reader.call("reciprocal", total));
    return Values{reader.ir().cast(result, reader.out().dtype)};
}

Result<Values> loss(NodeReader &reader)
{
    const Dtype type = computeType(reader.out().dtype);
    HEDDLE_TRY(const ValueId input, reader.operand(0, "self", type));
    HEDDLE_TRY(const ValueId target, reader.operand(1, "target", type));
    const ValueId difference = reader.call("sub", input, target);
    const ValueId size = reader.call("abs", difference);
    const std::string name = reader.name();
    ValueId each = size;
    if (name == "mse_loss") {
        each = reader.call("mul", difference, difference);
    } else if (name != "l1_loss") {
        // smooth_l1: 0.5 d²/beta below beta, |d| - 0.5 beta above; huber is beta times that.
        const double beta = reader.number(3, name == "huber_loss" ? "delta" : "beta", 1.0);
        if (beta <= 0.0)
            return reader.notCovered("beta of 0");
        const bool isHuber = name == "huber_loss";
        const ValueId square = reader.call("mul", reader.call("mul", difference, difference), 0.5);
        const ValueId low = isHuber ? square : reader.call("div", square, beta);
        const ValueId line = reader.call("sub", size, 0.5 * beta);
        const ValueId high = isHuber ? reader.call("mul", line, beta) : line;
        each = reader.choose(reader.compare("lt", size, reader.ir().real(beta, type)), low, high);
    }
    const std::int64_t reduction = reader.integer(2, "reduction", 1);
    std::vector<int> dims;
    for (int d = 0; d < reader.rankOf(each); ++d)
        dims.push_back(d);
    if (reduction == 1)
        each = keptMean(reader, each, dims);
    else if (reduction == 2)
        each = keptSum(reader, each, dims);
    return Values{shaped(reader, each)};
}

} // namespace

ValueId keptSum(NodeReader &reader, ValueId value, const std::vector<int> &dims)
{
    return kept(reader, "sum", value, dims);
}

ValueId keptMean(NodeReader &reader, ValueId value, const std::vector<int> &dims)
{
    const auto count = static_cast<double>(reducedCount(reader.shapeOf(value), dims));
    return reader.call("div", keptSum(reader, value, dims), count);
}

std::optional<MeanAndVariance> momentsInOnePass(NodeReader &reader, ValueId x, const std::vector<int> &dims,
                                                std::int64_t fewest)
{
    if (reader.dtypeOf(x) != Dtype::Float32 || reducedCount(reader.shapeOf(x), dims) < fewest)
        return std::nullopt;
    Ir &ir = reader.ir();
    const ValueId wide = ir.widened(x);
    const ValueId mean = keptMean(reader, wide, dims);
    const ValueId square = keptMean(reader, reader.call("mul", wide, wide), dims);
    const ValueId difference = reader.call("sub", square, reader.call("mul", mean, mean));
    return MeanAndVariance{ir.cast(mean, Dtype::Float32),
                           ir.cast(reader.call("max", difference, 0.0), Dtype::Float32)};
}

void addReductionRules(LoweringTable &table)
{
    for (const char *name : {"sum", "mean", "prod"})
        table[name] = sumLike;
    for (const char *name : {"max", "min", "amax", "amin"})
        table[name] = extremes;
    for (const char *name : {"argmax", "argmin"})
        table[name] = extremeIndex;
    for (const char *name : {"any", "all"})
        table[name] = anyAll;
    for (const char *name : {"var", "std", "var_mean", "std_mean"})
        table[name] = spread;
    for (const char *name : {"linalg_vector_norm", "norm", "frobenius_norm"})
        table[name] = vectorNorm;
    table["count_nonzero"] = countNonzero;
    table["logsumexp"] = logSumExp;
    for (const char *name : {"softmax", "_softmax", "log_softmax", "_log_softmax", "special_log_softmax"})
        table[name] = softmax;
    for (const char *name : {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
        table[name] = loss;
}

} // namespace heddle
