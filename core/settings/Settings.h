// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/settings/SettingsSchema.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

struct SettingValue {
    Json value;
    SettingOrigin origin = SettingOrigin::Default;
    std::string where; ///< "path:line" for a file, else empty
};

/// The settings in force: flag > session > workspace file > user file > default, for window and command line
/// alike. A plain value: copy it to give it to a job. Not thread-safe.
class Settings {
public:
    /// The defaults alone.
    Settings() = default;
    /// With `configFolder()/settings.json` and, unless `workspace` is empty, `.heddle/settings.json` in it.
    static Settings load(const std::filesystem::path &workspace);
    /// With these files; either may be empty or missing.
    static Settings loadFiles(const std::filesystem::path &userFile,
                              const std::filesystem::path &workspaceFile);

    static std::filesystem::path userFile();
    static std::filesystem::path workspaceFile(const std::filesystem::path &workspace);

    /// What was wrong in the files. All other values count.
    const std::vector<Error> &problems() const { return m_problems; }

    /// From the command line. Error InvalidInput.
    Result<void> setFlag(const std::string &name, const std::string &text);
    /// From a `setting_changed` event. Error InvalidInput; then the value of before stays.
    Result<void> setSession(const std::string &name, const Json &value);

    /// The value that counts and where it comes from. An unknown name gives null.
    SettingValue value(std::string_view name) const;

    /// Readers for known names: empty, 0, false or nothing where the type differs or the value is unset.
    std::string text(std::string_view name) const;
    double number(std::string_view name) const;
    bool isOn(std::string_view name) const;
    std::optional<double> numberIfSet(std::string_view name) const;
    std::optional<std::int64_t> integerIfSet(std::string_view name) const;

    /// {name: {"value", "origin", "where"}} for every key.
    Json toJson() const;

private:
    using Level = std::map<std::string, SettingValue, std::less<>>;
    Level &level(SettingOrigin origin) { return m_levels[static_cast<std::size_t>(origin)]; }
    void addFile(const std::filesystem::path &path, SettingOrigin origin);

    std::array<Level, 5> m_levels; ///< by SettingOrigin
    std::vector<Error> m_problems;
};

} // namespace heddle
