// SPDX-License-Identifier: Apache-2.0
#include "core/json/Json.h"

#include <gtest/gtest.h>

using namespace heddle;

TEST(Json, aSyntaxErrorNamesItsLine)
{
    const auto parsed = parseJson("{\n \"a\": ,\n}", "plan.json");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().where(), "plan.json:2");
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
    const auto parsed = parseJson("[1e400]", "reply");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code(), Code::InvalidInput);
}

TEST(Json, aValueThatIsNestedTooDeepIsRefusedBeforeItIsBuilt)
{
    const std::string deep(300, '[');
    ASSERT_FALSE(parseJson(deep + std::string(300, ']'), "reply"));
    // Brackets inside a string are no nesting, an escaped quote does not end it.
    EXPECT_TRUE(parseJson("\"\\\"" + deep + "\"", "reply"));
    EXPECT_TRUE(parseJson(std::string(200, '[') + std::string(200, ']'), "reply"));
}
