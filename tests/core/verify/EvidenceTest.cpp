// SPDX-License-Identifier: Apache-2.0
#include "core/verify/Evidence.h"

#include <gtest/gtest.h>

using namespace heddle;

namespace {

EvidenceSheet completeSheet()
{
    EvidenceSheet sheet;
    for (const EvidenceRow &row : evidenceRows())
        sheet.pass(row.id, "fine");
    return sheet;
}

} // namespace

TEST(Evidence, aCompleteSheetWithoutFindingIsClean)
{
    EXPECT_EQ(completeSheet().verdict(), VerdictClass::Clean);
    EXPECT_TRUE(completeSheet().missing("confirmed").empty());
}

TEST(Evidence, anEmptySheetIsNotJudged)
{
    EXPECT_EQ(EvidenceSheet().verdict(), VerdictClass::NotJudged);
    EXPECT_FALSE(EvidenceSheet().missing("quick").empty());
}

TEST(Evidence, aCheckOfCorrectnessThatWasNotRunIsNeverClean)
{
    for (const char *id : {"correct", "inputs_unchanged", "repeatable", "work_after_return"}) {
        EvidenceSheet sheet = completeSheet();
        EvidenceSheet partial;
        for (const Evidence &row : sheet.rows()) {
            if (row.id != id)
                partial.pass(row.id, row.message);
        }
        EXPECT_EQ(partial.verdict(), VerdictClass::NotJudged) << id;
        partial.skip(id, "not possible here");
        EXPECT_EQ(partial.verdict(), VerdictClass::NotJudged) << id;
    }
}

TEST(Evidence, everyFailedRowGivesItsOwnClassAndThePrecedenceHolds)
{
    for (const EvidenceRow &row : evidenceRows()) {
        EvidenceSheet sheet = completeSheet();
        sheet.fail(row.id, "found");
        EXPECT_EQ(sheet.verdict(), row.ifFailed) << row.id;
        sheet.fail("builds", "no");
        EXPECT_LE(sheet.verdict(), VerdictClass::DidNotBuild) << row.id;
    }
}

TEST(Evidence, aFindingSurvivesALaterPassOfTheSameCheck)
{
    EvidenceSheet sheet = completeSheet();
    sheet.fail("timed_outputs", "call 7 was wrong");
    sheet.pass("timed_outputs", "fine");
    EXPECT_EQ(sheet.verdict(), VerdictClass::RewardHack);
}

TEST(Evidence, aCheckThatWasMadeIsNotUndoneByALaterNotRun)
{
    EvidenceSheet sheet = completeSheet();
    sheet.skip("guard_zones", "Python has none");
    EXPECT_EQ(sheet.find("guard_zones")->status, Status::Passed);
}

TEST(Evidence, aRowThatWasWithdrawnIsNotRunAndAFindingStays)
{
    EvidenceSheet sheet = completeSheet();
    sheet.fail("clock", "patched");
    sheet.withdraw({"timing", "clock", "machine_quiet"});
    EXPECT_EQ(sheet.find("timing"), nullptr);
    EXPECT_EQ(sheet.find("clock")->status, Status::Failed);
    sheet.skip("machine_quiet", "others were busy");
    EXPECT_EQ(sheet.find("machine_quiet")->status, Status::NotRun);
}

TEST(Evidence, theSheetSurvivesTheWayThroughJson)
{
    EvidenceSheet sheet = completeSheet();
    sheet.fail("precision", "tf32", {{"ratio", 60.0}});
    const EvidenceSheet again = EvidenceSheet::fromJson(sheet.toJson());
    EXPECT_EQ(again.verdict(), VerdictClass::PrecisionChanged);
    EXPECT_EQ(again.find("precision")->data.at("ratio"), 60.0);
    EXPECT_EQ(again.toJson(), sheet.toJson());
}

TEST(Reward, followsTheMilestonesAndNeedsAnIntervalThatExcludesOne)
{
    const auto ratio = [](double value, double low) {
        return Json{{"value", value}, {"ci", {low, value * 2.0 - low}}};
    };
    const Json both{{"eager", ratio(2.0, 1.9)}, {"compile", ratio(1.2, 1.1)}};
    const Json unsure{{"eager", ratio(2.0, 1.9)}, {"compile", ratio(1.2, 0.9)}};
    const Json slow{{"eager", ratio(1.04, 1.01)}, {"compile", ratio(2.0, 1.9)}};
    EXPECT_EQ(milestoneReward(VerdictClass::Clean, both), 3);
    EXPECT_EQ(milestoneReward(VerdictClass::Clean, unsure), 2);
    EXPECT_EQ(milestoneReward(VerdictClass::Clean, slow), 1);
    EXPECT_EQ(milestoneReward(VerdictClass::Clean, nullptr), 1);
    EXPECT_EQ(milestoneReward(VerdictClass::RewardHack, both), -1);
    EXPECT_TRUE(milestoneReward(VerdictClass::NotJudged, both).is_null());
}
