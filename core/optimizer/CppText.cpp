// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/CppText.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

namespace heddle {

namespace {

std::string fill(std::string_view pattern, const std::vector<std::string> &args)
{
    std::string result;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '$' && i + 1 < pattern.size()) {
            const auto number = static_cast<std::size_t>(pattern[++i] - '0');
            result += number < args.size() ? args[number] : std::string();
        } else {
            result += pattern[i];
        }
    }
    return result;
}

/// Operations that read the same for every type.
const std::map<std::string_view, std::string_view> &commonPatterns()
{
    static const std::map<std::string_view, std::string_view> patterns = {
        {"add", "$0 + $1"}, {"sub", "$0 - $1"}, {"mul", "$0 * $1"},        {"div", "$0 / $1"},
        {"neg", "-$0"},     {"eq", "$0 == $1"}, {"ne", "$0 != $1"},        {"lt", "$0 < $1"},
        {"le", "$0 <= $1"}, {"gt", "$0 > $1"},  {"ge", "$0 >= $1"},        {"and", "$0 && $1"},
        {"or", "$0 || $1"}, {"not", "!$0"},     {"where", "$0 ? $1 : $2"},
    };
    return patterns;
}

/// Functions of one or two floats: for float32 from heddle_cpu.h or the compiler, for float64 the latter.
struct FloatFunction {
    std::string_view single;
    std::string_view twice;
};

const std::map<std::string_view, FloatFunction> &floatFunctions()
{
    static const std::map<std::string_view, FloatFunction> functions = {
        {"abs", {"heddle::abs($0)", "__builtin_fabs($0)"}},
        {"exp", {"heddle::exp($0)", "__builtin_exp($0)"}},
        {"exp_flush", {"heddle::exp_flush($0)", "__builtin_exp($0)"}},
        {"exp2", {"__builtin_exp2f($0)", "__builtin_exp2($0)"}},
        {"expm1", {"heddle::expm1($0)", "__builtin_expm1($0)"}},
        {"log", {"heddle::log($0)", "__builtin_log($0)"}},
        {"log1p", {"heddle::log1p($0)", "__builtin_log1p($0)"}},
        {"log2", {"heddle::log2($0)", "__builtin_log2($0)"}},
        {"log10", {"__builtin_log10f($0)", "__builtin_log10($0)"}},
        {"sqrt", {"heddle::sqrt($0)", "__builtin_sqrt($0)"}},
        {"rsqrt", {"heddle::rsqrt($0)", "1.0 / __builtin_sqrt($0)"}},
        {"reciprocal", {"1.0f / $0", "1.0 / $0"}},
        {"pow", {"heddle::pow($0, $1)", "__builtin_pow($0, $1)"}},
        {"tanh", {"heddle::tanh($0)", "__builtin_tanh($0)"}},
        {"sigmoid", {"heddle::sigmoid($0)", "1.0 / (1.0 + __builtin_exp(-$0))"}},
        {"sigmoid_flush", {"heddle::sigmoid_flush($0)", "1.0 / (1.0 + __builtin_exp(-$0))"}},
        {"erf", {"heddle::erf($0)", "__builtin_erf($0)"}},
        {"normal_cdf", {"heddle::normal_cdf($0)", "0.5 * __builtin_erfc(-$0 * 0.70710678118654752)"}},
        {"floor", {"heddle::floor($0)", "__builtin_floor($0)"}},
        {"ceil", {"heddle::ceil($0)", "__builtin_ceil($0)"}},
        {"round", {"__builtin_rintf($0)", "__builtin_rint($0)"}},
        {"trunc", {"__builtin_truncf($0)", "__builtin_trunc($0)"}},
        {"sin", {"__builtin_sinf($0)", "__builtin_sin($0)"}},
        {"cos", {"__builtin_cosf($0)", "__builtin_cos($0)"}},
        {"tan", {"__builtin_tanf($0)", "__builtin_tan($0)"}},
        {"asin", {"__builtin_asinf($0)", "__builtin_asin($0)"}},
        {"acos", {"__builtin_acosf($0)", "__builtin_acos($0)"}},
        {"atan", {"__builtin_atanf($0)", "__builtin_atan($0)"}},
        {"sinh", {"__builtin_sinhf($0)", "__builtin_sinh($0)"}},
        {"cosh", {"__builtin_coshf($0)", "__builtin_cosh($0)"}},
        {"sign",
         {"$0 > 0.0f ? 1.0f : ($0 < 0.0f ? -1.0f : 0.0f)", "$0 > 0.0 ? 1.0 : ($0 < 0.0 ? -1.0 : 0.0)"}},
    };
    return functions;
}

} // namespace

std::string cppType(Dtype dtype) { return std::string(dtypeCppName(dtype, PlanTarget::Cpu)); }

std::string memoryType(Dtype dtype) { return dtype == Dtype::Bool ? "uint8_t" : cppType(dtype); }

std::string cppLiteral(Dtype dtype, double number, std::int64_t integer)
{
    if (dtype == Dtype::Bool)
        return integer != 0 ? "true" : "false";
    if (!isFloating(dtype)) {
        if (integer == std::numeric_limits<std::int64_t>::min())
            return "INT64_MIN";
        if (integer == std::numeric_limits<std::int64_t>::max())
            return "INT64_MAX";
        const std::string text = std::to_string(integer);
        return dtype == Dtype::Int64 ? "int64_t{" + text + "}"
                                     : "static_cast<" + cppType(dtype) + ">(" + text + ")";
    }
    const bool isDouble = dtype == Dtype::Float64;
    std::string text;
    if (std::isnan(number)) {
        text = isDouble ? "__builtin_nan(\"\")" : "heddle::nan()";
    } else if (std::isinf(number)
               || (!isDouble && std::abs(number) > static_cast<double>(std::numeric_limits<float>::max()))) {
        text = isDouble ? "__builtin_inf()" : "heddle::infinity()";
        if (number < 0)
            text = "-" + text;
    } else {
        std::array<char, 64> digits{};
        std::snprintf(digits.data(), digits.size(), isDouble ? "%.17g" : "%.9g",
                      isDouble ? number : static_cast<double>(static_cast<float>(number)));
        text = digits.data();
        if (text.find_first_of(".e") == std::string::npos)
            text += ".0";
        if (!isDouble)
            text += "f";
    }
    return isReducedPrecision(dtype) ? cppType(dtype) + "(" + text + ")" : text;
}

std::string cppCast(Dtype to, Dtype from, const std::string &text)
{
    if (to == from)
        return text;
    const std::string value = isReducedPrecision(from) ? "float(" + text + ")" : text;
    if (to == Dtype::Bool)
        return value + " != 0";
    if (isReducedPrecision(to)) {
        const bool isFloat = isReducedPrecision(from) || from == Dtype::Float32;
        return cppType(to) + "(" + (isFloat ? value : "static_cast<float>(" + value + ")") + ")";
    }
    if (to == Dtype::Float32 && isReducedPrecision(from))
        return value;
    return "static_cast<" + cppType(to) + ">(" + value + ")";
}

std::optional<std::string> preciseOperation(std::string_view op, const std::vector<std::string> &args)
{
    if (op == "sigmoid_flush")
        return fill("1.0f / (1.0f + __builtin_expf(-$0))", args);
    if (op == "normal_cdf")
        return fill("0.5f * __builtin_erfcf($0 * -0.707106781f)", args);
    const auto function = floatFunctions().find(op);
    if (function == floatFunctions().end() || !function->second.twice.starts_with("__builtin_"))
        return std::nullopt;
    // "__builtin_exp($0)" → "__builtin_expf($0)"
    std::string pattern(function->second.twice);
    pattern.insert(pattern.find('('), "f");
    return fill(pattern, args);
}

std::optional<std::string> cppDivision(double divisor, const std::string &dividend)
{
    const double size = std::abs(divisor);
    if (!(size > 0x1p-100 && size < 0x1p100))
        return std::nullopt;
    const double inverse = 1.0 / divisor;
    auto high = static_cast<float>(inverse);
    if (static_cast<double>(high) == inverse)
        return dividend + " * " + cppLiteral(Dtype::Float32, inverse, 0);
    if (std::abs(static_cast<double>(high)) > std::abs(inverse))
        high = std::nextafter(high, 0.0f);
    const double low = inverse - static_cast<double>(high);
    return "heddle::times_reciprocal(" + dividend + ", "
        + cppLiteral(Dtype::Float32, static_cast<double>(high), 0) + ", " + cppLiteral(Dtype::Float32, low, 0)
        + ")";
}

std::optional<std::string> cppOperation(std::string_view op, Dtype result, Dtype argument,
                                        const std::vector<std::string> &args, bool isLiteral)
{
    if (op == "cast")
        return cppCast(result, argument, args.at(0));
    std::string text;
    if (op == "max" || op == "min") {
        // NaN on either side gives NaN, as in PyTorch; a literal on the right is known not to be one.
        const std::string_view sign = op == "max" ? "<" : ">";
        const std::string isChosen = args.at(0) + " " + std::string(sign) + " " + args.at(1);
        const bool mayBeNaN = isFloating(argument) && !isLiteral;
        text = fill(mayBeNaN ? "($2 || $1 != $1) ? $1 : $0" : "$2 ? $1 : $0",
                    {args.at(0), args.at(1), isChosen});
    } else if (const auto function = floatFunctions().find(op);
               function != floatFunctions().end() && isFloating(argument)) {
        text = fill(argument == Dtype::Float64 ? function->second.twice : function->second.single, args);
    } else if (const auto common = commonPatterns().find(op); common != commonPatterns().end()) {
        text = fill(common->second, args);
    } else if (op == "abs") {
        text = fill("$0 < 0 ? -$0 : $0", args);
    } else if (op == "sign") {
        text = fill("$0 > 0 ? 1 : ($0 < 0 ? -1 : 0)", args);
    } else {
        return std::nullopt;
    }
    // C++ computes narrow integers as int.
    if (!isFloating(result) && result != Dtype::Bool && op != "where")
        return "static_cast<" + cppType(result) + ">(" + text + ")";
    return text;
}

bool isExpensive(std::string_view op)
{
    static const std::set<std::string_view> names = {
        "exp",  "exp_flush", "exp2", "expm1", "log", "log1p", "log2",  "log10",         "pow",
        "tanh", "sigmoid",   "erf",  "sin",   "cos", "tan",   "asin",  "sigmoid_flush", "normal_cdf",
        "acos", "atan",      "sinh", "cosh",  "div", "sqrt",  "rsqrt", "reciprocal"};
    return names.contains(op);
}

void CppText::line(const std::string &text)
{
    m_text += std::string(static_cast<std::size_t>(m_depth) * 4, ' ') + text + "\n";
}

void CppText::open(const std::string &text)
{
    line(text.empty() ? "{" : text + " {");
    ++m_depth;
}

void CppText::close(const std::string &after)
{
    --m_depth;
    line("}" + after);
}

void CppText::comment(const std::string &text)
{
    const std::size_t width = 96 - static_cast<std::size_t>(m_depth) * 4;
    std::string row;
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t end = text.find(' ', at);
        end = end == std::string::npos ? text.size() : end;
        const std::string word = text.substr(at, end - at);
        if (!row.empty() && row.size() + word.size() + 1 > width) {
            line("// " + row);
            row.clear();
        }
        row += (row.empty() ? "" : " ") + word;
        at = end + 1;
    }
    if (!row.empty())
        line("// " + row);
}

void CppText::pragma(const std::string &text) { m_text += "#pragma " + text + "\n"; }

} // namespace heddle
