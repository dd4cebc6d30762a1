// SPDX-License-Identifier: Apache-2.0
#include "core/plan/LaunchShape.h"

#include "tests/core/plan/PlanVectors.h"

namespace heddle {
namespace {

/// The launch of a plan's only step, which has the given members; symbols n = rows * cols, rows and cols from shapes.
Result<LaunchShape> shapeOf(const std::string &members, const std::map<std::string, std::int64_t> &given = {})
{
    const FileTree files{{"k.cu", "x"},
                         {"plan.json",
                          R"({"heddle": 1, "target": "cuda",
            "symbols": {"rows": "input:x.shape[0]", "cols": "input:x.shape[1]", "n": "rows * cols", "four": "BLOCK / 64"},
            "tunables": {"BLOCK": {"default": 256, "choices": [0, 128, 256]}},
            "steps": [{"repeat": {"count": 2, "index": "t", "steps": [{"kernel": "k", "source": "k.cu", "grid": ["n"], )"
                              + members
                              + R"(, "args": []}]}}], "outputs": [{"dtype": "float32", "shape": [4]}]})"}};
    HEDDLE_TRY(const Plan plan, parsePlan(files));
    return launchShape(plan, *kernelSteps(plan).front(), given);
}

TEST(LaunchShape, constantsTunablesAndSymbolsOfTunablesAreKnownWithoutATask)
{
    const auto shape = shapeOf(R"("block": ["BLOCK", "four"], "shared": "BLOCK * 4", "cluster": [2])");
    ASSERT_TRUE(shape) << shape.error().text();
    EXPECT_EQ(shape->block, (std::array<std::int64_t, 3>{256, 4, 1}));
    EXPECT_EQ(shape->threads(), 1024);
    EXPECT_EQ(shape->sharedBytes, 1024);
    EXPECT_EQ(shape->cluster, (std::array<std::int64_t, 3>{2, 1, 1}));
    EXPECT_TRUE(shape->unknown.empty());
    const auto small = shapeOf(R"("block": ["BLOCK"])", {{"BLOCK", 128}});
    ASSERT_TRUE(small);
    EXPECT_EQ(small->threads(), 128);
    EXPECT_EQ(small->sharedBytes, 0);
    EXPECT_EQ(small->cluster, (std::array<std::int64_t, 3>{1, 1, 1}));
}

TEST(LaunchShape, whatDependsOnShapesOrOnARepeatIsUnknownByItsName)
{
    const auto shape = shapeOf(R"("block": ["BLOCK"], "shared": "n * 4 + cols + t + input:x.shape[0]")");
    ASSERT_TRUE(shape) << shape.error().text();
    EXPECT_EQ(shape->threads(), 256);
    EXPECT_FALSE(shape->sharedBytes);
    EXPECT_EQ(shape->unknown, (std::vector<std::string>{"n", "cols", "t", "input:x.shape[0]"}));
    EXPECT_FALSE(shapeOf(R"("block": ["cols"])")->threads());
    // Given by its own name, or by what it is made of.
    EXPECT_EQ(shapeOf(R"("block": ["n"])", {{"n", 96}})->threads(), 96);
    EXPECT_EQ(shapeOf(R"("block": ["n"])", {{"rows", 3}, {"cols", 32}})->threads(), 96);
    EXPECT_EQ(shapeOf(R"("block": ["n"])", {{"input:x.shape[0]", 2}, {"cols", 32}})->threads(), 64);
}

TEST(LaunchShape, aSizeThatCannotBeIsAnErrorAtItsPlace)
{
    for (const auto &[members, given, message] :
         std::vector<std::tuple<std::string, std::map<std::string, std::int64_t>, std::string>>{
             {R"("block": ["BLOCK"])", {{"BLOCK", 0}}, "\"BLOCK\" is 0, which is less than 1"},
             {R"("block": [32], "shared": "cols - 1")",
              {{"cols", 0}},
              "\"cols - 1\" is -1, which is less than 0"},
             {R"("block": ["32 / cols"])", {{"cols", 0}}, "zero"},
             {R"("block": ["cols * cols"])",
              {{"cols", std::int64_t{1} << 40}},
              "does not fit into 64 bits"}}) {
        const auto shape = shapeOf(members, given);
        ASSERT_FALSE(shape) << members;
        EXPECT_EQ(shape.error().code(), Code::InvalidInput);
        EXPECT_NE(shape.error().message().find(message), std::string::npos) << shape.error().text();
        EXPECT_EQ(shape.error().where().rfind("plan.json: steps[0].repeat.steps[0].", 0), 0u)
            << shape.error().text();
    }
    const auto huge = shapeOf(R"("block": ["cols", "cols", "cols"])", {{"cols", std::int64_t{1} << 62}});
    ASSERT_TRUE(huge);
    EXPECT_GT(huge->threads().value_or(0), 1024);
}

TEST(LaunchShape, theNamesThatMayBeGivenAreThoseOfThePlan)
{
    const auto plan = parsePlan(testing::vectorFiles("bias_gelu", "cuda"));
    ASSERT_TRUE(plan);
    EXPECT_EQ(settableNames(*plan), (std::vector<std::string>{"BLOCK", "cols", "n", "rows"}));
}

} // namespace
} // namespace heddle
