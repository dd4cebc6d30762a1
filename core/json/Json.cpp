// SPDX-License-Identifier: Apache-2.0
#include "core/json/Json.h"

#include <algorithm>
#include <optional>

namespace heddle {

namespace {

// Deeper values would overflow the stack where they are written or walked, and a child may send anything.
constexpr int maximumDepth = 256;

/// Where the text first opens one level too many.
std::optional<std::size_t> tooDeepAt(std::string_view text)
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
                return i;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return std::nullopt;
}

/// "plan.json:3:7" as editors count: from 1, a column being a character and not a byte.
std::string placeIn(std::string_view text, std::size_t at, std::string_view where)
{
    const std::string_view before = text.substr(0, std::min(at, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::string_view row = before.substr(before.rfind('\n') + 1); // npos + 1 is 0
    const auto column = std::count_if(row.begin(), row.end(),
                                      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; })
        + 1;
    return std::string(where) + ':' + std::to_string(line) + ':' + std::to_string(column);
}

/// What the parser expected, without its own name and place for it: "unexpected '}'; expected string literal".
std::string reasonOf(std::string_view what)
{
    if (const std::size_t dash = what.find(" - "); dash != std::string_view::npos)
        what.remove_prefix(dash + 3);
    constexpr std::size_t most = 160; // it quotes what it read last, which may be a whole string
    if (what.size() <= most)
        return std::string(what);
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(what[end]) & 0xC0) == 0x80)
        --end;
    return std::string(what.substr(0, end)) + "…";
}

/// The number that the parser could not hold: "… number overflow parsing '1e400'".
std::size_t tooLargeAt(std::string_view text, std::string_view what)
{
    const std::size_t open = what.find('\'');
    const std::size_t close = what.rfind('\'');
    if (open == std::string_view::npos || close <= open + 1)
        return 0;
    const std::size_t at = text.find(what.substr(open + 1, close - open - 1));
    return at == std::string_view::npos ? 0 : at;
}

} // namespace

Result<Json> parseJson(std::string_view text, std::string_view where)
{
    if (const auto at = tooDeepAt(text))
        return Error(Code::InvalidInput,
                     "this JSON is nested deeper than " + std::to_string(maximumDepth) + " levels",
                     placeIn(text, *at, where), "make it flatter");
    try {
        return Json::parse(text);
    } catch (const Json::parse_error &failure) {
        // The parser counts from 1 the byte that it read last; at the end of the text it points behind it.
        const std::size_t at = failure.byte == 0 ? 0 : failure.byte - 1;
        return Error(
            Code::InvalidInput, "this is not valid JSON: " + reasonOf(failure.what()),
            placeIn(text, at, where),
            "mend it there or just before: often a comma, a quote or a bracket is missing, or a comma or a "
            "comment is too much");
    } catch (const Json::exception &failure) {
        return Error(Code::InvalidInput, "a number in this JSON is too large for a double",
                     placeIn(text, tooLargeAt(text, failure.what()), where), "write a smaller number");
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
