// SPDX-License-Identifier: Apache-2.0
#include "core/settings/Settings.h"

#include "core/base/File.h"
#include "core/settings/SettingsFile.h"

namespace heddle {

namespace fs = std::filesystem;

Settings Settings::load(const fs::path &workspace)
{
    return loadFiles(userFile(), workspace.empty() ? fs::path() : workspaceFile(workspace));
}

Settings Settings::loadFiles(const fs::path &userFile, const fs::path &workspaceFile)
{
    Settings settings;
    settings.addFile(userFile, SettingOrigin::User);
    settings.addFile(workspaceFile, SettingOrigin::Workspace);
    return settings;
}

fs::path Settings::userFile() { return configFolder() / "settings.json"; }

fs::path Settings::workspaceFile(const fs::path &workspace)
{
    return workspace / ".heddle" / "settings.json";
}

void Settings::addFile(const fs::path &path, SettingOrigin origin)
{
    if (path.empty())
        return;
    SettingsFile file = readSettingsFile(path, origin);
    for (auto &[name, entry] : file.entries)
        level(origin)[name] = {std::move(entry.value), origin,
                               path.string() + ':' + std::to_string(entry.line)};
    m_problems.insert(m_problems.end(), file.problems.begin(), file.problems.end());
}

Result<void> Settings::setFlag(const std::string &name, const std::string &text)
{
    HEDDLE_TRY(Json value, settingFromText(name, text));
    level(SettingOrigin::Flag)[name] = {std::move(value), SettingOrigin::Flag, {}};
    return {};
}

Result<void> Settings::setSession(const std::string &name, const Json &value)
{
    HEDDLE_CHECK_OK(validateSetting(name, value, SettingOrigin::Session));
    level(SettingOrigin::Session)[name] = {value, SettingOrigin::Session, {}};
    return {};
}

SettingValue Settings::value(std::string_view name) const
{
    for (auto level = m_levels.rbegin(); level != m_levels.rend(); ++level)
        if (const auto found = level->find(name); found != level->end())
            return found->second;
    const SettingKey *key = findSettingKey(name);
    return {key != nullptr ? key->fallback : Json(), SettingOrigin::Default, {}};
}

std::string Settings::text(std::string_view name) const
{
    const Json found = value(name).value;
    return found.is_string() ? found.get<std::string>() : std::string();
}

double Settings::number(std::string_view name) const { return numberIfSet(name).value_or(0.0); }

bool Settings::isOn(std::string_view name) const
{
    const Json found = value(name).value;
    return found.is_boolean() && found.get<bool>();
}

std::optional<double> Settings::numberIfSet(std::string_view name) const
{
    const Json found = value(name).value;
    return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

std::optional<std::int64_t> Settings::integerIfSet(std::string_view name) const
{
    const Json found = value(name).value;
    return found.is_number_integer() ? std::optional(found.get<std::int64_t>()) : std::nullopt;
}

Json Settings::toJson() const
{
    Json out = Json::object();
    for (const SettingKey &key : settingKeys()) {
        const SettingValue found = value(key.name);
        out[std::string(key.name)] = {
            {"value", found.value}, {"origin", originName(found.origin)}, {"where", found.where}};
    }
    return out;
}

} // namespace heddle
