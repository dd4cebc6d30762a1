// SPDX-License-Identifier: Apache-2.0
// Normalisations: y = (x - mean) / sqrt(var + eps) × weight + bias over different dimensions. Statistics
// are computed in float32 (float64 for float64) as in eager.
#include "core/optimizer/LoweringContext.h"

#include <limits>

namespace heddle {

namespace {

struct Moments {
    ValueId mean;     ///< reduced dimensions kept
    ValueId variance; ///< biased
    ValueId inverse;  ///< 1 / sqrt(variance + eps)
    ValueId centred;  ///< x - mean
};

/// `inDouble`: eager sums in float64, and running statistics show it.
Moments momentsOf(NodeReader &reader, ValueId x, const std::vector<int> &dims, double eps,
                  bool inDouble = false)
{
    const auto moments = inDouble ? momentsInOnePass(reader, x, dims, 1) : momentsInOnePass(reader, x, dims);
    if (moments)
        return {moments->mean, moments->variance,
                reader.call("rsqrt", reader.call("add", moments->variance, eps)),
                reader.call("sub", x, moments->mean)};
    const ValueId mean = keptMean(reader, x, dims);
    const ValueId centred = reader.call("sub", x, mean);
    const ValueId variance = keptMean(reader, reader.call("mul", centred, centred), dims);
    return {mean, variance, reader.call("rsqrt", reader.call("add", variance, eps)), centred};
}

/// normalised × weight + bias, where they exist, reshaped by `shape`.
ValueId affine(NodeReader &reader, ValueId normalised, std::optional<ValueId> weight,
               std::optional<ValueId> bias, const Shape &shape)
{
    const Dtype type = reader.dtypeOf(normalised);
    ValueId result = normalised;
    if (weight)
        result = reader.call("mul", result, reader.ir().cast(reader.ir().reshape(*weight, shape), type));
    if (bias)
        result = reader.call("add", result, reader.ir().cast(reader.ir().reshape(*bias, shape), type));
    return result;
}

Result<ValueId> input(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, reader.tensor(0, "input"));
    if (!isFloating(reader.dtypeOf(x)))
        return reader.notCovered("an input that is not floating point");
    return reader.ir().cast(x, computeType(reader.dtypeOf(x)));
}

/// A shape of ones but for dimension 1.
Shape channelShape(const Shape &shape)
{
    Shape result(shape.size(), 1);
    if (shape.size() > 1)
        result[1] = shape[1];
    return result;
}

std::vector<int> trailingDims(int rank, std::size_t count)
{
    std::vector<int> dims;
    for (int d = rank - static_cast<int>(count); d < rank; ++d)
        dims.push_back(d);
    return dims;
}

Result<Values> layerNorm(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const auto normalised = reader.integers(1, "normalized_shape");
    const auto dims = trailingDims(reader.rankOf(x), normalised.size());
    const Moments moments = momentsOf(reader, x, dims, reader.number(4, "eps", 1e-5));
    const ValueId result =
        affine(reader, reader.call("mul", moments.centred, moments.inverse), reader.tensorOrNone(2, "weight"),
               reader.tensorOrNone(3, "bias"), normalised);
    return Values{reader.ir().cast(result, reader.out().dtype), moments.mean, moments.inverse};
}

Result<Values> rmsNorm(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const auto normalised = reader.integers(1, "normalized_shape");
    const auto dims = trailingDims(reader.rankOf(x), normalised.size());
    double eps = std::numeric_limits<float>::epsilon();
    if (reader.out().dtype == Dtype::Float64)
        eps = std::numeric_limits<double>::epsilon();
    eps = reader.number(3, "eps", eps);
    const ValueId square = keptMean(reader, reader.call("mul", x, x), dims);
    const ValueId inverse = reader.call("rsqrt", reader.call("add", square, eps));
    const ValueId result = affine(reader, reader.call("mul", x, inverse), reader.tensorOrNone(2, "weight"),
                                  std::nullopt, normalised);
    return Values{reader.ir().cast(result, reader.out().dtype), inverse};
}

/// group_norm and native_group_norm: statistics over each group of channels of each sample.
Result<Values> groupNorm(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const bool isNative = reader.name() == "native_group_norm";
    const Shape shape = reader.shapeOf(x);
    if (shape.size() < 2)
        return reader.notCovered("an input of fewer than two dimensions");
    const std::int64_t groups = reader.integer(isNative ? 6 : 1, isNative ? "group" : "num_groups", 1);
    const Shape grouped{shape[0], groups, elementCount(shape) / (shape[0] * groups)};
    const ValueId rows = reader.ir().reshape(x, grouped);
    const Moments moments = momentsOf(reader, rows, {2}, reader.number(isNative ? 7 : 4, "eps", 1e-5));
    const ValueId normalised =
        reader.ir().reshape(reader.call("mul", moments.centred, moments.inverse), shape);
    const ValueId result = affine(reader, normalised, reader.tensorOrNone(isNative ? 1 : 2, "weight"),
                                  reader.tensorOrNone(isNative ? 2 : 3, "bias"), channelShape(shape));
    const Shape statistics{shape[0], groups};
    return Values{reader.ir().cast(result, reader.out().dtype), reader.ir().reshape(moments.mean, statistics),
                  reader.ir().reshape(moments.inverse, statistics)};
}

Result<Values> instanceNorm(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const bool usesInput = reader.flag(5, "use_input_stats", true);
    if (!usesInput || reader.tensorOrNone(3, "running_mean"))
        return reader.notCovered("running statistics of instance norm");
    const Shape shape = reader.shapeOf(x);
    if (shape.size() < 3)
        return reader.notCovered("an input of fewer than three dimensions");
    const auto dims = trailingDims(reader.rankOf(x), shape.size() - 2);
    const Moments moments = momentsOf(reader, x, dims, reader.number(7, "eps", 1e-5));
    const ValueId result =
        affine(reader, reader.call("mul", moments.centred, moments.inverse), reader.tensorOrNone(1, "weight"),
               reader.tensorOrNone(2, "bias"), channelShape(shape));
    return Values{reader.ir().cast(result, reader.out().dtype)};
}

/// Where each batch norm operator keeps its arguments.
struct BatchNormLayout {
    std::size_t training; ///< or no such argument where the operator fixes it
    std::size_t momentum;
    std::size_t eps;
    bool hasRunning = true;
    bool fixedTraining = false;
    bool isTraining = false;
};

BatchNormLayout batchNormLayout(const GraphNode &node, const std::string &name)
{
    if (name == "_native_batch_norm_legit_no_training" || name == "_batch_norm_no_update")
        return {99, 5, 6, true, true, false};
    if (name == "_native_batch_norm_legit" && node.op.ends_with(".no_stats"))
        return {3, 4, 5, false, false, false};
    return {5, 6, 7, true, false, false};
}

Result<Values> batchNorm(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const std::string name = reader.name();
    const Shape shape = reader.shapeOf(x);
    if (shape.size() < 2)
        return reader.notCovered("an input of fewer than two dimensions");
    const BatchNormLayout layout = batchNormLayout(reader.node(), name);
    const bool isTraining = !layout.fixedTraining && reader.flag(layout.training, "training", false);
    const Shape perChannel = channelShape(shape);
    const double eps = reader.number(layout.eps, "eps", 1e-5);
    const Dtype type = reader.dtypeOf(x);
    std::optional<ValueId> runningMean;
    std::optional<ValueId> runningVariance;
    if (layout.hasRunning) {
        runningMean = reader.tensorOrNone(3, "running_mean");
        runningVariance = reader.tensorOrNone(4, "running_var");
    }
    const auto weight = reader.tensorOrNone(1, "weight");
    const auto bias = reader.tensorOrNone(2, "bias");
    Ir &ir = reader.ir();
    if (!isTraining) {
        if (!runningMean || !runningVariance)
            return reader.notCovered("no running statistics outside training");
        const ValueId mean = ir.cast(ir.reshape(*runningMean, perChannel), type);
        const ValueId variance = ir.cast(ir.reshape(*runningVariance, perChannel), type);
        const ValueId inverse = reader.call("rsqrt", reader.call("add", variance, eps));
        const ValueId result = affine(reader, reader.call("mul", reader.call("sub", x, mean), inverse),
                                      weight, bias, perChannel);
        return Values{ir.cast(result, reader.out().dtype)};
    }
    std::vector<int> dims;
    for (int d = 0; d < reader.rankOf(x); ++d) {
        if (d != 1)
            dims.push_back(d);
    }
    const Moments moments = momentsOf(reader, x, dims, eps, true);
    const ValueId result =
        affine(reader, reader.call("mul", moments.centred, moments.inverse), weight, bias, perChannel);
    const Shape channels{shape[1]};
    Values values{ir.cast(result, reader.out().dtype), ir.reshape(moments.mean, channels),
                  ir.reshape(moments.inverse, channels)};
    if (!runningMean || !runningVariance)
        return values;
    // running = (1 - momentum) × running + momentum × batch, with the unbiased variance.
    const double momentum = reader.number(layout.momentum, "momentum", 0.1);
    const auto count = static_cast<double>(reducedCount(shape, dims));
    const auto blend = [&](ValueId running, ValueId batch, double scale) {
        const Dtype kept = reader.dtypeOf(running);
        const ValueId old = reader.call("mul", ir.cast(running, computeType(kept)), 1.0 - momentum);
        const ValueId fresh =
            reader.call("mul", ir.cast(ir.reshape(batch, channels), computeType(kept)), momentum * scale);
        return ir.cast(reader.call("add", old, fresh), kept);
    };
    const ValueId newMean = blend(*runningMean, moments.mean, 1.0);
    const ValueId newVariance = blend(*runningVariance, moments.variance, count / (count - 1.0));
    if (name.ends_with("functional")) {
        values.push_back(newMean);
        values.push_back(newVariance);
    } else {
        reader.mutate(3, "running_mean", newMean);
        reader.mutate(4, "running_var", newVariance);
    }
    return values;
}

} // namespace

void addNormRules(LoweringTable &table)
{
    for (const char *name : {"layer_norm", "native_layer_norm"})
        table[name] = layerNorm;
    for (const char *name : {"rms_norm", "_fused_rms_norm"})
        table[name] = rmsNorm;
    for (const char *name : {"group_norm", "native_group_norm"})
        table[name] = groupNorm;
    table["instance_norm"] = instanceNorm;
    for (const char *name : {"batch_norm", "native_batch_norm", "_native_batch_norm_legit",
                             "_native_batch_norm_legit_functional", "_native_batch_norm_legit_no_training",
                             "_batch_norm_no_update"})
        table[name] = batchNorm;
}

} // namespace heddle
