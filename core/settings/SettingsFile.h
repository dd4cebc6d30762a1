// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/settings/SettingsSchema.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace heddle {

/// What a settings file says, as far as it is valid.
struct SettingsFile {
    struct Entry {
        Json value;
        int line = 0; ///< from 1
    };
    std::map<std::string, Entry> entries;
    std::vector<Error> problems; ///< each with "path:line"; the entries it names are left out
};

/// Never fails: a missing file is empty, a broken one is a problem.
SettingsFile readSettingsFile(const std::filesystem::path &path, SettingOrigin origin);

/// Sets one key, or removes it where `value` is null, and keeps the rest, keys of other versions too. Writes
/// atomically and makes the folder. Errors: InvalidInput for a bad value, a key that this file may not set,
/// or a file that is broken now (it is left as it is); Io.
Result<void> writeSetting(const std::filesystem::path &path, SettingOrigin origin, const std::string &name,
                          const Json &value);

} // namespace heddle
