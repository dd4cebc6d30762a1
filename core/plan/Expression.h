// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// An integer expression of a launch plan: checked int64 with `+ - *`, floor `/` and `%`, comparisons
/// (0 or 1), `ceil_div(a, b)`, `min(a, b, …)`, `max(a, b, …)`, parentheses, integer literals, names and
/// references such as `input:x.shape[0]`. Division is floor division for every sign, as in Python;
/// ceil_div(a, b) is -floor(-a / b). Immutable; may be shared between threads.
class Expression {
public:
    /// The value of a name or reference, or an error that says what is known.
    using Lookup = std::function<Result<std::int64_t>(std::string_view name)>;
    /// The C++ text that stands for a name in cppText().
    using Rename = std::function<std::string(std::string_view name)>;

    /// Errors: InvalidInput with the column (from 1) and what was expected there.
    static Result<Expression> parse(std::string_view text);
    /// The literal `value`.
    static Expression constant(std::int64_t value);

    /// Errors: InvalidInput on overflow or division by zero, naming the expression; those of lookup.
    Result<std::int64_t> evaluate(const Lookup &lookup) const;
    /// The names and references that occur, each once, in order of appearance.
    std::vector<std::string> names() const;
    const std::string &text() const { return m_text; }
    /// The expression as C++ over int64_t with heddle_floor_div, heddle_floor_mod, heddle_ceil_div,
    /// heddle_min and heddle_max (two arguments each).
    std::string cppText(const Rename &rename) const;

    bool operator==(const Expression &other) const { return m_text == other.m_text; }

private:
    enum class Kind : std::uint8_t {
        Literal,
        Name,
        Negate,
        Add,
        Subtract,
        Multiply,
        Divide,
        Modulo,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
        Equal,
        NotEqual,
        CeilDivide,
        Minimum,
        Maximum,
    };
    /// Postfix code: operands precede their operator. `name` indexes m_names.
    struct Op {
        Kind kind = Kind::Literal;
        std::int64_t literal = 0;
        std::uint32_t name = 0;
    };
    friend class ExpressionParser;

    static Result<std::int64_t> apply(Kind kind, std::int64_t a, std::int64_t b);
    static const char *symbolOf(Kind kind);

    std::string m_text;
    std::vector<Op> m_code;
    std::vector<std::string> m_names;
};

} // namespace heddle
