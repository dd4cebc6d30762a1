// SPDX-License-Identifier: Apache-2.0
#include "core/settings/SettingsSchema.h"

#include <algorithm>
#include <cmath>

namespace heddle {

namespace {

using enum SettingType;
using enum SettingTrust;

constexpr double LargestSeed = 9007199254740992.0; // 2^53, exact in JSON everywhere

std::vector<SettingKey> makeKeys()
{
    return {
        {"target", Target, Anyone, "cpu", "where things run; a folder can't name another machine"},
        {"budget_seconds", Number, Anyone, 120, "how long an optimisation may take", {}, 1, 86400},
        {"tolerance", NumberOrUnset, Anyone, nullptr, "absolute and relative; unset: by dtype", {}, 0, 1},
        {"mode", Word, Anyone, "as-constructed", "how the model is judged", {"as-constructed", "eval"}},
        {"seed",
         IntegerOrUnset,
         Anyone,
         nullptr,
         "mixed with the session's secret; unset: random",
         {},
         0,
         LargestSeed},
        {"python", Program, PersonOnly, "", "the interpreter with PyTorch; empty: found by itself"},
        {"compiler", Program, PersonOnly, "", "the C++ compiler for kernels; empty: found by itself"},
        {"unsandboxed", Boolean, PersonOnly, false, "run candidates even where no sandbox works"},
        {"theme", Word, Anyone, "system", "colours of the window", {"system", "light", "dark"}},
        {"editor_font_size", Integer, Anyone, 10, "size of code in points", {}, 6, 72},
    };
}

Error wrong(std::string_view name, std::string message, std::string next = {})
{
    return Error(Code::InvalidInput, std::move(message), std::string(name), std::move(next));
}

/// What the worker runs on: widened together with it, since whatever passes here is started.
bool isDevice(std::string_view text) { return text == "cpu"; }

bool isRemoteTarget(std::string_view text) { return text.starts_with("ssh://"); }

bool isTarget(std::string_view text)
{
    if (!isRemoteTarget(text))
        return isDevice(text);
    text.remove_prefix(6);
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos || slash == 0 || text.front() == '-')
        return false; // a host that begins with '-' would be read as an option by ssh
    const bool isPlain = std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(slash),
                                     [](char c) { return c > ' ' && c != 0x7f; });
    return isPlain && isDevice(text.substr(slash + 1));
}

bool isSafeText(const Json &value)
{
    return value.is_string() && value.get_ref<const std::string &>().find('\0') == std::string::npos;
}

std::string numberText(double value)
{
    return compactText(value == std::floor(value) && std::abs(value) <= LargestSeed
                           ? Json(static_cast<std::int64_t>(value))
                           : Json(value));
}

Result<void> validateNumber(const SettingKey &key, const Json &value)
{
    const bool isInteger = key.type == Integer || key.type == IntegerOrUnset;
    if (isInteger ? !value.is_number_integer() : !value.is_number())
        return wrong(key.name, isInteger ? "a whole number is expected" : "a number is expected");
    const double number = value.get<double>();
    if (!(number >= key.least && number <= key.most))
        return wrong(key.name,
                     "it must be between " + numberText(key.least) + " and " + numberText(key.most));
    return {};
}

Result<void> validateWord(const SettingKey &key, const Json &value)
{
    std::string words;
    for (const std::string_view word : key.words) {
        if (value.is_string() && value.get_ref<const std::string &>() == word)
            return {};
        words += (words.empty() ? "" : ", ") + std::string(word);
    }
    return wrong(key.name, "it must be one of: " + words);
}

Result<void> validateType(const SettingKey &key, const Json &value)
{
    switch (key.type) {
    case Word: return validateWord(key, value);
    case Text:
    case Program: return isSafeText(value) ? Result<void>() : wrong(key.name, "text is expected");
    case Target:
        if (isSafeText(value) && isTarget(value.get_ref<const std::string &>()))
            return {};
        // An architecture is something to compile for (heddle-cli compile): nothing runs on it.
        if (isSafeText(value) && value.get_ref<const std::string &>().starts_with("cuda:sm_"))
            return wrong(key.name,
                         value.get<std::string>() + " is only compiled for, there is no device to run on",
                         "use it with the command compile; here it must be cpu or ssh://HOST/cpu");
        return wrong(key.name, "it must be cpu or ssh://HOST/cpu",
                     "kernels run on the processor only so far: leave it out, or use one of the two");
    case Boolean: return value.is_boolean() ? Result<void>() : wrong(key.name, "true or false is expected");
    case NumberOrUnset:
    case IntegerOrUnset:
        if (value.is_null())
            return {};
        [[fallthrough]];
    case Number:
    case Integer: return validateNumber(key, value);
    }
    return {};
}

} // namespace

std::string_view originName(SettingOrigin origin)
{
    switch (origin) {
    case SettingOrigin::Default: return "default";
    case SettingOrigin::User: return "user";
    case SettingOrigin::Workspace: return "workspace";
    case SettingOrigin::Session: return "session";
    case SettingOrigin::Flag: return "flag";
    }
    return "default";
}

const std::vector<SettingKey> &settingKeys()
{
    static const std::vector<SettingKey> keys = makeKeys();
    return keys;
}

const SettingKey *findSettingKey(std::string_view name)
{
    const auto &keys = settingKeys();
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const SettingKey &key) { return key.name == name; });
    return found == keys.end() ? nullptr : &*found;
}

Result<void> validateSetting(std::string_view name, const Json &value, SettingOrigin origin)
{
    const SettingKey *key = findSettingKey(name);
    if (key == nullptr)
        return wrong(name.substr(0, 80), "there is no such setting", "look for a spelling mistake");
    HEDDLE_CHECK_OK(validateType(*key, value));
    const bool isFromFolder = origin == SettingOrigin::Workspace || origin == SettingOrigin::Session;
    const bool isRemote = key->type == Target && isRemoteTarget(value.get_ref<const std::string &>());
    if (isFromFolder && (key->trust == PersonOnly || isRemote))
        return wrong(name,
                     isRemote ? "a workspace may not name another machine"
                              : "a workspace may not set this: it decides what runs on this computer",
                     "set it in your own settings or by a flag");
    return {};
}

Result<Json> settingFromText(std::string_view name, const std::string &text)
{
    const SettingKey *key = findSettingKey(name);
    if (key == nullptr)
        return wrong(name.substr(0, 80), "there is no such setting", "look for a spelling mistake");
    Json value(text);
    const bool isText = key->type == Text || key->type == Word || key->type == Program || key->type == Target;
    if (!isText) {
        // Only a whole scalar in JSON's spelling: "1e3" and "true", but not "1 2" or "[1]".
        auto parsed = parseJson(text, name);
        if (parsed && !parsed->is_structured())
            value = *std::move(parsed);
    }
    HEDDLE_CHECK_OK(validateSetting(name, value, SettingOrigin::Flag));
    return value;
}

} // namespace heddle
