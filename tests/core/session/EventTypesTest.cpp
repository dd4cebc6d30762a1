// SPDX-License-Identifier: Apache-2.0
#include "core/session/EventTypes.h"

#include "core/base/File.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

namespace heddle {

namespace {

/// The table as the document writes it.
std::string asDocumented(const EventType &type)
{
    std::string line = "| `" + std::string(type.name) + "` | "
        + (type.scope == EventScope::Session ? "session" : "workspace") + " | ";
    bool isFirst = true;
    for (const EventMember &member : type.members) {
        line += (isFirst ? "`" : ", `") + std::string(member.name) + '`' + (member.isRequired ? " " : "? ")
            + std::string(memberKindName(member.kind));
        isFirst = false;
        if (member.words.empty())
            continue;
        std::string words;
        for (const std::string_view word : member.words)
            words += (words.empty() ? "" : " ") + (word.empty() ? "-" : std::string(word));
        line += " (" + words + ')';
    }
    return line + " |";
}

TEST(EventTypes, AreTheTableOfTheDocumentLineByLine)
{
    const auto text = readFile(std::string(HEDDLE_SOURCE_DIR) + "/docs/architecture/events.md");
    ASSERT_TRUE(text) << text.error().text();
    std::vector<std::string> documented;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("| `"))
            documented.push_back(line);
    std::vector<std::string> known;
    for (const EventType &type : eventTypes())
        known.push_back(asDocumented(type));
    EXPECT_EQ(documented, known);
}

TEST(EventTypes, AnEventWithAllRequiredMembersPasses)
{
    EXPECT_TRUE(validateEvent("s", "note", {{"text", "hello"}}));
    EXPECT_TRUE(validateEvent("s", "note", {{"text", "hello"}, {"figures", nullptr}, {"extra", 1}}));
    EXPECT_TRUE(validateEvent("", "trusted", {{"folder", "/a"}}));
}

TEST(EventTypes, EachRequiredMemberIsMissedByName)
{
    for (const EventType &type : eventTypes()) {
        for (const EventMember &missing : type.members) {
            if (!missing.isRequired)
                continue;
            Json data = Json::object();
            for (const EventMember &member : type.members) {
                if (member.name == missing.name || !member.isRequired)
                    continue;
                const std::string key(member.name);
                switch (member.kind) {
                case MemberKind::Name:
                case MemberKind::Text:
                    data[key] = member.words.empty() ? "x" : std::string(member.words.front());
                    break;
                case MemberKind::Boolean: data[key] = true; break;
                case MemberKind::Array: data[key] = Json::array(); break;
                case MemberKind::Object: data[key] = Json::object(); break;
                default: data[key] = 1;
                }
            }
            const auto checked = validateEvent("s", std::string(type.name), data);
            ASSERT_FALSE(checked) << type.name << " without " << missing.name;
            EXPECT_EQ(checked.error().code(), Code::InvalidInput);
            EXPECT_NE(checked.error().text().find(missing.name), std::string::npos) << checked.error().text();
        }
    }
}

TEST(EventTypes, AWrongKindOrWordIsRefused)
{
    EXPECT_FALSE(validateEvent("s", "note", {{"text", 3}}));
    EXPECT_FALSE(validateEvent("s", "session_ended", {{"reason", "bored"}}));
    EXPECT_FALSE(validateEvent("s", "candidate_created", {{"candidate", ""}, {"format", "native"}}));
    EXPECT_FALSE(
        validateEvent("s", "decided", {{"proposal", "p"}, {"decision", "reject"}, {"reason", "ugly"}}));
    EXPECT_TRUE(validateEvent("s", "decided", {{"proposal", "p"}, {"decision", "reject"}, {"reason", ""}}));
    EXPECT_FALSE(validateEvent("s", "note", Json::array()));
    EXPECT_FALSE(validateEvent("s", "dreamt", Json::object()));
}

TEST(EventTypes, WorkOutsideASessionIsRefused)
{
    EXPECT_FALSE(validateEvent("", "note", {{"text", "hello"}}));
}

TEST(EventTypes, DataNestedTooDeepIsRefusedInsteadOfOverflowingTheStack)
{
    Json deep = Json::array();
    for (int level = 0; level < 5000; ++level)
        deep = Json::array({std::move(deep)});
    EXPECT_FALSE(validateEvent("s", "note", {{"text", "x"}, {"figures", std::move(deep)}}));
}

} // namespace

} // namespace heddle
