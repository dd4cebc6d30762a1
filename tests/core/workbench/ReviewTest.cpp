// SPDX-License-Identifier: Apache-2.0
#include "ReviewFixture.h"

namespace heddle::test {

namespace {

using ReviewTest = ReviewFixture;

const FileTree First{{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines()}};

TEST_F(ReviewTest, AcceptingAllWritesEveryFileAndMovesTheHead)
{
    const std::string proposal = propose(First);
    const Json landed = accept(proposal);
    EXPECT_EQ(onDisk(), First);
    EXPECT_EQ(stateOf(proposal), "accepted");
    EXPECT_EQ(headDigest(), stringOr(landed, "revision"));
    EXPECT_EQ(*store().tree(headDigest()), First);
    EXPECT_TRUE(boolOr(landed, "judged", false)) << "the very files of the candidate have its verdict";
    EXPECT_EQ(stringOr(landed, "verdict"), "clean");
}

TEST_F(ReviewTest, AVerdictOnAnotherTextOfTheTaskDoesNotCountForWhatLands)
{
    const std::string proposal = propose(First);
    rewriteTask("class Model: other = True\n");
    EXPECT_FALSE(boolOr(accept(proposal), "judged", true)) << "what was judged is the task of before";
    ASSERT_TRUE(workbench().undo(0, "person"));
    rewriteTask("class Model: pass\n");
    EXPECT_TRUE(boolOr(accept(proposal), "judged", false)) << "its text is back, and with it the verdict";
}

TEST_F(ReviewTest, AVerdictOnAnotherTextOfTheTaskOpensNoProposal)
{
    const std::string digest = candidate(First);
    rewriteTask("class Model: other = True\n");
    const auto started = workbench().startSession(head().parent_path() / "t.py", "builtin");
    ASSERT_TRUE(started) << started.error().text();
    const auto refused = workbench().propose(*started, digest, "item", "of before");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::InvalidInput);
}

TEST_F(ReviewTest, AnEditedImportMakesTheTaskAnotherOne)
{
    ASSERT_TRUE(writeFileAtomically(head().parent_path() / "helper.py", "x = 1\n"));
    rewriteTask("import helper\nclass Model: pass\n");
    const std::string before = taskDigest();
    ASSERT_TRUE(writeFileAtomically(head().parent_path() / "helper.py", "x = 2\n"));
    EXPECT_NE(taskDigest(), before);
}

TEST_F(ReviewTest, AcceptingOneFileLeavesTheRestToBeDecided)
{
    accept(propose(First));
    FileTree second{{"plan.json", "{\"v\": 2}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}})}};
    const std::string proposal = propose(second);
    const Json landed = accept(proposal, Selection{{"plan.json"}, {}});
    FileTree half = First;
    half["plan.json"] = second["plan.json"];
    EXPECT_EQ(onDisk(), half);
    EXPECT_EQ(stateOf(proposal), "accepted_in_part");
    EXPECT_FALSE(boolOr(landed, "judged", true)) << "half of a candidate was never judged";
    accept(proposal);
    EXPECT_EQ(onDisk(), second);
    EXPECT_EQ(stateOf(proposal), "accepted");
}

TEST_F(ReviewTest, AcceptingOneHunkLeavesTheOtherHunksOut)
{
    accept(propose(First));
    const std::string proposal =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}, {20, "twenty"}})}});
    accept(proposal, Selection{{}, {{"kernels/k.cpp", 1}}});
    EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{20, "twenty"}}));
}

TEST_F(ReviewTest, AHunkThatIsNotThereIsRefusedAndNothingIsDecided)
{
    accept(propose(First));
    const std::string proposal =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}})}});
    const auto refused = workbench().accept(proposal, Selection{{}, {{"kernels/k.cpp", 7}}}, "person");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::InvalidInput);
    EXPECT_EQ(stateOf(proposal), "open");
    EXPECT_EQ(onDisk(), First);
}

TEST_F(ReviewTest, AConflictMarksTheProposalStaleAndWritesNothing)
{
    accept(propose(First));
    const std::string proposal =
        propose({{"plan.json", "{\"v\": 2}\n"}, {"kernels/k.cpp", numberedLines({{3, "theirs"}})}});
    type("kernels/k.cpp", numberedLines({{3, "mine"}}));
    const FileTree before = onDisk();
    const std::string headBefore = headDigest();
    const auto refused = workbench().accept(proposal, {}, "person");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::Conflict);
    EXPECT_EQ(refused.error().where(), "kernels/k.cpp");
    EXPECT_EQ(stateOf(proposal), "stale");
    EXPECT_EQ(onDisk(), before);
    EXPECT_EQ(headDigest(), headBefore);
    EXPECT_EQ(store().decisions()->size(), 1u);
}

TEST_F(ReviewTest, TypingElsewhereInTheFileIsMerged)
{
    accept(propose(First));
    const std::string proposal =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "theirs"}})}});
    type("kernels/k.cpp", numberedLines({{20, "mine"}}));
    accept(proposal);
    EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{3, "theirs"}, {20, "mine"}}));
}

TEST_F(ReviewTest, UndoKeepsWhatWasTypedAfterwards)
{
    accept(propose(First));
    accept(propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "theirs"}})}}));
    type("kernels/k.cpp", numberedLines({{3, "theirs"}, {20, "later"}}));
    ASSERT_TRUE(workbench().undo(0, "person"));
    EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{20, "later"}}));
}

TEST_F(ReviewTest, UndoGivesBackTheOwnEditsOfBefore)
{
    accept(propose(First));
    const std::string proposal =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "theirs"}})}});
    const std::string mine = numberedLines({{20, "mine"}});
    type("kernels/k.cpp", mine);
    accept(proposal);
    ASSERT_TRUE(workbench().undo(0, "person"));
    EXPECT_EQ(onDisk()["kernels/k.cpp"], mine);
    EXPECT_EQ(stateOf(proposal), "open");
    EXPECT_EQ((*store().tree(headDigest())).at("kernels/k.cpp"), mine);
}

TEST_F(ReviewTest, UndoingTheFirstAcceptanceEmptiesTheFolder)
{
    accept(propose(First));
    ASSERT_TRUE(workbench().undo(0, "person"));
    EXPECT_TRUE(onDisk().empty());
    EXPECT_EQ(headDigest(), "");
    const auto again = workbench().undo(0, "person");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), Code::NotFound);
    EXPECT_EQ(again.error().where(), workbench().store().workspace().string());
}

TEST_F(ReviewTest, TheLastDecisionIsNeverThePersonsOwnText)
{
    type("notes.txt", "mine\n");
    accept(propose(First));
    ASSERT_TRUE(workbench().undo(0, "person"));
    EXPECT_EQ(onDisk(), (FileTree{{"notes.txt", "mine\n"}}));
    const auto again = workbench().undo(0, "person");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), Code::NotFound);
    EXPECT_EQ(onDisk(), (FileTree{{"notes.txt", "mine\n"}}));
}

TEST_F(ReviewTest, ADecisionIsUndoneOnce)
{
    const Json landed = accept(propose(First));
    const std::int64_t decision = integerOr(landed, "decision", 0);
    ASSERT_TRUE(workbench().undo(decision, "person"));
    const auto again = workbench().undo(decision, "person");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), Code::Conflict);
}

TEST_F(ReviewTest, TwoProposalsInARowLandOneAfterTheOther)
{
    accept(propose(First));
    const std::string second =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}})}});
    const std::string third =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{20, "twenty"}})}});
    accept(second);
    accept(third);
    EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{3, "three"}, {20, "twenty"}}));
    ASSERT_TRUE(workbench().undo(0, "person"));
    EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{3, "three"}}));
    ASSERT_TRUE(workbench().undo(0, "person"));
    EXPECT_EQ(onDisk(), First);
}

TEST_F(ReviewTest, AFileThatTheProposalRemovesGoesAndComesBackWithUndo)
{
    accept(propose(First));
    accept(propose({{"plan.json", "{}\n"}}));
    EXPECT_EQ(onDisk(), (FileTree{{"plan.json", "{}\n"}}));
    ASSERT_TRUE(workbench().undo(0, "person"));
    EXPECT_EQ(onDisk(), First);
}

TEST_F(ReviewTest, RestoreMakesAnEarlierRevisionTheHeadAndCanBeUndone)
{
    const std::string first = stringOr(accept(propose(First)), "revision");
    const FileTree second{{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}})}};
    accept(propose(second));
    const auto restored = workbench().restore("t.py", first, "person");
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_EQ(onDisk(), First);
    EXPECT_EQ(headDigest(), first);
    const auto undone = workbench().undo(integerOr(*restored, "event", 0), "person");
    ASSERT_TRUE(undone) << undone.error().text();
    EXPECT_EQ(onDisk(), second);
}

TEST_F(ReviewTest, ARestoreKnowsTheTaskByAnyNameOfItsFileAndMakesNoSecondHead)
{
    const std::string first = stringOr(accept(propose(First)), "revision");
    accept(propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}})}}));
    const std::string absolute = (head().parent_path() / "t.py").string();
    const auto restored = workbench().restore(absolute, first, "person");
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_EQ(headDigest(), first);
    EXPECT_FALSE(*store().head(absolute));
    ASSERT_TRUE(workbench().undo(integerOr(*restored, "event", 0), "person"));
    EXPECT_TRUE(workbench().restore("t.heddle/../t.py", first, "person"));
    EXPECT_EQ(headDigest(), first);
}

TEST_F(ReviewTest, ARestoreForATaskThatIsNotThereIsRefusedAndMakesNothing)
{
    const std::string first = stringOr(accept(propose(First)), "revision");
    for (const char *name : {"typo.py", "t", "t.heddle"}) {
        const auto refused = workbench().restore(name, first, "person");
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().code(), Code::NotFound);
        EXPECT_FALSE(*store().head(name));
    }
    EXPECT_FALSE(std::filesystem::exists(workbench().headFolder("typo.py")));
}

TEST_F(ReviewTest, WindowsLineEndsOfThePersonAreKept)
{
    accept(propose(First));
    const std::string proposal =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}})}});
    type("kernels/k.cpp", numberedLines({}, "\r\n"));
    accept(proposal);
    EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{3, "three"}}, "\r\n"));
}

TEST_F(ReviewTest, UnsavedTextIsMergedAndWritten)
{
    accept(propose(First));
    const std::string proposal = propose({{"plan.json", "{\"v\": 2}\n"}, {"kernels/k.cpp", numberedLines()}});
    const std::string unsaved = numberedLines({{20, "unsaved"}});
    const Json landed = accept(proposal, {}, {{"kernels/k.cpp", unsaved}});
    EXPECT_EQ(onDisk(), (FileTree{{"plan.json", "{\"v\": 2}\n"}, {"kernels/k.cpp", unsaved}}));
    EXPECT_EQ(*store().tree(stringOr(landed, "revision")), onDisk());
}

TEST_F(ReviewTest, ARejectedProposalCannotBeAcceptedUntilThatIsUndone)
{
    const std::string proposal = propose(First);
    ASSERT_TRUE(workbench().reject(proposal, "style", "too long", "person"));
    const auto refused = workbench().accept(proposal, {}, "person");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::Conflict);
    EXPECT_TRUE(onDisk().empty());
    ASSERT_TRUE(workbench().undo(0, "person"));
    accept(proposal);
    EXPECT_EQ(onDisk(), First);
}

TEST_F(ReviewTest, RejectingHunksKeepsTheirReasonAndLeavesTheRestToBeDecided)
{
    accept(propose(First));
    const std::string proposal =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}, {20, "twenty"}})}});
    ASSERT_TRUE(
        workbench().reject(proposal, "unsafe", "aliases", "person", Selection{{}, {{"kernels/k.cpp", 0}}}));
    EXPECT_EQ(stateOf(proposal), "open");
    const std::vector<DecisionRow> decisions = *store().decisions("t.py");
    const DecisionRow &rejected = decisions.back();
    EXPECT_EQ(rejected.decision + ' ' + rejected.reason, "reject unsafe");
    const Event event = store().eventsAfter(rejected.event - 1, {}, 1)->front();
    EXPECT_EQ(memberOr(event.data, "hunks"), (Json::array({{{"file", "kernels/k.cpp"}, {"index", 0}}})));
    accept(proposal, Selection{{}, {{"kernels/k.cpp", 1}}});
    EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{20, "twenty"}}));
    EXPECT_EQ(stateOf(proposal), "accepted_in_part");
}

TEST_F(ReviewTest, RestoreKeepsWhatIsOnScreenAsARevision)
{
    const std::string first = stringOr(accept(propose(First)), "revision");
    const std::string unsaved = numberedLines({{7, "typed"}});
    const auto restored = workbench().restore("t.py", first, "person", {{"kernels/k.cpp", unsaved}});
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_EQ(onDisk(), First);
    ASSERT_TRUE(workbench().undo(integerOr(*restored, "event", 0), "person"));
    EXPECT_EQ(onDisk()["kernels/k.cpp"], unsaved);
}

TEST_F(ReviewTest, AnExportWritesThePreviewByteForByteAndNeverOverAnything)
{
    const std::string digest = candidate(First);
    const Json preview{{"files", {{"model_new.py", "x = 1\r\n"}}}, {"as", "modelnew"}, {"checked", true}};
    const std::filesystem::path folder = head().parent_path() / "out";
    const auto written = workbench().writeExport(session(), digest, preview, folder);
    ASSERT_TRUE(written) << written.error().text();
    EXPECT_EQ(*readTree(folder), (FileTree{{"model_new.py", "x = 1\r\n"}}));
    const auto refused = workbench().writeExport(session(), digest, preview, folder);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::InvalidInput);
}

TEST_F(ReviewTest, ACheckUpWithoutAWorkerSaysWhatIsMissing)
{
    const auto checked = workbench().doctor({}, {});
    ASSERT_TRUE(checked) << checked.error().text();
    const Json &row = memberOr(*checked, "rows").at(0);
    EXPECT_EQ(stringOr(row, "id"), "worker");
    EXPECT_FALSE(boolOr(row, "ok", true));
    EXPECT_NE(stringOr(row, "missing"), "");
    EXPECT_NE(stringOr(row, "next"), "");
}

TEST_F(ReviewTest, ACandidateWithoutAVerdictIsNeverProposed)
{
    const auto digest = store().putTree(First);
    ASSERT_TRUE(digest);
    const auto refused = workbench().propose(session(), *digest, "item", "untested");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::InvalidInput);
    EXPECT_TRUE(store().proposals()->empty());
}

} // namespace

} // namespace heddle::test
