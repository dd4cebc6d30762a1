// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Where a value comes from; a later one wins.
enum class SettingOrigin { Default, User, Workspace, Session, Flag };

/// "default", "user", "workspace", "session" or "flag".
std::string_view originName(SettingOrigin origin);

enum class SettingType {
    Text,
    Word,    ///< one of `words`
    Program, ///< a path or a name on the PATH; empty: found by itself
    Target,  ///< "cpu" or "ssh://HOST/cpu"
    Boolean,
    Number,
    NumberOrUnset, ///< null: decided elsewhere
    Integer,
    IntegerOrUnset,
};

/// Whether what comes with a folder may set it. A downloaded workspace brings its settings file and its
/// database with the sessions' events, so neither may name a program, another machine, or open the sandbox.
enum class SettingTrust {
    Anyone,
    PersonOnly, ///< the user's own file and flags
};

struct SettingKey {
    std::string_view name;
    SettingType type = SettingType::Text;
    SettingTrust trust = SettingTrust::Anyone;
    Json fallback;
    std::string_view description;
    std::vector<std::string_view> words = {};
    double least = std::numeric_limits<double>::lowest();
    double most = std::numeric_limits<double>::max();
};

/// Every key, in the order in which a person reads them. The table of README.md says the same; a test
/// compares. Thread-safe.
const std::vector<SettingKey> &settingKeys();
/// The key or nullptr.
const SettingKey *findSettingKey(std::string_view name);

/// Checks type, range and who may set it. Error InvalidInput with the key in `where`.
Result<void> validateSetting(std::string_view name, const Json &value, SettingOrigin origin);

/// A flag's or a text field's text as the key's type: "120" → 120. Error InvalidInput.
Result<Json> settingFromText(std::string_view name, const std::string &text);

} // namespace heddle
