// SPDX-License-Identifier: Apache-2.0
#include "core/plan/PlanNames.h"

#include "core/plan/Dtype.h"

#include <algorithm>
#include <set>

namespace heddle {

namespace {

constexpr std::size_t maxNameLength = 128;
constexpr std::size_t maxListed = 24;

bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

enum class Mark { Unseen, Open, Done };

/// Depth-first search; `path` holds the open symbols. At most 1024 symbols, so recursion is bounded.
bool findCycle(const std::string &name, const std::map<std::string, Expression> &symbols,
               std::map<std::string, Mark> &marks, std::vector<std::string> &path)
{
    Mark &mark = marks[name];
    if (mark == Mark::Done)
        return false;
    if (mark == Mark::Open) {
        path.erase(path.begin(), std::find(path.begin(), path.end(), name));
        return true;
    }
    mark = Mark::Open;
    path.push_back(name);
    for (const std::string &next : symbols.at(name).names())
        if (symbols.count(next) != 0 && findCycle(next, symbols, marks, path))
            return true;
    path.pop_back();
    marks[name] = Mark::Done;
    return false;
}

} // namespace

bool isIdentifier(std::string_view name)
{
    if (name.empty() || name.size() > maxNameLength || isDigit(name.front()))
        return false;
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return isUpper(c) || isLower(c) || isDigit(c) || c == '_'; });
}

bool isMacroName(std::string_view name)
{
    return isIdentifier(name) && isUpper(name.front())
        && std::none_of(name.begin(), name.end(), [](char c) { return isLower(c); });
}

bool isInt64(const Json &value)
{
    return value.is_number_integer()
        && !(value.is_number_unsigned()
             && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
}

std::vector<std::string> symbolCycle(const std::map<std::string, Expression> &symbols)
{
    std::map<std::string, Mark> marks;
    for (const auto &[name, expression] : symbols) {
        std::vector<std::string> path;
        if (findCycle(name, symbols, marks, path))
            return path;
    }
    return {};
}

std::string cycleText(const std::vector<std::string> &cycle)
{
    std::string text;
    for (const std::string &name : cycle)
        text += name + " → ";
    return text + cycle.front();
}

std::string joined(const std::vector<std::string> &words)
{
    std::string text;
    for (std::size_t i = 0; i < words.size() && i < maxListed; ++i)
        text += (i == 0 ? "" : ", ") + words[i];
    return words.size() > maxListed ? text + ", …" : text;
}

std::string listText(std::initializer_list<std::string_view> words)
{
    return joined(std::vector<std::string>(words.begin(), words.end()));
}

std::string dtypeList()
{
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(Dtype::Bool); ++i)
        names.emplace_back(dtypeName(static_cast<Dtype>(i)));
    return joined(names);
}

} // namespace heddle
