// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace heddle {

/// The one JSON value type of the project. Only this folder includes nlohmann's header directly.
using Json = nlohmann::json;

/// The one parser: what is broken is InvalidInput at "WHERE:LINE:COLUMN" (from 1, in characters) with what to do.
Result<Json> parseJson(std::string_view text, std::string_view where);

/// Lenient readers: the member if present and of the right kind, else the fallback. Never throw.
std::string stringOr(const Json &object, std::string_view key, std::string fallback = {});
double numberOr(const Json &object, std::string_view key, double fallback);
std::int64_t integerOr(const Json &object, std::string_view key, std::int64_t fallback);
bool boolOr(const Json &object, std::string_view key, bool fallback);
/// The member, or a static null value.
const Json &memberOr(const Json &object, std::string_view key);

/// One line without newline, invalid UTF-8 replaced. Never throws.
std::string compactText(const Json &value);
/// Indented by two, invalid UTF-8 replaced. Never throws.
std::string prettyText(const Json &value);

/// An Error as {"code","message","where","next","cause"} and back.
Json toJson(const Error &error);
Error errorFromJson(const Json &value);

} // namespace heddle
