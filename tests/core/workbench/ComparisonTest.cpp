// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/Comparison.h"

#include <gtest/gtest.h>

namespace heddle::test {

namespace {

Json row(const char *id, const char *status, const char *message)
{
    return {{"id", id}, {"status", status}, {"message", message}, {"data", Json::object()}};
}

Json reportWith(const std::initializer_list<Json> &rows)
{
    return {{"verdict", {{"class", "clean"}, {"evidence", Json(Json::array_t(rows))}}}};
}

TEST(ComparisonTest, TimesOfAQuietMachineCount)
{
    EXPECT_EQ(reasonNotTimed(reportWith({row("correct", "passed", "right"),
                                         row("machine_quiet", "passed", "others used 1 %"),
                                         row("timing", "passed", "20 rounds")})),
              "");
}

TEST(ComparisonTest, ABusyMachineIsTheReasonInItsOwnWords)
{
    EXPECT_EQ(reasonNotTimed(reportWith({row("machine_quiet", "not run", "others used 60 %"),
                                         row("timing", "not run", "its times do not count")})),
              "others used 60 %");
}

TEST(ComparisonTest, ARowThatAnEarlierStagePassedDoesNotHideABusyMachine)
{
    EXPECT_EQ(reasonNotTimed(reportWith({row("machine_quiet", "passed", "others used 1 %"),
                                         row("timing", "not run", "the machine was not quiet")})),
              "the machine was not quiet");
    EXPECT_EQ(reasonNotTimed(reportWith({row("machine_quiet", "not run", "others used 60 %"),
                                         row("timing", "passed", "20 rounds")})),
              "others used 60 %");
}

TEST(ComparisonTest, WhatWasNotTimedIsNotCompared)
{
    EXPECT_NE(reasonNotTimed(reportWith({row("builds", "failed", "it does not compile")})), "");
    EXPECT_NE(reasonNotTimed(Json::object()), "");
}

TEST(ComparisonTest, ARatioIsGivenOnlyWhereThereIsOne)
{
    const Json ratio{{"value", 1.5}, {"ci", {1.4, 1.6}}};
    const Json given = againstJson("d", Json{{"ratios", Json::array({ratio})}});
    EXPECT_EQ(given, (Json{{"candidate", "d"}, {"speedup", ratio}}));
    for (const Json &answer :
         {Json{{"ratios", Json::array()}}, Json{{"ratios", Json::array({nullptr})}}, Json::object()}) {
        const Json none = againstJson("d", answer);
        EXPECT_TRUE(memberOr(none, "speedup").is_null());
        EXPECT_NE(stringOr(none, "message"), "") << answer.dump();
    }
    const Json busy = againstJson("d", Json{{"ratios", {nullptr}}, {"message", "others used 60 %"}});
    EXPECT_EQ(stringOr(busy, "message"), "others used 60 %");
    const Json failed = againstJson("d", Error(Code::CompileFailed, "the other does not compile"));
    EXPECT_NE(stringOr(failed, "message").find("the other does not compile"), std::string::npos);
}

} // namespace

} // namespace heddle::test
