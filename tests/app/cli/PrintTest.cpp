// SPDX-License-Identifier: Apache-2.0
#include "app/cli/Print.h"

#include <gtest/gtest.h>

namespace heddle::cli::test {

namespace {

Json row(const char *id, const char *status, const char *message)
{
    return {{"id", id}, {"status", status}, {"message", message}, {"data", Json::object()}};
}

Event judged(const std::string &stage, const std::string &verdict, const Json &rows)
{
    Event event;
    event.type = "judged";
    event.data = {{"stage", stage},
                  {"report", {{"stage", stage}, {"verdict", {{"class", verdict}, {"evidence", rows}}}}}};
    return event;
}

Event quiet(const std::string &stage)
{
    return judged(stage, "clean",
                  Json::array({row("machine_quiet", "passed", "others used 1 %"),
                               row("timing", "passed", "20 rounds")}));
}

Event busy(const std::string &stage)
{
    return judged(stage, "clean",
                  Json::array({row("machine_quiet", "not run", "others used 60 % of the processors"),
                               row("timing", "not run", "its times do not count")}));
}

std::string reason(const std::vector<Event> &events) { return reasonInEvidence(events); }

TEST(PrintTest, TheCheckUpTellsWhatIsThereWhatIsMissingAndWhatIsOnlyOptional)
{
    const Json rows = {
        {{"id", "compiler"}, {"ok", true}, {"found", "g++ 12"}, {"missing", ""}, {"next", ""}},
        {{"id", "pytorch"}, {"ok", false}, {"found", ""}, {"missing", "no torch"}, {"next", "install it"}},
        {{"id", "nvrtc"}, {"ok", true}, {"found", ""}, {"missing", "no NVRTC"}, {"next", "pip install"}}};
    EXPECT_EQ(doctorText({{"rows", rows}}),
              "  ✓ compiler            g++ 12\n"
              "  ✗ pytorch             no torch\n"
              "      next: install it\n"
              "  – nvrtc               no NVRTC\n"
              "      next: pip install\n");
}

TEST(PrintTest, ABusyMachineIsTheReasonWhyNothingWasProposed)
{
    EXPECT_NE(reason({busy("quick")}).find("others used 60 %"), std::string::npos);
    EXPECT_NE(reason({busy("quick")}).find("doctor --noise"), std::string::npos);
}

TEST(PrintTest, AConfirmedStageOnABusyMachineIsToldThoughTheQuickOneWasQuiet)
{
    EXPECT_NE(reason({quiet("quick"), busy("confirmed")}).find("others used 60 %"), std::string::npos);
}

TEST(PrintTest, WhatIsTriedAfterABusyConfirmationDoesNotHideIt)
{
    EXPECT_NE(reason({quiet("quick"), busy("confirmed"), quiet("quick")}).find("others used 60 %"),
              std::string::npos);
}

TEST(PrintTest, ARowOfTheQuickStageThatStayedDoesNotHideABusyConfirmation)
{
    const Event stale = judged("confirmed", "clean",
                               Json::array({row("machine_quiet", "passed", "others used 1 %"),
                                            row("timing", "not run", "the machine was not quiet")}));
    EXPECT_NE(reason({stale}).find("the machine was not quiet"), std::string::npos);
}

TEST(PrintTest, AQuietMachineIsNoReason)
{
    EXPECT_EQ(reason({quiet("quick"), quiet("confirmed")}), "");
    EXPECT_EQ(reason({busy("quick"), quiet("confirmed")}), "");
    EXPECT_EQ(reason({}), "");
    EXPECT_EQ(reasonInEvidence(Error(Code::Io, "unreadable")), "");
}

TEST(PrintTest, AWrongCandidateIsNamedAsSuch)
{
    EXPECT_EQ(reason({judged("quick", "wrong", Json::array())}), "its last candidate: wrong\n");
}

Json report(const Json &members)
{
    Json made{{"task", {{"name", "t"}, {"path", "t.py"}}},
              {"candidate", {{"digest", "d"}}},
              {"stage", "quick"},
              {"verdict", {{"class", "clean"}, {"evidence", Json::array()}}}};
    made.update(members);
    return made;
}

TEST(PrintTest, AComparisonWithoutARatioSaysWhyAndGivesNoFigure)
{
    const std::string text = reportText(
        report({{"against", {{"candidate", "o"}, {"speedup", nullptr}, {"message", "others used 60 %"}}}}),
        false);
    EXPECT_NE(text.find("no ratio: others used 60 %"), std::string::npos) << text;
    const std::string compared = reportText(
        report({{"against", {{"candidate", "o"}, {"speedup", {{"value", 1.5}, {"ci", {1.4, 1.6}}}}}}}),
        false);
    EXPECT_NE(compared.find("1.50"), std::string::npos) << compared;
}

TEST(PrintTest, MoreThanTheRoofIsToldAsARoofThatWasMeasuredBadly)
{
    const auto told = [](double share) {
        const Json roof{{"bound", "memory"}, {"ms", 1.0}, {"share", share}};
        return reportText(report({{"roof", roof}}), false);
    };
    EXPECT_NE(told(1.08).find("108 % (the roof itself"), std::string::npos) << told(1.08);
    EXPECT_NE(told(1.0).find("100 %\n"), std::string::npos) << told(1.0);
}

TEST(PrintTest, AToleranceOfThePersonStandsBesideTheVerdict)
{
    EXPECT_NE(reportText(report({{"flags", {{"tolerance", 0.1}}}}), false).find("tolerance 0.1"),
              std::string::npos);
    EXPECT_EQ(reportText(report({{"flags", {{"tolerance", nullptr}}}}), false).find("tolerance"),
              std::string::npos);
}

} // namespace

} // namespace heddle::cli::test
