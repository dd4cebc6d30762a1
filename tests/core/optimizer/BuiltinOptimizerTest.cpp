// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/BuiltinOptimizer.h"
#include "core/base/Digest.h"
#include "tests/core/optimizer/GraphText.h"

#include <gtest/gtest.h>

#include <deque>

using namespace heddle;
using heddle::test::GraphText;

namespace {

/// Tools that answer from a script and remember what the policy did.
class ScriptedTools : public Tools {
public:
    const CancelToken &cancel() const override { return m_cancel; }
    double secondsLeft() const override { return seconds; }
    Result<Json> profileBaseline() override
    {
        calls.push_back("profile_baseline");
        return Json{{"event", 1},
                    {"baselines", {{"eager", {{"median_ms", 9.0}}}, {"compile", {{"median_ms", compileMs}}}}},
                    {"roof", {{"ms", roofMs}, {"bytes", 1000}}}};
    }
    Result<Json> graph() override
    {
        calls.push_back("graph");
        return captured;
    }
    Result<std::string> proposeEdit(const FileTree &files, const std::string &, const std::string &) override
    {
        calls.push_back("propose_edit");
        trees.push_back(files);
        return treeDigest(files);
    }
    Result<Json> compile(const std::string &) override
    {
        calls.push_back("compile");
        return Json{{"ok", true}, {"diagnostics", Json::array()}};
    }
    Result<Json> verify(const std::string &) override
    {
        calls.push_back("verify");
        std::string verdict = "clean";
        if (!verdicts.empty()) {
            verdict = verdicts.front();
            verdicts.pop_front();
        }
        return Json{{"event", 5},
                    {"verdict", {{"class", verdict}, {"evidence", Json::array()}}},
                    {"candidate", {{"median_ms", candidateMs}, {"ci_ms", {candidateMs, candidateMs}}}}};
    }
    Result<Json> benchmark(const std::string &, const Json &tunables) override
    {
        calls.push_back("benchmark");
        const bool isFast = tunables.value("CHUNK", 0) == fastChunk;
        const double median = isFast ? 3.0 : 4.0;
        return Json{{"event", 6}, {"median_ms", median}, {"ci_ms", {median - spread, median + spread}}};
    }
    Result<Json> submit(const std::string &candidate, const std::string &) override
    {
        calls.push_back("submit");
        submitted = candidate;
        if (!refusal.is_null())
            return Json{{"proposal", nullptr}, {"report", refusal}, {"event", 8}};
        return Json{{"proposal", "p1"}};
    }
    Result<void> writePlan(const std::vector<PlanItem> &items) override
    {
        plan = items;
        return {};
    }
    Result<void> updatePlanItem(const std::string &, const std::string &, const std::string &) override
    {
        return {};
    }
    Result<void> note(const std::string &text, const Json &figures) override
    {
        notes.push_back(text);
        for (const Json &figure : figures)
            allFiguresHaveEvents = allFiguresHaveEvents && figure["event"].is_number();
        return {};
    }
    std::size_t count(const std::string &call) const
    {
        return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), call));
    }
    void stop()
    {
        m_source.request_stop();
        m_cancel = m_source.get_token();
    }

    Json captured;
    double seconds = 1000.0;
    double compileMs = 6.0;
    double roofMs = 2.0;
    double candidateMs = 4.0;
    double spread = 0.1;
    int fastChunk = -1;
    std::deque<std::string> verdicts;
    std::vector<std::string> calls;
    std::vector<FileTree> trees;
    std::vector<PlanItem> plan;
    std::vector<std::string> notes;
    std::string submitted;
    Json refusal; ///< the confirmed report of a candidate that is not made a proposal
    bool allFiguresHaveEvents = true;

    bool hasNote(const std::string &words) const
    {
        return std::any_of(notes.begin(), notes.end(),
                           [&](const std::string &text) { return text.find(words) != std::string::npos; });
    }

private:
    CancelSource m_source;
    CancelToken m_cancel;
};

ScriptedTools toolsForChain()
{
    GraphText graph;
    const Json x = graph.input("x", {1024, 1024});
    const Json y = graph.node("aten.exp.default", {x}, {1024, 1024});
    graph.output(graph.node("aten.add.Tensor", {y, x}, {1024, 1024}));
    ScriptedTools tools;
    tools.captured = graph.json();
    return tools;
}

} // namespace

TEST(BuiltinOptimizerTest, aCleanCandidateIsTunedAndSubmitted)
{
    ScriptedTools tools = toolsForChain();
    tools.fastChunk = 4096;
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome) << outcome.error().text();
    EXPECT_EQ(outcome->reason, "done");
    EXPECT_EQ(outcome->proposal, "p1");
    EXPECT_EQ(outcome->candidate, tools.submitted);
    EXPECT_EQ(tools.count("verify"), 2u); // the tuned candidate is judged again
    const auto plan = parseJson(tools.trees.back().at("plan.json"), "plan.json");
    ASSERT_TRUE(plan);
    EXPECT_EQ((*plan)["tunables"]["CHUNK"]["default"], 4096);
    EXPECT_TRUE(tools.allFiguresHaveEvents);
    EXPECT_EQ(tools.plan.size(), 2u);
}

TEST(BuiltinOptimizerTest, aDifferenceWithinTheNoiseChangesNothing)
{
    ScriptedTools tools = toolsForChain();
    tools.fastChunk = 4096;
    tools.spread = 1.0;
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(tools.trees.size(), 1u);
}

TEST(BuiltinOptimizerTest, aWrongCandidateFallsBackToSeparateKernelsAndSaysSo)
{
    ScriptedTools tools = toolsForChain();
    tools.verdicts = {"wrong", "clean"};
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->proposal, "p1");
    EXPECT_TRUE(std::any_of(tools.notes.begin(), tools.notes.end(),
                            [](const std::string &note) { return note.starts_with("Falling back"); }));
}

TEST(BuiltinOptimizerTest, nothingCleanMeansNothingSubmitted)
{
    ScriptedTools tools = toolsForChain();
    tools.verdicts = {"wrong", "wrong"};
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->reason, "no_candidate");
    EXPECT_EQ(tools.count("submit"), 0u);
}

TEST(BuiltinOptimizerTest, aCandidateFarSlowerThanTheBestBaselineIsNotConfirmed)
{
    ScriptedTools tools = toolsForChain();
    tools.candidateMs = 13.0;
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->reason, "no_candidate");
    EXPECT_EQ(tools.count("submit"), 0u);
}

TEST(BuiltinOptimizerTest, aCandidateThatOnlySeemsSlowerIsDecidedByConfirming)
{
    ScriptedTools tools = toolsForChain();
    tools.candidateMs = 7.0;
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->proposal, "p1");
}

TEST(BuiltinOptimizerTest, aCandidateConfirmedToBeSlowerEndsWithoutCandidateAndSaysBothTimes)
{
    ScriptedTools tools = toolsForChain();
    tools.refusal = {{"verdict", {{"class", "clean"}}},
                     {"candidate", {{"median_ms", 6.5}}},
                     {"baselines", {{"strongest", {{"median_ms", 6.25}}}}}};
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->reason, "no_candidate");
    EXPECT_EQ(outcome->candidate, "");
    EXPECT_EQ(outcome->proposal, "");
    EXPECT_NE(outcome->message.find("6.5 ms against 6.25 ms"), std::string::npos) << outcome->message;
    EXPECT_TRUE(tools.allFiguresHaveEvents);
}

TEST(BuiltinOptimizerTest, aBaselineConfirmedAtTheRoofEndsAtTheRoof)
{
    ScriptedTools tools = toolsForChain();
    tools.refusal = {{"verdict", {{"class", "clean"}}},
                     {"candidate", {{"median_ms", 3.1}, {"undisturbed_ms", 2.2}}},
                     {"baselines", {{"strongest", {{"median_ms", 3.0}, {"undisturbed_ms", 2.15}}}}},
                     {"roof", {{"ms", 1.95}}}};
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->reason, "at_roof");
    EXPECT_EQ(outcome->candidate, "");
    EXPECT_NE(outcome->message.find("2.2 ms against 2.15 ms"), std::string::npos) << outcome->message;
    EXPECT_NE(outcome->message.find("the roof of 1.95 ms"), std::string::npos) << outcome->message;
    // The roof that counts is the one timed beside them, however another was before.
    tools.refusal["roof"]["ms"] = 1.9;
    const auto below = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(below);
    EXPECT_EQ(below->reason, "no_candidate");
}

TEST(BuiltinOptimizerTest, aCandidateThatIsNotCleanWhenConfirmedIsNoProposal)
{
    ScriptedTools tools = toolsForChain();
    tools.refusal = {{"verdict", {{"class", "wrong"}, {"evidence", Json::array()}}}};
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->reason, "no_candidate");
    EXPECT_NE(outcome->message.find("'wrong'"), std::string::npos) << outcome->message;
}

TEST(BuiltinOptimizerTest, aTaskAtItsRoofIsLeftAlone)
{
    ScriptedTools tools = toolsForChain();
    tools.compileMs = 2.05;
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->reason, "at_roof");
    EXPECT_EQ(tools.calls, std::vector<std::string>{"profile_baseline"});
}

TEST(BuiltinOptimizerTest, tuningStopsAtTheBudget)
{
    ScriptedTools tools = toolsForChain();
    tools.seconds = 5.0;
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->reason, "budget");
    EXPECT_EQ(tools.count("benchmark"), 1u);
    EXPECT_TRUE(tools.hasNote("no other setting was tried: the time is up"));
    EXPECT_EQ(tools.count("submit"), 1u);
}

TEST(BuiltinOptimizerTest, aKernelAtTheRoofIsNotTunedAndTheNoteSaysWhy)
{
    ScriptedTools tools = toolsForChain();
    tools.roofMs = 3.9;
    tools.candidateMs = 5.5; // as the quick stage saw it; the timing before tuning says 4
    ASSERT_TRUE(BuiltinOptimizer().run(tools));
    EXPECT_EQ(tools.count("benchmark"), 1u);
    EXPECT_TRUE(tools.hasNote("no other setting was tried: 4 ms is at the roof"))
        << ::testing::PrintToString(tools.notes);
}

TEST(BuiltinOptimizerTest, aGraphThatIsNotCoveredEndsWithTheOperatorsName)
{
    GraphText graph;
    const Json x = graph.input("x", {8, 8});
    graph.output(graph.node("aten.linear.default", {x, x}, {8, 8}));
    ScriptedTools tools;
    tools.captured = graph.json();
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), Code::NotCovered);
    EXPECT_EQ(outcome.error().message(), "not covered: aten.linear.");
}

TEST(BuiltinOptimizerTest, aCancelledRunEndsBeforeItProposesAnything)
{
    ScriptedTools tools = toolsForChain();
    tools.stop();
    const auto outcome = BuiltinOptimizer().run(tools);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), Code::Cancelled);
    EXPECT_EQ(tools.count("propose_edit"), 0u);
}
