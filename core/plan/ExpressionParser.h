// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/plan/Expression.h"

namespace heddle {

/// Recursive descent over one expression's text; used by Expression::parse() alone.
/// Grammar: comparison = sum [("<"|"<="|">"|">="|"=="|"!=") sum]; sum = product {("+"|"-") product};
/// product = unary {("*"|"/"|"%") unary}; unary = "-" unary | primary;
/// primary = integer | name | reference | function "(" comparison {"," comparison} ")" | "(" comparison ")".
class ExpressionParser {
public:
    explicit ExpressionParser(std::string_view text) : m_text(text) {}
    Result<Expression> parse();

private:
    using Kind = Expression::Kind;
    Result<void> comparison();
    Result<void> sum();
    Result<void> product();
    Result<void> unary();
    Result<void> primary();
    Result<void> integer(bool isNegative);
    Result<void> nameOrCall();
    Result<void> reference(std::size_t start);
    Result<void> call(std::string_view function, std::size_t start);

    void skipSpace();
    char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    bool take(char wanted);
    void emitName(std::string_view name);
    void emit(Kind kind) { m_out.m_code.push_back({.kind = kind, .literal = 0, .name = 0}); }
    Error expected(std::string_view what, std::size_t at) const;

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_depth = 0;
    Expression m_out;
};

} // namespace heddle
