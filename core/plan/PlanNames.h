// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"
#include "core/plan/Expression.h"

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// True for [A-Za-z_][A-Za-z0-9_]* of at most 128 characters.
bool isIdentifier(std::string_view name);
/// True for [A-Z][A-Z0-9_]*: what may become a macro without hiding a keyword or a library's name.
bool isMacroName(std::string_view name);
/// True for an integer that fits into int64.
bool isInt64(const Json &value);
/// The names of a cycle among symbols ("a", "b" where a needs b and b needs a), or empty.
std::vector<std::string> symbolCycle(const std::map<std::string, Expression> &symbols);
/// "a → b → a".
std::string cycleText(const std::vector<std::string> &cycle);
/// "a, b, c", cut after some.
std::string joined(const std::vector<std::string> &words);
std::string listText(std::initializer_list<std::string_view> words);
/// All dtypes as text.
std::string dtypeList();

} // namespace heddle
