// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Tunables.h"

#include <algorithm>

namespace heddle {

namespace {

std::string listOf(const std::vector<std::int64_t> &values)
{
    std::string text;
    for (const std::int64_t value : values)
        text += (text.empty() ? "" : ", ") + std::to_string(value);
    return text;
}

} // namespace

Result<std::vector<std::string>> tunableMacros(const Plan &plan,
                                               const std::map<std::string, std::int64_t> &chosen)
{
    std::vector<std::string> macros;
    for (const auto &[name, tunable] : plan.tunables) {
        const auto found = chosen.find(name);
        const std::int64_t value = found != chosen.end() ? found->second : tunable.defaultValue;
        if (std::find(tunable.choices.begin(), tunable.choices.end(), value) == tunable.choices.end())
            return Error(Code::InvalidInput,
                         std::to_string(value) + " is not a choice of the tunable " + name,
                         "tunables." + name, "choose one of " + listOf(tunable.choices));
        macros.push_back("-D" + name + '=' + std::to_string(value));
    }
    for (const auto &[name, value] : chosen)
        if (plan.tunables.count(name) == 0)
            return Error(Code::InvalidInput, "the plan has no tunable \"" + name + '"', "tunables." + name,
                         "remove it, or name one of the plan's");
    return macros;
}

} // namespace heddle
