// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparison, selection and type conversion, element by element.
#include "core/optimizer/LoweringContext.h"

#include <cmath>
#include <limits>

namespace heddle {

namespace {

Dtype outType(NodeReader &reader) { return computeType(reader.out().dtype); }

Result<Values> finish(NodeReader &reader, ValueId value)
{
    return Values{reader.ir().cast(value, reader.out().dtype)};
}

/// name → the IR's word, for operators of one argument computed in the result's type.
Result<Values> unary(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const ValueId x = reader.ir().cast(self, outType(reader));
    std::string op = reader.name();
    if (op == "negative")
        op = "neg";
    if (op == "absolute")
        op = "abs";
    if (op == "sgn")
        op = "sign";
    if (op == "square")
        return finish(reader, reader.call("mul", x, x));
    if (op == "sigmoid")
        return finish(reader, reader.sigmoid(x));
    if (!isFloating(reader.dtypeOf(x)) && (op == "floor" || op == "ceil" || op == "round" || op == "trunc"))
        return Values{self};
    if (op == "round" && reader.integer(1, "decimals", 0) != 0)
        return reader.notCovered("rounding to decimals");
    return finish(reader, reader.call(op, x));
}

/// add, sub, rsub with alpha.
Result<Values> additive(NodeReader &reader)
{
    HEDDLE_TRY(ValueId a, reader.operand(0, "self", outType(reader)));
    HEDDLE_TRY(ValueId b, reader.operand(1, "other", outType(reader)));
    const std::string name = reader.name();
    if (name == "rsub")
        std::swap(a, b);
    const double alpha = reader.number(2, "alpha", 1.0);
    // alpha scales `other` in add and sub, `self` in rsub: after the swap that is b in all three.
    if (alpha != 1.0)
        b = reader.call("mul", b, alpha);
    if (reader.out().dtype == Dtype::Bool)
        return finish(reader, reader.call("or", a, b));
    return finish(reader, reader.call(name == "add" ? "add" : "sub", a, b));
}

Result<Values> multiply(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId a, reader.operand(0, "self", outType(reader)));
    HEDDLE_TRY(const ValueId b, reader.operand(1, "other", outType(reader)));
    return finish(reader, reader.call(reader.out().dtype == Dtype::Bool ? "and" : "mul", a, b));
}

Result<Values> divide(NodeReader &reader)
{
    const std::string mode = reader.text(2, "rounding_mode", "");
    HEDDLE_TRY(const ValueId a, reader.operand(0, "self", outType(reader)));
    HEDDLE_TRY(const ValueId b, reader.operand(1, "other", outType(reader)));
    if (mode.empty())
        return finish(reader, reader.call("div", a, b));
    if (!isFloating(reader.out().dtype))
        return reader.notCovered("integer division");
    // Eager's floor division corrects the quotient by the remainder; only truncation is a plain rounding.
    if (mode == "trunc")
        return finish(reader, reader.call("trunc", reader.call("div", a, b)));
    return reader.notCovered("division rounded to '" + mode + "'");
}

Result<Values> extremum(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId a, reader.operand(0, "self", outType(reader)));
    HEDDLE_TRY(const ValueId b, reader.operand(1, "other", outType(reader)));
    const std::string name = reader.name();
    return finish(reader, reader.call(name == "maximum" ? "max" : name == "minimum" ? "min" : name, a, b));
}

Result<Values> power(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId a, reader.operand(0, "self", outType(reader)));
    if (const auto exponent = reader.numberOrNone(1, "exponent")) {
        if (*exponent == 1.0)
            return finish(reader, a);
        if (*exponent == 2.0)
            return finish(reader, reader.call("mul", a, a));
        if (*exponent == 3.0)
            return finish(reader, reader.call("mul", reader.call("mul", a, a), a));
        if (*exponent == 0.5)
            return finish(reader, reader.call("sqrt", a));
        if (*exponent == -0.5)
            return finish(reader, reader.call("rsqrt", a));
        if (*exponent == -1.0)
            return finish(reader, reader.call("reciprocal", a));
        if (*exponent == -2.0)
            return finish(reader, reader.call("reciprocal", reader.call("mul", a, a)));
        if (*exponent == 4.0) {
            const ValueId square = reader.call("mul", a, a);
            return finish(reader, reader.call("mul", square, square));
        }
    }
    if (!isFloating(reader.out().dtype))
        return reader.notCovered("an integer power other than 1 to 4");
    HEDDLE_TRY(const ValueId b, reader.operand(1, "exponent", outType(reader)));
    return finish(reader, reader.call("pow", a, b));
}

Result<Values> compareTwo(NodeReader &reader)
{
    HEDDLE_TRY(const Dtype promoted, reader.promoted(0, 1));
    HEDDLE_TRY(const ValueId a, reader.operand(0, "self", promoted));
    HEDDLE_TRY(const ValueId b, reader.operand(1, "other", promoted));
    std::string name = reader.name();
    for (const auto &[longName, shortName] :
         {std::pair{"greater_equal", "ge"}, std::pair{"less_equal", "le"}, std::pair{"not_equal", "ne"},
          std::pair{"greater", "gt"}, std::pair{"less", "lt"}}) {
        if (name == longName)
            name = shortName;
    }
    return Values{reader.compare(name, a, b)};
}

Result<Values> logical(NodeReader &reader)
{
    const std::string name = reader.name();
    if (name.starts_with("bitwise") && reader.out().dtype != Dtype::Bool)
        return reader.notCovered("bits of integers");
    const std::string op = name.substr(name.find('_') + 1);
    HEDDLE_TRY(const ValueId a, reader.operand(0, "self", Dtype::Bool));
    if (op == "not")
        return Values{reader.ir().point("not", {a}, Dtype::Bool)};
    HEDDLE_TRY(const ValueId b, reader.operand(1, "other", Dtype::Bool));
    return Values{reader.compare(op == "xor" ? "ne" : op, a, b)};
}

Result<Values> classify(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const Dtype type = computeType(reader.dtypeOf(self));
    const ValueId x = reader.ir().cast(self, type);
    if (!isFloating(type))
        return Values{reader.compare(reader.name() == "isfinite" ? "eq" : "ne", x, x)};
    if (reader.name() == "isnan")
        return Values{reader.compare("ne", x, x)};
    const double infinity = std::numeric_limits<double>::infinity();
    const ValueId edge = reader.ir().real(infinity, type);
    return Values{reader.compare(reader.name() == "isinf" ? "eq" : "lt", reader.call("abs", x), edge)};
}

Result<Values> where(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId condition, reader.operand(0, "condition", Dtype::Bool));
    HEDDLE_TRY(const ValueId yes, reader.operand(1, "self", outType(reader)));
    HEDDLE_TRY(const ValueId no, reader.operand(2, "other", outType(reader)));
    return finish(reader, reader.choose(condition, yes, no));
}

Result<Values> maskedFill(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.operand(0, "self", outType(reader)));
    HEDDLE_TRY(const ValueId mask, reader.operand(1, "mask", Dtype::Bool));
    HEDDLE_TRY(const ValueId value, reader.operand(2, "value", outType(reader)));
    return finish(reader, reader.ir().point("where", {mask, value, self}, reader.dtypeOf(self)));
}

Result<Values> clamp(NodeReader &reader)
{
    HEDDLE_TRY(ValueId x, reader.operand(0, "self", outType(reader)));
    const std::string name = reader.name();
    const bool hasLow = name != "clamp_max" && reader.find(1, "min");
    const std::size_t highPosition = name == "clamp_max" ? 1 : 2;
    const bool hasHigh = name != "clamp_min" && reader.find(highPosition, "max");
    if (hasLow) {
        HEDDLE_TRY(const ValueId low, reader.operand(1, "min", outType(reader)));
        x = reader.call("max", x, low);
    }
    if (hasHigh) {
        HEDDLE_TRY(const ValueId high, reader.operand(highPosition, "max", outType(reader)));
        x = reader.call("min", x, high);
    }
    return finish(reader, x);
}

Result<Values> lerp(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId start, reader.operand(0, "self", outType(reader)));
    HEDDLE_TRY(const ValueId end, reader.operand(1, "end", outType(reader)));
    HEDDLE_TRY(const ValueId weight, reader.operand(2, "weight", outType(reader)));
    // Eager goes from the nearer end, so that weight 1 gives `end` exactly.
    const ValueId span = reader.call("sub", end, start);
    const ValueId fromStart = reader.call("add", start, reader.call("mul", weight, span));
    const ValueId rest = reader.call("sub", reader.ir().real(1.0, reader.dtypeOf(weight)), weight);
    const ValueId fromEnd = reader.call("sub", end, reader.call("mul", span, rest));
    const ValueId isNear =
        reader.compare("lt", reader.call("abs", weight), reader.ir().real(0.5, reader.dtypeOf(weight)));
    return finish(reader, reader.choose(isNear, fromStart, fromEnd));
}

/// self + value × a (× or ÷) b
Result<Values> addProduct(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.operand(0, "self", outType(reader)));
    HEDDLE_TRY(const ValueId a, reader.operand(1, "tensor1", outType(reader)));
    HEDDLE_TRY(const ValueId b, reader.operand(2, "tensor2", outType(reader)));
    const double scale = reader.number(3, "value", 1.0);
    const ValueId scaled = scale == 1.0 ? a : reader.call("mul", a, scale);
    return finish(
        reader, reader.call("add", self, reader.call(reader.name() == "addcmul" ? "mul" : "div", scaled, b)));
}

Result<Values> convert(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    return finish(reader, self);
}

/// Tensors of one number: full, zeros, ones, *_like, fill, scalar_tensor, new_*.
Result<Values> filled(NodeReader &reader)
{
    const std::string name = reader.name();
    const Dtype dtype = reader.out().dtype;
    ValueId number = reader.ir().real(0.0, dtype);
    if (name.find("ones") != std::string::npos) {
        number = reader.ir().real(1.0, dtype);
    } else if (name == "scalar_tensor") {
        HEDDLE_TRY(number, reader.operand(0, "s", dtype));
    } else if (name.find("full") != std::string::npos || name == "fill") {
        const std::size_t position = name == "new_full" ? 2 : 1;
        HEDDLE_TRY(number, reader.operand(position, name == "fill" ? "value" : "fill_value", dtype));
    }
    return Values{reader.ir().expand(number, reader.out().shape)};
}

} // namespace

void addPointwiseRules(LoweringTable &table)
{
    for (const char *name :
         {"neg",        "negative", "abs",     "absolute", "exp",   "exp2",  "log",   "log1p",
          "log2",       "log10",    "expm1",   "sqrt",     "rsqrt", "sin",   "cos",   "tan",
          "reciprocal", "tanh",     "erf",     "floor",    "ceil",  "round", "trunc", "sign",
          "sgn",        "square",   "sigmoid", "asin",     "acos",  "atan",  "sinh",  "cosh"})
        table[name] = unary;
    for (const char *name : {"add", "sub", "subtract", "rsub"})
        table[name] = additive;
    for (const char *name : {"mul", "multiply"})
        table[name] = multiply;
    for (const char *name : {"div", "divide", "true_divide"})
        table[name] = divide;
    for (const char *name : {"maximum", "minimum"})
        table[name] = extremum;
    table["pow"] = power;
    for (const char *name :
         {"eq", "ne", "lt", "le", "gt", "ge", "greater", "greater_equal", "less", "less_equal", "not_equal"})
        table[name] = compareTwo;
    for (const char *name : {"logical_and", "logical_or", "logical_not", "logical_xor", "bitwise_and",
                             "bitwise_or", "bitwise_not", "bitwise_xor"})
        table[name] = logical;
    for (const char *name : {"isnan", "isinf", "isfinite"})
        table[name] = classify;
    table["where"] = where;
    table["masked_fill"] = maskedFill;
    for (const char *name : {"clamp", "clamp_min", "clamp_max", "clip"})
        table[name] = clamp;
    table["lerp"] = lerp;
    for (const char *name : {"addcmul", "addcdiv"})
        table[name] = addProduct;
    for (const char *name : {"to", "_to_copy", "type_as", "float", "double", "half", "bfloat16"})
        table[name] = convert;
    for (const char *name : {"full", "full_like", "zeros", "zeros_like", "ones", "ones_like", "new_zeros",
                             "new_ones", "new_full", "fill", "zero", "scalar_tensor"})
        table[name] = filled;
}

} // namespace heddle
