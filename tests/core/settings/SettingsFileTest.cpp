// SPDX-License-Identifier: Apache-2.0
#include "core/settings/SettingsFile.h"

#include "core/base/File.h"

#include <gtest/gtest.h>

namespace heddle {

namespace {

namespace fs = std::filesystem;

class SettingsFileTest : public ::testing::Test {
protected:
    SettingsFileTest() : m_folder(*TempFolder::create("heddle-settings-")) {}
    fs::path file() const { return m_folder.path() / "settings.json"; }
    SettingsFile read(const std::string &text, SettingOrigin origin = SettingOrigin::User) const
    {
        EXPECT_TRUE(writeFileAtomically(file(), text));
        return readSettingsFile(file(), origin);
    }
    TempFolder m_folder;
};

TEST_F(SettingsFileTest, AMissingFileIsEmptyAndNoProblem)
{
    const SettingsFile content = readSettingsFile(file(), SettingOrigin::User);
    EXPECT_TRUE(content.entries.empty());
    EXPECT_TRUE(content.problems.empty());
}

TEST_F(SettingsFileTest, ABadValueIsNamedWithItsLineAndTheOthersCount)
{
    const SettingsFile content = read("{\n  \"theme\": \"dark\",\n\n  \"budget_seconds\": \"long\",\n"
                                      "  \"nonsense\": {\"theme\": 1},\n  \"seed\": 3\n}\n");
    ASSERT_EQ(content.problems.size(), 2u);
    EXPECT_EQ(content.problems[0].where(), file().string() + ":4");
    EXPECT_NE(content.problems[0].message().find("budget_seconds"), std::string::npos);
    EXPECT_EQ(content.problems[1].where(), file().string() + ":5");
    ASSERT_EQ(content.entries.size(), 2u);
    EXPECT_EQ(content.entries.at("theme").line, 2);
    EXPECT_EQ(content.entries.at("seed").line, 6);
}

TEST_F(SettingsFileTest, LinesAreFoundThroughQuotesAndEscapes)
{
    const SettingsFile content = read("{\"python\": \"a\\\"{:\\\\\",\n\"th\\u0065me\"\n:\n\"light\"}");
    ASSERT_TRUE(content.problems.empty());
    EXPECT_EQ(content.entries.at("python").value, "a\"{:\\");
    EXPECT_EQ(content.entries.at("theme").line, 2);
}

TEST_F(SettingsFileTest, ABrokenFileIsOneProblemWithItsLine)
{
    SettingsFile content = read("{\n  \"theme\": \"dark\",\n  \"seed\": }\n");
    ASSERT_EQ(content.problems.size(), 1u);
    EXPECT_EQ(content.problems[0].where(), file().string() + ":3:11");
    for (const std::string text : {"[1]", "null", "", "{\"seed\": 1e999}", "\xff"}) {
        content = read(text);
        ASSERT_EQ(content.problems.size(), 1u) << text;
        EXPECT_EQ(content.problems[0].code(), Code::InvalidInput) << text;
        EXPECT_TRUE(content.entries.empty());
    }
}

TEST_F(SettingsFileTest, AWorkspaceFileMayNotNamePrograms)
{
    const SettingsFile content = read("{\"python\": \"./evil\", \"unsandboxed\": true, \"theme\": \"dark\"}",
                                      SettingOrigin::Workspace);
    EXPECT_EQ(content.problems.size(), 2u);
    EXPECT_EQ(content.entries.size(), 1u);
    EXPECT_FALSE(writeSetting(file(), SettingOrigin::Workspace, "compiler", "./evil"));
}

TEST_F(SettingsFileTest, WritingChangesOneKeyAndKeepsTheRest)
{
    read("{\"of_a_later_version\": [1, 2], \"theme\": \"dark\"}");
    ASSERT_TRUE(writeSetting(file(), SettingOrigin::User, "seed", 5));
    const auto text = *readFile(file());
    const Json content = *parseJson(text, "file");
    EXPECT_EQ(content, Json::parse(R"({"of_a_later_version": [1, 2], "theme": "dark", "seed": 5})"));
    ASSERT_TRUE(writeSetting(file(), SettingOrigin::User, "theme", nullptr));
    EXPECT_FALSE(readSettingsFile(file(), SettingOrigin::User).entries.contains("theme"));
    EXPECT_FALSE(writeSetting(file(), SettingOrigin::User, "nonsense", nullptr));
    EXPECT_FALSE(writeSetting(file(), SettingOrigin::User, "theme", "blue"));
}

TEST_F(SettingsFileTest, ABrokenFileIsNeverWrittenOver)
{
    read("{ my notes");
    const auto written = writeSetting(file(), SettingOrigin::User, "seed", 5);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), Code::InvalidInput);
    EXPECT_EQ(*readFile(file()), "{ my notes");
}

TEST_F(SettingsFileTest, AWorkspacesFolderThatIsALinkIsNotWrittenThrough)
{
    fs::create_directory(m_folder.path() / "elsewhere");
    fs::create_directory_symlink(m_folder.path() / "elsewhere", m_folder.path() / ".heddle");
    EXPECT_FALSE(
        writeSetting(m_folder.path() / ".heddle/settings.json", SettingOrigin::Workspace, "seed", 5));
    EXPECT_TRUE(fs::is_empty(m_folder.path() / "elsewhere"));
}

} // namespace

} // namespace heddle
