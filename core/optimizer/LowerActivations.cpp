// SPDX-License-Identifier: Apache-2.0
// Activation functions, written with the formulas of PyTorch's documentation. Short floats are computed
// in float32 and rounded once, as eager's kernels do.
#include "core/optimizer/LoweringContext.h"

#include <numbers>

namespace heddle {

namespace {

/// Reads the input in the type that the function is computed in.
Result<ValueId> input(NodeReader &reader)
{
    if (!isFloating(reader.out().dtype))
        return reader.operand(0, "self", reader.out().dtype);
    return reader.operand(0, "self", computeType(reader.out().dtype));
}

Result<Values> rounded(NodeReader &reader, ValueId value)
{
    return Values{reader.ir().cast(value, reader.out().dtype)};
}

ValueId zeroLike(NodeReader &reader, ValueId x) { return reader.ir().real(0.0, reader.dtypeOf(x)); }

ValueId softplusOf(NodeReader &reader, ValueId x, double beta, double threshold)
{
    const ValueId scaled = beta == 1.0 ? x : reader.call("mul", x, beta);
    const ValueId soft = reader.call("log1p", reader.call("exp", scaled));
    const ValueId result = beta == 1.0 ? soft : reader.call("div", soft, beta);
    // Above the threshold the function is the identity to rounding, and exp may overflow.
    return reader.choose(reader.compare("gt", scaled, reader.ir().real(threshold, reader.dtypeOf(x))), x,
                         result);
}

/// min(max(x + 3, 0), 6)
ValueId reluSixShifted(NodeReader &reader, ValueId x)
{
    return reader.call("min", reader.call("max", reader.call("add", x, 3.0), 0.0), 6.0);
}

Result<Values> relu(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    return rounded(reader, reader.call("max", x, 0.0));
}

Result<Values> bounded(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const bool isRelu6 = reader.name() == "relu6";
    const double low = isRelu6 ? 0.0 : reader.number(1, "min_val", -1.0);
    const double high = isRelu6 ? 6.0 : reader.number(2, "max_val", 1.0);
    return rounded(reader, reader.call("min", reader.call("max", x, low), high));
}

Result<Values> leakyRelu(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const ValueId isPositive = reader.compare("gt", x, zeroLike(reader, x));
    return rounded(
        reader,
        reader.choose(isPositive, x, reader.call("mul", x, reader.number(1, "negative_slope", 0.01))));
}

Result<Values> prelu(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    HEDDLE_TRY(ValueId weight, reader.operand(1, "weight", reader.dtypeOf(x)));
    const int rank = reader.rankOf(x);
    if (reader.rankOf(weight) == 1 && rank > 2) { // one slope for each channel, dimension 1
        Shape shape(static_cast<std::size_t>(rank), 1);
        shape[1] = reader.shapeOf(weight)[0];
        weight = reader.ir().reshape(weight, shape);
    }
    const ValueId isPositive = reader.compare("gt", x, zeroLike(reader, x));
    return rounded(reader, reader.choose(isPositive, x, reader.call("mul", x, weight)));
}

/// elu, selu and celu: scale × (x > 0 ? x : alpha × (exp(x × inner) - 1))
Result<Values> exponentialUnit(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    double alpha = reader.number(1, "alpha", 1.0);
    double scale = 1.0;
    double inner = 1.0;
    if (reader.name() == "selu") {
        alpha = 1.6732632423543772848170429916717;
        scale = 1.0507009873554804934193349852946;
    } else if (reader.name() == "celu") {
        inner = 1.0 / alpha;
    } else {
        scale = reader.number(2, "scale", 1.0);
        inner = reader.number(3, "input_scale", 1.0);
    }
    const ValueId argument = inner == 1.0 ? x : reader.call("mul", x, inner);
    const ValueId below = reader.call("mul", reader.call("expm1", argument), alpha * scale);
    const ValueId above = scale == 1.0 ? x : reader.call("mul", x, scale);
    return rounded(reader, reader.choose(reader.compare("gt", x, zeroLike(reader, x)), above, below));
}

Result<Values> gelu(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const ValueId half = reader.call("mul", x, 0.5);
    if (reader.text(1, "approximate", "none") == "none") {
        if (reader.dtypeOf(x) == Dtype::Float32)
            return rounded(reader, reader.call("mul", x, reader.call("normal_cdf", x)));
        const ValueId argument = reader.call("mul", x, 1.0 / std::numbers::sqrt2);
        return rounded(reader,
                       reader.call("mul", half, reader.call("add", reader.call("erf", argument), 1.0)));
    }
    // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x³)))
    const double beta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    const ValueId cube = reader.call("mul", reader.call("mul", x, x), x);
    const ValueId argument =
        reader.call("mul", reader.call("add", x, reader.call("mul", cube, 0.044715)), beta);
    return rounded(reader, reader.call("mul", half, reader.call("add", reader.call("tanh", argument), 1.0)));
}

Result<Values> silu(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    return rounded(reader, reader.call("mul", x, reader.sigmoid(x)));
}

Result<Values> softplus(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    return rounded(reader,
                   softplusOf(reader, x, reader.number(1, "beta", 1.0), reader.number(2, "threshold", 20.0)));
}

Result<Values> mish(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    return rounded(reader, reader.call("mul", x, reader.call("tanh", softplusOf(reader, x, 1.0, 20.0))));
}

Result<Values> hardSwish(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const ValueId gate = reluSixShifted(reader, x);
    const ValueId product = reader.name() == "hardswish" ? reader.call("mul", x, gate) : gate;
    return rounded(reader, reader.call("div", product, 6.0));
}

Result<Values> softsign(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    return rounded(reader, reader.call("div", x, reader.call("add", reader.call("abs", x), 1.0)));
}

Result<Values> tanhshrink(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    return rounded(reader, reader.call("sub", x, reader.call("tanh", x)));
}

Result<Values> threshold(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    HEDDLE_TRY(const ValueId edge, reader.operand(1, "threshold", reader.dtypeOf(x)));
    HEDDLE_TRY(const ValueId value, reader.operand(2, "value", reader.dtypeOf(x)));
    // Written so that NaN passes through, as in eager.
    return rounded(reader,
                   reader.ir().point("where", {reader.compare("le", x, edge), value, x}, reader.dtypeOf(x)));
}

Result<Values> logSigmoid(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const ValueId small = reader.call("log1p", reader.call("exp", reader.call("neg", reader.call("abs", x))));
    return rounded(reader, reader.call("sub", reader.call("min", x, 0.0), small));
}

Result<Values> shrink(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, input(reader));
    const double lambda = reader.number(1, "lambd", 0.5);
    const ValueId isHigh = reader.compare("gt", x, reader.ir().real(lambda, reader.dtypeOf(x)));
    const ValueId isLow = reader.compare("lt", x, reader.ir().real(-lambda, reader.dtypeOf(x)));
    const bool isSoft = reader.name() == "softshrink";
    const ValueId high = isSoft ? reader.call("sub", x, lambda) : x;
    const ValueId low = isSoft ? reader.call("add", x, lambda) : x;
    // 0 × x keeps NaN.
    const ValueId between = reader.call("mul", x, 0.0);
    return rounded(reader, reader.choose(isHigh, high, reader.choose(isLow, low, between)));
}

Result<Values> glu(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId x, reader.tensor(0, "self"));
    const int rank = reader.rankOf(x);
    std::int64_t dim = reader.integer(1, "dim", -1);
    dim = dim < 0 ? dim + rank : dim;
    const std::int64_t half = reader.shapeOf(x)[static_cast<std::size_t>(dim)] / 2;
    const Dtype type = computeType(reader.out().dtype);
    const ValueId value = reader.ir().slice(x, static_cast<int>(dim), 0, 1, half);
    const ValueId gate = reader.ir().slice(x, static_cast<int>(dim), half, 1, half);
    return rounded(
        reader,
        reader.call("mul", reader.ir().cast(value, type), reader.sigmoid(reader.ir().cast(gate, type))));
}

} // namespace

void addActivationRules(LoweringTable &table)
{
    table["relu"] = relu;
    for (const char *name : {"hardtanh", "relu6"})
        table[name] = bounded;
    table["leaky_relu"] = leakyRelu;
    for (const char *name : {"prelu", "_prelu_kernel"})
        table[name] = prelu;
    for (const char *name : {"elu", "selu", "celu"})
        table[name] = exponentialUnit;
    table["gelu"] = gelu;
    table["silu"] = silu;
    table["softplus"] = softplus;
    table["mish"] = mish;
    for (const char *name : {"hardswish", "hardsigmoid"})
        table[name] = hardSwish;
    table["softsign"] = softsign;
    table["tanhshrink"] = tanhshrink;
    table["threshold"] = threshold;
    for (const char *name : {"log_sigmoid"})
        table[name] = logSigmoid;
    for (const char *name : {"hardshrink", "softshrink"})
        table[name] = shrink;
    table["glu"] = glu;
}

} // namespace heddle
