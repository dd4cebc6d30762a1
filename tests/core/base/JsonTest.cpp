// SPDX-License-Identifier: Apache-2.0
#include "core/json/Json.h"

#include <gtest/gtest.h>

using namespace heddle;

TEST(Json, aSyntaxErrorNamesItsLineItsColumnWhatIsWrongAndWhatToDo)
{
    struct Row {
        const char *text;
        const char *where;
        const char *reason;
    };
    const Row rows[] = {
        {"{\n \"a\": ,\n}", "plan.json:2:7", "unexpected ','"},
        {"{\"a\": 1,}", "plan.json:1:9", "unexpected '}'; expected string literal"},
        {"{\"a\": 1", "plan.json:1:8", "unexpected end of input"},
        {"{\"a\": 1\n\n", "plan.json:3:1", "unexpected end of input"},
        {"", "plan.json:1:1", "unexpected end of input"},
        {"// no\n{}", "plan.json:1:1", "invalid literal"},
        {"{\"ä×\" 1}", "plan.json:1:7", "expected ':'"},          // characters, not bytes
        {"{\"a\": \"x\n\"}", "plan.json:1:9", "must be escaped"}, // on the line that it ends
    };
    for (const Row &row : rows) {
        const auto parsed = parseJson(row.text, "plan.json");
        ASSERT_FALSE(parsed) << row.text;
        EXPECT_EQ(parsed.error().code(), Code::InvalidInput);
        EXPECT_EQ(parsed.error().where(), row.where) << row.text;
        EXPECT_NE(parsed.error().message().find(row.reason), std::string::npos) << parsed.error().text();
        EXPECT_EQ(parsed.error().message().find("json.exception"), std::string::npos);
        EXPECT_FALSE(parsed.error().next().empty());
    }
}

TEST(Json, aLongTextThatWasReadLastDoesNotFillTheMessage)
{
    std::string text = "[\"";
    for (int i = 0; i < 500; ++i)
        text += "ä";
    const auto parsed = parseJson(text, "plan.json");
    ASSERT_FALSE(parsed);
    EXPECT_LT(parsed.error().message().size(), 250u);
    // Cut between characters: a half one would be replaced on its way out.
    EXPECT_EQ(compactText(Json(parsed.error().message())).find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Json, lenientReadersFallBackOnAWrongKind)
{
    const Json object{{"n", "text"}, {"s", 3}};
    EXPECT_EQ(integerOr(object, "n", 7), 7);
    EXPECT_EQ(stringOr(object, "s", "x"), "x");
    EXPECT_EQ(stringOr(Json::array(), "s", "x"), "x");
}

TEST(Json, anErrorSurvivesTheWayThereAndBack)
{
    const Error inner(Code::Io, "disk full", "/x");
    const Error outer = inner.wrapped("cannot save", "here");
    EXPECT_EQ(errorFromJson(toJson(outer)).text(), outer.text());
}

TEST(Json, invalidUtf8IsReplacedInsteadOfThrown) { EXPECT_EQ(compactText(Json("\xff")), "\"\xEF\xBF\xBD\""); }

TEST(Json, aNumberThatNoDoubleHoldsIsAnError)
{
    const auto parsed = parseJson("[1,\n 1e400]", "reply");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code(), Code::InvalidInput);
    EXPECT_EQ(parsed.error().where(), "reply:2:2");
}

TEST(Json, aValueThatIsNestedTooDeepIsRefusedBeforeItIsBuilt)
{
    const std::string deep(300, '[');
    const auto refused = parseJson(deep + std::string(300, ']'), "reply");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().where(), "reply:1:257");
    // Brackets inside a string are no nesting, an escaped quote does not end it.
    EXPECT_TRUE(parseJson("\"\\\"" + deep + "\"", "reply"));
    EXPECT_TRUE(parseJson(std::string(200, '[') + std::string(200, ']'), "reply"));
}
