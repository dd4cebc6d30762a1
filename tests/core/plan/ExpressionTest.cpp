// SPDX-License-Identifier: Apache-2.0
#include "core/plan/Expression.h"

#include "core/base/File.h"
#include "core/json/Json.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

Json golden()
{
    const auto text = readFile(std::string(HEDDLE_SOURCE_DIR) + "/tests/core/plan/expressions.json");
    EXPECT_TRUE(text) << text.error().text();
    return *parseJson(*text, "expressions.json");
}

Expression::Lookup namesOf(const Json &vectors)
{
    return [names = vectors["names"]](std::string_view name) -> Result<std::int64_t> {
        const auto found = names.find(std::string(name));
        if (found == names.end())
            return Error(Code::InvalidInput, "nothing is named \"" + std::string(name) + '"');
        return found->get<std::int64_t>();
    };
}

TEST(Expression, everyGoldenVectorHasItsValue)
{
    const Json vectors = golden();
    ASSERT_GE(vectors["values"].size(), 40u);
    for (const Json &row : vectors["values"]) {
        const auto text = row[0].get<std::string>();
        const auto expression = Expression::parse(text);
        ASSERT_TRUE(expression) << text << ": " << expression.error().text();
        const auto value = expression->evaluate(namesOf(vectors));
        ASSERT_TRUE(value) << text << ": " << value.error().text();
        EXPECT_EQ(*value, row[1].get<std::int64_t>()) << text;
    }
}

TEST(Expression, overflowDivisionByZeroAndUnknownNamesAreErrorsOfEvaluation)
{
    const Json vectors = golden();
    for (const Json &row : vectors["evaluation_errors"]) {
        const auto expression = Expression::parse(row.get<std::string>());
        ASSERT_TRUE(expression) << row << expression.error().text();
        EXPECT_FALSE(expression->evaluate(namesOf(vectors))) << row;
    }
}

TEST(Expression, whatIsNotTheGrammarIsRefusedWithAColumnAndWhatWasExpected)
{
    const Json vectors = golden();
    for (const Json &row : vectors["syntax_errors"]) {
        const auto expression = Expression::parse(row.get<std::string>());
        ASSERT_FALSE(expression) << row;
        EXPECT_EQ(expression.error().code(), Code::InvalidInput);
        EXPECT_NE(expression.error().message().find("column"), std::string::npos)
            << expression.error().text();
        EXPECT_EQ(expression.error().next().rfind("expected ", 0), 0u) << expression.error().text();
    }
}

TEST(Expression, deepNestingIsRefusedInsteadOfExhaustingTheStack)
{
    EXPECT_FALSE(Expression::parse(std::string(100000, '(')));
    EXPECT_FALSE(Expression::parse(std::string(1000, '(') + "1" + std::string(1000, ')')));
    EXPECT_FALSE(Expression::parse(std::string(1000, '-') + "a"));
    EXPECT_TRUE(Expression::parse(std::string(20, '(') + "1" + std::string(20, ')')));
}

TEST(Expression, namesAreListedOnceInOrder)
{
    const auto expression = Expression::parse("b + a * b - input:x.shape[0] + a");
    ASSERT_TRUE(expression);
    EXPECT_EQ(expression->names(), (std::vector<std::string>{"b", "a", "input:x.shape[0]"}));
}

TEST(Expression, cppTextKeepsStructureAndFloorDivision)
{
    const auto expression = Expression::parse("(a - 1) / ceil_div(b, 2) % 3 + min(a, b, 4) * -(b)");
    ASSERT_TRUE(expression);
    EXPECT_EQ(expression->cppText([](std::string_view name) { return "v_" + std::string(name); }),
              "(heddle_floor_mod(heddle_floor_div((v_a - INT64_C(1)), heddle_ceil_div(v_b, INT64_C(2))), "
              "INT64_C(3)) + (heddle_min(heddle_min(v_a, v_b), INT64_C(4)) * (-v_b)))");
}

} // namespace
} // namespace heddle
