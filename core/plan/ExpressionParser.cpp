// SPDX-License-Identifier: Apache-2.0
#include "core/plan/ExpressionParser.h"

#include <algorithm>
#include <charconv>

namespace heddle {

namespace {

// Deeper or longer text is a mistake or an attack on the stack; real plans stay below a tenth of this.
constexpr int maxDepth = 64;
constexpr std::size_t maxLength = 4096;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isNamePart(char c) { return isNameStart(c) || isDigit(c); }

} // namespace

Error ExpressionParser::expected(std::string_view what, std::size_t at) const
{
    const std::string found = at < m_text.size() ? '\'' + std::string(1, m_text[at]) + '\'' : "the end";
    return Error(Code::InvalidInput,
                 "the expression \"" + std::string(m_text.substr(0, 200)) + "\" has " + found + " at column "
                     + std::to_string(at + 1),
                 {}, "expected " + std::string(what));
}

Result<Expression> ExpressionParser::parse()
{
    if (m_text.size() > maxLength)
        return Error(Code::InvalidInput,
                     "an expression is longer than " + std::to_string(maxLength) + " characters", {},
                     "name parts of it under \"symbols\"");
    HEDDLE_CHECK_OK(comparison());
    skipSpace();
    if (m_at != m_text.size())
        return expected("an operator or the end of the expression", m_at);
    m_out.m_text = std::string(m_text);
    return std::move(m_out);
}

void ExpressionParser::skipSpace()
{
    while (peek() == ' ' || peek() == '\t')
        ++m_at;
}

bool ExpressionParser::take(char wanted)
{
    skipSpace();
    if (peek() != wanted || m_at == m_text.size())
        return false;
    ++m_at;
    return true;
}

Result<void> ExpressionParser::comparison()
{
    if (++m_depth > maxDepth)
        return Error(Code::InvalidInput, "an expression nests deeper than " + std::to_string(maxDepth), {},
                     "name parts of it under \"symbols\"");
    HEDDLE_CHECK_OK(sum());
    skipSpace();
    const std::string_view rest = m_text.substr(m_at);
    // Two-character operators first, so that "<=" is not read as "<".
    constexpr std::pair<std::string_view, Kind> operators[] = {
        {"<=", Kind::LessEqual}, {">=", Kind::GreaterEqual}, {"==", Kind::Equal},
        {"!=", Kind::NotEqual},  {"<", Kind::Less},          {">", Kind::Greater}};
    for (const auto &[symbol, kind] : operators) {
        if (rest.substr(0, symbol.size()) != symbol)
            continue;
        m_at += symbol.size();
        HEDDLE_CHECK_OK(sum());
        emit(kind);
        skipSpace();
        if (peek() == '<' || peek() == '>' || peek() == '=' || peek() == '!')
            return expected("no second comparison (write (a < b) * (b < c))", m_at);
        break;
    }
    --m_depth;
    return {};
}

Result<void> ExpressionParser::sum()
{
    HEDDLE_CHECK_OK(product());
    while (true) {
        const Kind kind = take('+') ? Kind::Add : take('-') ? Kind::Subtract : Kind::Literal;
        if (kind == Kind::Literal)
            return {};
        HEDDLE_CHECK_OK(product());
        emit(kind);
    }
}

Result<void> ExpressionParser::product()
{
    HEDDLE_CHECK_OK(unary());
    while (true) {
        const Kind kind = take('*') ? Kind::Multiply
            : take('/')             ? Kind::Divide
            : take('%')             ? Kind::Modulo
                                    : Kind::Literal;
        if (kind == Kind::Literal)
            return {};
        HEDDLE_CHECK_OK(unary());
        emit(kind);
    }
}

Result<void> ExpressionParser::unary()
{
    if (!take('-'))
        return primary();
    skipSpace();
    if (isDigit(peek()))
        return integer(true);
    if (++m_depth > maxDepth)
        return expected("fewer minus signs", m_at);
    HEDDLE_CHECK_OK(unary());
    emit(Kind::Negate);
    --m_depth;
    return {};
}

Result<void> ExpressionParser::primary()
{
    skipSpace();
    const std::size_t start = m_at;
    if (isDigit(peek()))
        return integer(false);
    if (take('(')) {
        HEDDLE_CHECK_OK(comparison());
        if (!take(')'))
            return expected("')' or an operator", m_at);
        return {};
    }
    if (isNameStart(peek()))
        return nameOrCall();
    return expected("an integer, a name, input:NAME.shape[I], '-' or '('", start);
}

Result<void> ExpressionParser::integer(bool isNegative)
{
    const std::size_t start = m_at;
    while (isDigit(peek()))
        ++m_at;
    if (isNamePart(peek()) || peek() == '.')
        return expected("an integer without point or suffix", m_at);
    const std::string digits = (isNegative ? "-" : "") + std::string(m_text.substr(start, m_at - start));
    std::int64_t value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (parsed.ec != std::errc())
        return expected("an integer of at most 64 bits", start);
    m_out.m_code.push_back({.kind = Kind::Literal, .literal = value, .name = 0});
    return {};
}

Result<void> ExpressionParser::nameOrCall()
{
    const std::size_t start = m_at;
    while (isNamePart(peek()))
        ++m_at;
    const std::string_view word = m_text.substr(start, m_at - start);
    if (peek() == ':') {
        if (word != "input" && word != "state")
            return expected("\"input:\" or \"state:\" before a tensor's name", start);
        ++m_at;
        return reference(start);
    }
    if (take('('))
        return call(word, start);
    if (word == "ceil_div" || word == "min" || word == "max")
        return expected("'(' after the name of a function", m_at);
    emitName(word);
    return {};
}

Result<void> ExpressionParser::reference(std::size_t start)
{
    const std::size_t nameStart = m_at;
    while (isNamePart(peek()) || peek() == '.')
        ++m_at;
    std::string_view name = m_text.substr(nameStart, m_at - nameStart);
    const bool hasIndex = peek() == '[';
    constexpr std::string_view suffix = ".shape";
    const bool hasShape = name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
    if (name.empty() || name == suffix)
        return expected("the name of an input or state tensor", nameStart);
    if (!hasIndex) {
        if (hasShape)
            return expected("'[' and a dimension after .shape", m_at);
        if (m_text[start] == 's')
            return expected(".shape[I] after the name of a state tensor", m_at);
        emitName(m_text.substr(start, m_at - start));
        return {};
    }
    if (!hasShape)
        return expected(".shape before '['", m_at);
    ++m_at;
    const std::size_t digits = m_at;
    while (isDigit(peek()))
        ++m_at;
    if (m_at == digits || m_at - digits > 3)
        return expected("a dimension such as 0", digits);
    if (peek() != ']')
        return expected("']' after the dimension", m_at);
    ++m_at;
    emitName(m_text.substr(start, m_at - start));
    return {};
}

Result<void> ExpressionParser::call(std::string_view function, std::size_t start)
{
    const Kind kind = function == "ceil_div" ? Kind::CeilDivide
        : function == "min"                  ? Kind::Minimum
        : function == "max"                  ? Kind::Maximum
                                             : Kind::Literal;
    if (kind == Kind::Literal)
        return expected("one of the functions ceil_div, min, max", start);
    HEDDLE_CHECK_OK(comparison());
    int count = 1;
    while (take(',')) {
        HEDDLE_CHECK_OK(comparison());
        emit(kind);
        ++count;
        if (kind == Kind::CeilDivide && count > 2)
            return expected("two arguments for ceil_div", start);
    }
    if (count < 2)
        return expected(kind == Kind::CeilDivide ? "two arguments for ceil_div" : "at least two arguments",
                        start);
    if (!take(')'))
        return expected("',' or ')'", m_at);
    return {};
}

void ExpressionParser::emitName(std::string_view name)
{
    auto &names = m_out.m_names;
    const auto found = std::find(names.begin(), names.end(), name);
    const auto index = static_cast<std::uint32_t>(found - names.begin());
    if (found == names.end())
        names.emplace_back(name);
    m_out.m_code.push_back({.kind = Kind::Name, .literal = 0, .name = index});
}

} // namespace heddle
