// SPDX-License-Identifier: Apache-2.0
#include "core/plan/Expression.h"

#include "core/plan/ExpressionParser.h"

#include <algorithm>
#include <limits>

namespace heddle {

namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

Error overflow(std::string_view what)
{
    return Error(Code::InvalidInput, "the value of " + std::string(what) + " does not fit into 64 bits", {},
                 "use smaller factors, or count in larger units");
}

Error dividesByZero(std::string_view what)
{
    return Error(Code::InvalidInput, std::string(what) + " divides by zero", {},
                 "guard the divisor, for example with max(…, 1)");
}

} // namespace

Result<Expression> Expression::parse(std::string_view text) { return ExpressionParser(text).parse(); }

Expression Expression::constant(std::int64_t value)
{
    Expression expression;
    expression.m_text = std::to_string(value);
    expression.m_code.push_back({.kind = Kind::Literal, .literal = value, .name = 0});
    return expression;
}

std::vector<std::string> Expression::names() const { return m_names; }

const char *Expression::symbolOf(Kind kind)
{
    switch (kind) {
    case Kind::Add: return "+";
    case Kind::Subtract: return "-";
    case Kind::Multiply: return "*";
    case Kind::Divide: return "/";
    case Kind::Modulo: return "%";
    case Kind::Less: return "<";
    case Kind::LessEqual: return "<=";
    case Kind::Greater: return ">";
    case Kind::GreaterEqual: return ">=";
    case Kind::Equal: return "==";
    case Kind::NotEqual: return "!=";
    case Kind::CeilDivide: return "ceil_div";
    case Kind::Minimum: return "min";
    case Kind::Maximum: return "max";
    case Kind::Negate: return "-";
    case Kind::Literal:
    case Kind::Name: break;
    }
    return "";
}

Result<std::int64_t> Expression::apply(Kind kind, std::int64_t a, std::int64_t b)
{
    std::int64_t value = 0;
    switch (kind) {
    case Kind::Add:
        if (__builtin_add_overflow(a, b, &value))
            return overflow(symbolOf(kind));
        return value;
    case Kind::Subtract:
        if (__builtin_sub_overflow(a, b, &value))
            return overflow(symbolOf(kind));
        return value;
    case Kind::Multiply:
        if (__builtin_mul_overflow(a, b, &value))
            return overflow(symbolOf(kind));
        return value;
    case Kind::Divide:
    case Kind::Modulo:
    case Kind::CeilDivide: {
        if (b == 0)
            return dividesByZero(symbolOf(kind));
        if (b == -1) { // the one case that traps: INT64_MIN / -1
            if (kind == Kind::Modulo)
                return 0;
            if (a == lowest)
                return overflow(symbolOf(kind));
            return -a;
        }
        const std::int64_t quotient = a / b;
        const std::int64_t remainder = a % b;
        const bool isNegative = (remainder < 0) != (b < 0);
        if (kind == Kind::Divide)
            return remainder != 0 && isNegative ? quotient - 1 : quotient;
        if (kind == Kind::Modulo)
            return remainder != 0 && isNegative ? remainder + b : remainder;
        return remainder != 0 && !isNegative ? quotient + 1 : quotient;
    }
    case Kind::Less: return a < b;
    case Kind::LessEqual: return a <= b;
    case Kind::Greater: return a > b;
    case Kind::GreaterEqual: return a >= b;
    case Kind::Equal: return a == b;
    case Kind::NotEqual: return a != b;
    case Kind::Minimum: return std::min(a, b);
    case Kind::Maximum: return std::max(a, b);
    case Kind::Literal:
    case Kind::Name:
    case Kind::Negate: break;
    }
    return Error(Code::Internal, "an operator without a rule");
}

Result<std::int64_t> Expression::evaluate(const Lookup &lookup) const
{
    std::vector<std::int64_t> stack;
    stack.reserve(m_code.size());
    for (const Op &op : m_code) {
        if (op.kind == Kind::Literal) {
            stack.push_back(op.literal);
        } else if (op.kind == Kind::Name) {
            HEDDLE_TRY(const std::int64_t value, lookup(m_names[op.name]));
            stack.push_back(value);
        } else if (op.kind == Kind::Negate) {
            if (stack.back() == lowest)
                return overflow("-").wrapped("cannot evaluate \"" + m_text + '"');
            stack.back() = -stack.back();
        } else {
            const std::int64_t b = stack.back();
            stack.pop_back();
            auto value = apply(op.kind, stack.back(), b);
            if (!value)
                return value.error().wrapped("cannot evaluate \"" + m_text + '"');
            stack.back() = *value;
        }
    }
    if (stack.size() != 1)
        return Error(Code::Internal, "an empty expression was evaluated");
    return stack.back();
}

std::string Expression::cppText(const Rename &rename) const
{
    std::vector<std::string> stack;
    for (const Op &op : m_code) {
        if (op.kind == Kind::Literal) {
            // The literal of INT64_MIN does not exist in C++: it reads as minus of an overflow.
            stack.push_back(op.literal == lowest ? "INT64_MIN"
                                                 : "INT64_C(" + std::to_string(op.literal) + ')');
            continue;
        }
        if (op.kind == Kind::Name) {
            stack.push_back(rename(m_names[op.name]));
            continue;
        }
        if (op.kind == Kind::Negate) {
            stack.back() = "(-" + stack.back() + ')';
            continue;
        }
        const std::string b = std::move(stack.back());
        stack.pop_back();
        std::string &a = stack.back();
        const char *function = op.kind == Kind::Divide ? "heddle_floor_div"
            : op.kind == Kind::Modulo                  ? "heddle_floor_mod"
            : op.kind == Kind::CeilDivide              ? "heddle_ceil_div"
            : op.kind == Kind::Minimum                 ? "heddle_min"
            : op.kind == Kind::Maximum                 ? "heddle_max"
                                                       : nullptr;
        if (function != nullptr)
            a = std::string(function) + '(' + a + ", " + b + ')';
        else
            a = '(' + a + ' ' + symbolOf(op.kind) + ' ' + b + ')';
    }
    return stack.empty() ? std::string("INT64_C(0)") : stack.back();
}

} // namespace heddle
