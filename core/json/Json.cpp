// SPDX-License-Identifier: Apache-2.0
#include "core/json/Json.h"

#include <algorithm>

namespace heddle {

namespace {

// Deeper values would overflow the stack where they are written or walked, and a child may send anything.
constexpr int maximumDepth = 256;

bool isTooDeep(std::string_view text)
{
    int depth = 0;
    bool isInString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (isInString) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                isInString = false;
        } else if (c == '"') {
            isInString = true;
        } else if (c == '[' || c == '{') {
            if (++depth > maximumDepth)
                return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

} // namespace

Result<Json> parseJson(std::string_view text, std::string_view where)
{
    if (isTooDeep(text))
        return Error(Code::InvalidInput,
                     "this JSON is nested deeper than " + std::to_string(maximumDepth) + " levels",
                     std::string(where));
    try {
        return Json::parse(text);
    } catch (const Json::parse_error &failure) {
        const std::size_t at = std::min(failure.byte, text.size());
        const std::string_view before = text.substr(0, at);
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        const std::size_t lineStart = before.rfind('\n');
        const std::size_t column = lineStart == std::string_view::npos ? at : at - lineStart - 1;
        return Error(Code::InvalidInput, "this is not valid JSON (column " + std::to_string(column) + ")",
                     std::string(where) + ':' + std::to_string(line));
    } catch (const Json::exception &) {
        return Error(Code::InvalidInput, "a number in this JSON is too large for a double",
                     std::string(where));
    }
}

const Json &memberOr(const Json &object, std::string_view key)
{
    static const Json null;
    if (!object.is_object())
        return null;
    const auto found = object.find(std::string(key));
    return found == object.end() ? null : *found;
}

std::string stringOr(const Json &object, std::string_view key, std::string fallback)
{
    const Json &member = memberOr(object, key);
    return member.is_string() ? member.get<std::string>() : fallback;
}

double numberOr(const Json &object, std::string_view key, double fallback)
{
    const Json &member = memberOr(object, key);
    return member.is_number() ? member.get<double>() : fallback;
}

std::int64_t integerOr(const Json &object, std::string_view key, std::int64_t fallback)
{
    const Json &member = memberOr(object, key);
    return member.is_number_integer() ? member.get<std::int64_t>() : fallback;
}

bool boolOr(const Json &object, std::string_view key, bool fallback)
{
    const Json &member = memberOr(object, key);
    return member.is_boolean() ? member.get<bool>() : fallback;
}

std::string compactText(const Json &value)
{
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string prettyText(const Json &value)
{
    return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json toJson(const Error &error)
{
    Json out{{"code", codeName(error.code())}, {"message", error.message()}};
    if (!error.where().empty())
        out["where"] = error.where();
    if (!error.next().empty())
        out["next"] = error.next();
    if (error.cause())
        out["cause"] = toJson(*error.cause());
    return out;
}

Error errorFromJson(const Json &value)
{
    const Json &cause = memberOr(value, "cause");
    Error error(codeFromName(stringOr(value, "code", "internal")),
                stringOr(value, "message", "an error without a message"), stringOr(value, "where"),
                stringOr(value, "next"));
    if (!cause.is_object())
        return error;
    // Rebuild the chain from the inside out.
    const Error inner = errorFromJson(cause);
    Error outer = inner.wrapped(error.message(), error.where());
    return outer;
}

} // namespace heddle
