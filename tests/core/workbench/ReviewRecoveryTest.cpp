// SPDX-License-Identifier: Apache-2.0
#include "ReviewFixture.h"

namespace heddle::test {

namespace {

/// A review that a kill ended after `decided`, with none, some or all of its files written.
class ReviewRecoveryTest : public ReviewFixture {
protected:
    std::string decideOnly(const FileTree &files, const FileTree &written)
    {
        const std::string proposal = propose(files);
        must("decided", {{"proposal", proposal}, {"decision", "accept"}, {"hunks", Json::array()}});
        EXPECT_TRUE(writeTree(head(), written));
        return proposal;
    }
};

const FileTree Files{{"plan.json", "{}\n"}, {"k.cpp", numberedLines()}};

TEST_F(ReviewRecoveryTest, AcceptingAgainFinishesTheLandingUnderTheSameDecision)
{
    const std::string proposal = decideOnly(Files, {{"k.cpp", Files.at("k.cpp")}});
    accept(proposal);
    EXPECT_EQ(onDisk(), Files);
    const auto decisions = *store().decisions();
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_EQ(decisions.front().revision, headDigest());
}

TEST_F(ReviewRecoveryTest, UndoTakesBackTheFilesThatWereWritten)
{
    for (const FileTree &written : {FileTree(), FileTree{{"k.cpp", Files.at("k.cpp")}}, Files}) {
        const std::string proposal = decideOnly(Files, written);
        const auto undone = workbench().undo(0, "person");
        ASSERT_TRUE(undone) << undone.error().text();
        EXPECT_TRUE(onDisk().empty());
        EXPECT_EQ(stateOf(proposal), "open");
    }
}

TEST_F(ReviewRecoveryTest, OwnTextBesideTheHalfWrittenLandingStays)
{
    accept(propose(Files));
    FileTree second = Files;
    second["k.cpp"] = numberedLines({{3, "three"}});
    decideOnly(second, {{"k.cpp", second["k.cpp"]}, {"notes.txt", "mine\n"}});
    ASSERT_TRUE(workbench().undo(0, "person"));
    FileTree expected = Files;
    expected["notes.txt"] = "mine\n";
    EXPECT_EQ(onDisk(), expected);
}

TEST_F(ReviewRecoveryTest, ProjectionsAreRebuiltEqualAfterAllOfIt)
{
    decideOnly(Files, Files);
    ASSERT_TRUE(workbench().undo(0, "person"));
    const auto checked = store().checkProjections();
    EXPECT_TRUE(checked) << checked.error().text();
}

} // namespace

} // namespace heddle::test
