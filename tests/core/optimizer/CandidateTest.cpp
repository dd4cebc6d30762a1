// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Candidate.h"
#include "tests/core/optimizer/GraphText.h"

#include <gtest/gtest.h>

using namespace heddle;
using heddle::test::GraphText;

namespace {

WrittenCandidate write(const GraphText &graph)
{
    auto candidate = candidateForGraph(graph.json());
    EXPECT_TRUE(candidate) << candidate.error().text();
    return candidate ? std::move(*candidate) : WrittenCandidate{};
}

/// One operator over a matrix of 16 MiB.
WrittenCandidate writeUnary(const std::string &op)
{
    GraphText graph;
    const Json x = graph.input("x", {4096, 1024});
    graph.output(graph.node(op, {x}, {4096, 1024}));
    return write(graph);
}

std::size_t countOf(const std::string &text, const std::string &word)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        ++count;
    return count;
}

} // namespace

TEST(CandidateTest, aLargeKernelThatOnlyMovesMemoryStartsWithStoresAroundTheCaches)
{
    EXPECT_EQ(writeUnary("aten.neg.default").tunables.at("STREAM").fallback, 1);
    EXPECT_EQ(writeUnary("aten.exp.default").tunables.at("STREAM").fallback, 0);
}

TEST(CandidateTest, streamedRowsAreFencedOnceByEachThreadAfterItsLastRow)
{
    const WrittenCandidate candidate = writeUnary("aten.neg.default");
    const std::string &source = candidate.files.at("kernel.cpp");
    EXPECT_EQ(countOf(source, "stream_fence"), 1u);
    EXPECT_NE(source.find("nowait"), std::string::npos) << source;
    EXPECT_LT(source.find("stream_copy"), source.find("stream_fence")) << source;
}

TEST(CandidateTest, longRowsAreFoldedInLanesAndShortOnesAreNot)
{
    for (const std::int64_t size : {1024, 32}) {
        GraphText graph;
        const Json x = graph.input("x", {4096, size});
        graph.output(graph.node("aten.sum.dim_IntList", {x, Json::array({1})}, {4096}));
        const WrittenCandidate candidate = write(graph);
        const bool inLanes = candidate.files.at("kernel.cpp").find("SumLanes") != std::string::npos;
        EXPECT_EQ(inLanes, size == 1024) << candidate.files.at("kernel.cpp");
    }
}

TEST(CandidateTest, divisionByAConstantIsWrittenAsAProduct)
{
    for (const double divisor : {3.0, 4.0}) {
        GraphText graph;
        const Json x = graph.input("x", {64, 64});
        graph.output(graph.node("aten.div.Tensor", {x, Json(divisor)}, {64, 64}));
        const WrittenCandidate candidate = write(graph);
        const std::string &source = candidate.files.at("kernel.cpp");
        const std::string product = divisor == 4.0 ? " * 0.25f" : "heddle::times_reciprocal(";
        EXPECT_NE(source.find(product), std::string::npos) << source;
    }
}
