// SPDX-License-Identifier: Apache-2.0
#include "core/settings/Settings.h"

#include "core/base/File.h"
#include "core/settings/SettingsFile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace heddle {

namespace {

std::string typeText(const SettingKey &key)
{
    std::string words;
    switch (key.type) {
    case SettingType::Text: return "text";
    case SettingType::Word:
        for (const std::string_view word : key.words)
            words += (words.empty() ? "" : ", ") + std::string(word);
        return words;
    case SettingType::Program: return "program";
    case SettingType::Target: return "target";
    case SettingType::Boolean: return "boolean";
    case SettingType::Number: return "number";
    case SettingType::NumberOrUnset: return "number or unset";
    case SettingType::Integer: return "integer";
    case SettingType::IntegerOrUnset: return "integer or unset";
    }
    return words;
}

TEST(SettingsSchema, IsTheTableOfTheReadme)
{
    const auto readme = readFile(std::string(HEDDLE_SOURCE_DIR) + "/core/settings/README.md");
    ASSERT_TRUE(readme) << readme.error().text();
    std::vector<std::string> documented;
    std::istringstream lines(*readme);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("| `"))
            documented.push_back(line);
    std::vector<std::string> known;
    for (const SettingKey &key : settingKeys())
        known.push_back("| `" + std::string(key.name) + "` | " + typeText(key) + " | `"
                        + compactText(key.fallback) + "` | "
                        + (key.trust == SettingTrust::Anyone ? "anyone" : "person only") + " |");
    EXPECT_EQ(documented, known);
}

TEST(SettingsSchema, EveryDefaultIsAllowedAndExplained)
{
    for (const SettingKey &key : settingKeys()) {
        EXPECT_TRUE(validateSetting(key.name, key.fallback, SettingOrigin::User)) << key.name;
        EXPECT_FALSE(key.description.empty()) << key.name;
    }
}

TEST(SettingsSchema, ValuesOfAnotherTypeOrRangeAreRefused)
{
    const std::pair<const char *, Json> bad[] = {
        {"budget_seconds", "120"},
        {"budget_seconds", 0},
        {"budget_seconds", nullptr},
        {"budget_seconds", 1e9},
        {"tolerance", -1e-3},
        {"tolerance", 2},
        {"theme", "blue"},
        {"theme", 1},
        {"unsandboxed", "yes"},
        {"seed", 1.5},
        {"seed", -1},
        {"editor_font_size", 5},
        {"python", 3},
        {"python", std::string("a\0b", 3)},
        {"target", "gpu"},
        {"target", "cuda:"},
        {"target", "cuda:x"},
        {"target", "cuda:0"},
        {"target", "ssh://box/cuda:1"},
        {"target", "ssh:///cpu"},
        {"target", "ssh://-oProxyCommand=x/cpu"},
        {"target", "ssh://h"},
        {"target", "ssh://a b/cpu"},
        {"nonsense", 1},
    };
    for (const auto &[name, value] : bad) {
        const auto checked = validateSetting(name, value, SettingOrigin::User);
        ASSERT_FALSE(checked) << name << " = " << value;
        EXPECT_EQ(checked.error().code(), Code::InvalidInput);
        EXPECT_EQ(checked.error().where(), name);
    }
    // An architecture is something to compile for, which the command compile does.
    const auto compiled = validateSetting("target", "cuda:sm_90", SettingOrigin::Flag);
    ASSERT_FALSE(compiled);
    EXPECT_NE(compiled.error().message().find("no device to run on"), std::string::npos);
    EXPECT_NE(compiled.error().next().find("compile"), std::string::npos);
    for (const char *target : {"cpu", "ssh://box/cpu", "ssh://me@box/cpu"})
        EXPECT_TRUE(validateSetting("target", target, SettingOrigin::User)) << target;
}

TEST(SettingsSchema, WhatComesWithAFolderCanNotDecideWhatRuns)
{
    for (const SettingOrigin origin : {SettingOrigin::Workspace, SettingOrigin::Session}) {
        EXPECT_FALSE(validateSetting("python", "/tmp/evil", origin));
        EXPECT_FALSE(validateSetting("compiler", "./evil", origin));
        EXPECT_FALSE(validateSetting("unsandboxed", true, origin));
        EXPECT_FALSE(validateSetting("unsandboxed", false, origin));
        EXPECT_FALSE(validateSetting("target", "ssh://evil/cpu", origin));
        EXPECT_TRUE(validateSetting("target", "cpu", origin));
    }
    for (const SettingOrigin origin : {SettingOrigin::User, SettingOrigin::Flag})
        EXPECT_TRUE(validateSetting("python", "/usr/bin/python3", origin));
}

TEST(SettingsSchema, FlagsAreReadAsTheirType)
{
    EXPECT_EQ(*settingFromText("budget_seconds", "90.5"), 90.5);
    EXPECT_EQ(*settingFromText("seed", "7"), 7);
    EXPECT_EQ(*settingFromText("unsandboxed", "true"), true);
    EXPECT_EQ(*settingFromText("python", "123"), "123");
    EXPECT_TRUE(settingFromText("tolerance", "null")->is_null());
    for (const char *text : {"", "x", "1 2", "[1]", "1e999", "\"5\""})
        EXPECT_FALSE(settingFromText("budget_seconds", text)) << text;
    EXPECT_FALSE(settingFromText("nonsense", "1"));
}

class SettingsLevels : public ::testing::Test {
protected:
    SettingsLevels() : m_folder(*TempFolder::create("heddle-settings-")) {}
    std::filesystem::path user() const { return m_folder.path() / "config/settings.json"; }
    std::filesystem::path workspace() const { return m_folder.path() / "work/.heddle/settings.json"; }
    Settings load() const { return Settings::loadFiles(user(), workspace()); }

private:
    TempFolder m_folder;
};

TEST_F(SettingsLevels, EachLevelWinsOverThoseBelowAndIsNamed)
{
    EXPECT_EQ(load().value("budget_seconds").value, 120);
    EXPECT_EQ(load().value("budget_seconds").origin, SettingOrigin::Default);
    ASSERT_TRUE(writeSetting(user(), SettingOrigin::User, "budget_seconds", 10));
    EXPECT_EQ(load().number("budget_seconds"), 10);
    EXPECT_EQ(load().value("budget_seconds").origin, SettingOrigin::User);
    EXPECT_EQ(load().value("budget_seconds").where, user().string() + ":2");
    ASSERT_TRUE(writeSetting(workspace(), SettingOrigin::Workspace, "budget_seconds", 20));
    EXPECT_EQ(load().value("budget_seconds").origin, SettingOrigin::Workspace);
    Settings settings = load();
    ASSERT_TRUE(settings.setSession("budget_seconds", 30));
    EXPECT_EQ(settings.number("budget_seconds"), 30);
    ASSERT_TRUE(settings.setFlag("budget_seconds", "40"));
    EXPECT_EQ(settings.number("budget_seconds"), 40);
    EXPECT_EQ(settings.value("budget_seconds").origin, SettingOrigin::Flag);
    ASSERT_TRUE(settings.setSession("budget_seconds", 50));
    EXPECT_EQ(settings.number("budget_seconds"), 40);
    EXPECT_EQ(settings.toJson()["budget_seconds"]["origin"], "flag");
    EXPECT_EQ(settings.toJson()["theme"]["origin"], "default");
    EXPECT_TRUE(settings.problems().empty());
}

TEST_F(SettingsLevels, ARefusedValueLeavesTheOneOfBefore)
{
    Settings settings = load();
    ASSERT_TRUE(settings.setSession("theme", "dark"));
    EXPECT_FALSE(settings.setSession("theme", "blue"));
    EXPECT_FALSE(settings.setSession("python", "/tmp/evil"));
    EXPECT_FALSE(settings.setFlag("seed", "many"));
    EXPECT_EQ(settings.text("theme"), "dark");
    EXPECT_EQ(settings.text("python"), "");
    EXPECT_FALSE(settings.integerIfSet("seed"));
}

TEST_F(SettingsLevels, TheReadersGiveTheTypeOfTheKey)
{
    Settings settings = load();
    EXPECT_EQ(settings.text("target"), "cpu");
    EXPECT_FALSE(settings.isOn("unsandboxed"));
    EXPECT_FALSE(settings.numberIfSet("tolerance"));
    ASSERT_TRUE(settings.setFlag("tolerance", "0.01"));
    ASSERT_TRUE(settings.setFlag("unsandboxed", "true"));
    EXPECT_EQ(settings.numberIfSet("tolerance"), 0.01);
    EXPECT_TRUE(settings.isOn("unsandboxed"));
    EXPECT_TRUE(settings.value("nonsense").value.is_null());
}

TEST_F(SettingsLevels, TheUsersFileIsFoundInTheConfigFolder)
{
    const char *const before = std::getenv("XDG_CONFIG_HOME");
    const std::string saved = before != nullptr ? before : "";
    const auto home = user().parent_path();
    ::setenv("XDG_CONFIG_HOME", home.c_str(), 1);
    ASSERT_TRUE(writeSetting(Settings::userFile(), SettingOrigin::User, "theme", "light"));
    EXPECT_EQ(Settings::load({}).text("theme"), "light");
    EXPECT_TRUE(std::filesystem::exists(home / "heddle/settings.json"));
    before != nullptr ? ::setenv("XDG_CONFIG_HOME", saved.c_str(), 1) : ::unsetenv("XDG_CONFIG_HOME");
}

} // namespace

} // namespace heddle
