// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Candidate.h"
#include "core/plan/Plan.h"
#include "tests/core/optimizer/GraphText.h"

#include <gtest/gtest.h>

using namespace heddle;
using heddle::test::GraphText;

namespace {

std::string fusionOf(const GraphText &graph)
{
    const auto candidate = candidateForGraph(graph.json());
    return candidate ? candidate->plan.text() : candidate.error().message();
}

GraphText softmaxGraph(std::int64_t dim, const std::string &prefix)
{
    GraphText graph;
    graph.setPrefix(prefix);
    const Json x = graph.input(prefix + "x", {8, 16, 100});
    const Json scaled = graph.node("aten.mul.Tensor", {x, 0.125}, {8, 16, 100});
    graph.output(graph.node("aten.softmax.int", {scaled, dim}, {8, 16, 100}));
    return graph;
}

} // namespace

TEST(FusionTest, theSummarySaysRowsStagesAndWhatIsReadInWords)
{
    const auto softmax = candidateForGraph(softmaxGraph(-1, "").json());
    ASSERT_TRUE(softmax) << softmax.error().text();
    EXPECT_EQ(softmax->plan.summary(),
              "fused_mul_softmax, 128 rows of 100: max of softmax; then sum of softmax; then writes out:0. "
              "It reads input:x.");
}

TEST(FusionTest, anElementWiseChainIsOneLoopOverMergedAxes)
{
    GraphText graph;
    const Json x = graph.input("x", {8, 16, 100});
    const Json y = graph.input("y", {8, 16, 100});
    const Json sum = graph.node("aten.add.Tensor", {x, y}, {8, 16, 100});
    graph.output(graph.node("aten.gelu.default", {sum}, {8, 16, 100}));
    EXPECT_EQ(fusionOf(graph),
              "kernel fused_add_gelu outer() inner(a2=12800)\n"
              "  stage 0: store out:0[1*a2];\n"
              "  read input:x[1*a2]\n"
              "  read input:y[1*a2]\n");
}

TEST(FusionTest, aBroadcastOperandKeepsItsAxisApart)
{
    GraphText graph;
    const Json x = graph.input("x", {8, 16, 100});
    const Json row = graph.input("row", {16, 1});
    graph.output(graph.node("aten.mul.Tensor", {x, row}, {8, 16, 100}));
    EXPECT_EQ(fusionOf(graph),
              "kernel fused_mul outer() inner(a0=8 a1=16 a2=100)\n"
              "  stage 0: store out:0[1600*a0+100*a1+1*a2];\n"
              "  read input:row[1*a1]\n"
              "  read input:x[1600*a0+100*a1+1*a2]\n");
}

TEST(FusionTest, softmaxIsThreeStagesOfOneKernelThatReadsItsInputOnce)
{
    EXPECT_EQ(fusionOf(softmaxGraph(-1, "n")),
              "kernel fused_mul_softmax outer(a1=128) inner(a2=100)\n"
              "  stage 0: max_quick of softmax;\n"
              "  stage 1: sum of softmax;\n"
              "  stage 2: store out:0[100*a1+1*a2];\n"
              "  read input:nx[100*a1+1*a2]\n");
}

TEST(FusionTest, softmaxAlongAMiddleDimensionRunsItsLanesOverTheContiguousOne)
{
    const auto candidate = candidateForGraph(softmaxGraph(1, "n").json());
    ASSERT_TRUE(candidate);
    EXPECT_EQ(candidate->plan.kernels.size(), 1u);
    EXPECT_NE(candidate->files.at("kernel.cpp").find("lane < lanes"), std::string::npos);
    EXPECT_TRUE(candidate->tunables.contains("TILE"));
}

TEST(FusionTest, thePlanOfACandidateIsOneThatTheParserTakes)
{
    for (const auto mode : {FusionMode::Full, FusionMode::Separate}) {
        const auto candidate = candidateForGraph(softmaxGraph(1, "n").json(), mode);
        ASSERT_TRUE(candidate);
        const auto plan = parsePlan(candidate->files);
        ASSERT_TRUE(plan) << plan.error().text();
        EXPECT_EQ(kernelSteps(*plan).size(), candidate->plan.kernels.size());
        EXPECT_EQ(plan->tunables.size(), candidate->tunables.size());
    }
}

TEST(FusionTest, namesOfNodesChangeNothingButTheNamesOfBuffers)
{
    std::string plain = fusionOf(softmaxGraph(-1, "n"));
    const std::string odd = fusionOf(softmaxGraph(-1, "softmax"));
    plain.replace(plain.find("input:nx"), 8, "input:softmaxx");
    EXPECT_EQ(plain, odd);
}

TEST(FusionTest, batchNormInTrainingUpdatesItsStatisticsInTheSameKernel)
{
    GraphText graph;
    const Json x = graph.input("x", {4, 8, 10, 10});
    const Json mean = graph.state("mean", {8});
    const Json variance = graph.state("variance", {8});
    const Json type = {{"dtype", "float32"}, {"shape", {4, 8, 10, 10}}};
    const Json channel = {{"dtype", "float32"}, {"shape", {8}}};
    const Json norm = graph.results("aten._native_batch_norm_legit_functional.default",
                                    {x, nullptr, nullptr, mean, variance, true, 0.1, 1e-5},
                                    {type, channel, channel, channel, channel});
    graph.output(norm);
    graph.update("mean", norm, 3);
    graph.update("variance", norm, 4);
    EXPECT_EQ(fusionOf(graph),
              "kernel fused_native_batch_norm_legit_functional outer(a1=8) inner(a0=4 a3=100)\n"
              "  stage 0: sum of native_batch_norm_legit_functional; sum of "
              "native_batch_norm_legit_functional;\n"
              "  stage 1: store out:0[800*a0+100*a1+1*a3]; store state:mean[1*a1]; "
              "store state:variance[1*a1];\n"
              "  read input:x[800*a0+100*a1+1*a3]\n"
              "  read state:mean[1*a1]\n"
              "  read state:variance[1*a1]\n");
}

TEST(FusionTest, groupNormSplitsTheChannelAxisIntoGroups)
{
    GraphText graph;
    const Json x = graph.input("x", {2, 12, 5, 5});
    graph.output(graph.node("aten.group_norm.default", {x, 4}, {2, 12, 5, 5}));
    const std::string text = fusionOf(graph);
    EXPECT_NE(text.find("outer(a1=8) inner(a4=75)"), std::string::npos) << text;
}

TEST(FusionTest, aReductionOverOtherAxesGoesThroughASmallBuffer)
{
    GraphText graph;
    const Json x = graph.input("x", {64, 100});
    const Json soft = graph.node("aten.softmax.int", {x, -1}, {64, 100});
    graph.output(graph.node("aten.softmax.int", {soft, 0}, {64, 100}));
    const auto candidate = candidateForGraph(graph.json());
    ASSERT_TRUE(candidate);
    ASSERT_EQ(candidate->plan.kernels.size(), 2u) << candidate->plan.text();
    for (const KernelBuffer &buffer : candidate->plan.temporaries)
        EXPECT_EQ(buffer.type.shape, (Shape{64}));
}

TEST(FusionTest, aSeparatePlanKeepsEachReductionInItsOwnKernel)
{
    const auto candidate = candidateForGraph(softmaxGraph(-1, "n").json(), FusionMode::Separate);
    ASSERT_TRUE(candidate);
    EXPECT_EQ(candidate->plan.kernels.size(), 3u) << candidate->plan.text();
}

TEST(FusionTest, outputsOfOneSetOfRowsShareAKernel)
{
    GraphText graph;
    const Json x = graph.input("x", {64, 100});
    graph.output(graph.node("aten.sum.dim_IntList", {x, {-1}}, {64}));
    graph.output(graph.node("aten.amax.default", {x, {-1}}, {64}));
    graph.output(graph.node("aten.exp.default", {x}, {64, 100}));
    const auto candidate = candidateForGraph(graph.json());
    ASSERT_TRUE(candidate);
    EXPECT_EQ(candidate->plan.kernels.size(), 1u) << candidate->plan.text();
}

TEST(FusionTest, operatorsThatAreNotCoveredAreAllNamed)
{
    GraphText graph;
    const Json x = graph.input("x", {4, 4});
    const Json product = graph.node("aten.mm.default", {x, x}, {4, 4});
    graph.output(graph.node("aten.cumsum.default", {product, 0}, {4, 4}));
    const auto candidate = candidateForGraph(graph.json());
    ASSERT_FALSE(candidate);
    EXPECT_EQ(candidate.error().code(), Code::NotCovered);
    EXPECT_EQ(candidate.error().message(), "not covered: aten.cumsum, aten.mm.");
}

TEST(FusionTest, changingAnInputInPlaceIsRefused)
{
    GraphText graph;
    const Json x = graph.input("x", {4, 4});
    graph.output(graph.node("aten.relu_.default", {x}, {4, 4}));
    const auto candidate = candidateForGraph(graph.json());
    ASSERT_FALSE(candidate);
    EXPECT_NE(candidate.error().message().find("changes an input in place"), std::string::npos);
}

TEST(FusionTest, aMalformedGraphIsAnErrorAtItsMember)
{
    Json graph = softmaxGraph(-1, "n").json();
    graph["nodes"][0]["out"]["shape"] = {8, -1};
    const auto candidate = candidateForGraph(graph);
    ASSERT_FALSE(candidate);
    EXPECT_EQ(candidate.error().code(), Code::InvalidInput);
    EXPECT_EQ(candidate.error().where(), "nodes[0].out.shape");
}
