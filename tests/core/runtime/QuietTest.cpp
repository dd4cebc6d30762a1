// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/Quiet.h"
#include "core/base/File.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace heddle {
namespace {

CpuCounters counters(std::uint64_t busy, std::uint64_t idle, std::uint64_t steal, std::uint64_t own)
{
    CpuCounters made;
    made.busy = busy;
    made.idle = idle;
    made.steal = steal;
    made.processTicks = own;
    return made;
}

class QuietTest : public ::testing::Test {
protected:
    Result<CpuCounters> read(const std::string &text)
    {
        auto folder = TempFolder::create("heddle-quiet-");
        EXPECT_TRUE(folder);
        const auto path = folder->path() / "stat";
        EXPECT_TRUE(writeFileAtomically(path, text));
        return readCpuCounters(path);
    }
};

TEST_F(QuietTest, theCountersAreThoseOfAllProcessorsInTheManualsOrder)
{
    const auto found =
        read("cpu  1 20 300 4000 50000 600000 7000000 80000000 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->busy, 1u + 20 + 300 + 600000 + 7000000);
    EXPECT_EQ(found->idle, 4000u + 50000);
    EXPECT_EQ(found->steal, 80000000u);
}

TEST_F(QuietTest, aFileOfAnotherFormIsAnErrorAndNotAQuietMachine)
{
    for (const char *text : {"", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 1 2 3\n", "cpu one two\n"}) {
        const auto found = read(text);
        ASSERT_FALSE(found) << text;
        EXPECT_EQ(found.error().code(), Code::Protocol);
    }
    const auto missing = readCpuCounters("/nowhere/stat");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), Code::Environment);
}

TEST_F(QuietTest, whatThisProcessUsesDoesNotCountAndWhatOthersUseDoes)
{
    const CpuCounters before = counters(1000, 1000, 0, 100);
    const QuietReport own = judgeQuiet(before, counters(1100, 1100, 0, 200), 9.0);
    EXPECT_TRUE(own.isQuiet) << "the load average lags, so it is told and not judged";
    EXPECT_DOUBLE_EQ(own.foreignShare, 0.0);
    EXPECT_DOUBLE_EQ(own.loadAverage, 9.0);
    const QuietReport others = judgeQuiet(before, counters(1100, 1100, 0, 100), 0.0);
    EXPECT_FALSE(others.isQuiet);
    EXPECT_DOUBLE_EQ(others.foreignShare, 0.5);
    EXPECT_NE(others.message.find("not quiet: others use 50.0 %"), std::string::npos) << others.message;
}

TEST_F(QuietTest, theLimitsAreATenthForOthersAndAFiftiethForTheHypervisor)
{
    const CpuCounters before = counters(0, 0, 0, 0);
    EXPECT_TRUE(judgeQuiet(before, counters(100, 900, 0, 0), 0.0).isQuiet);
    EXPECT_FALSE(judgeQuiet(before, counters(101, 899, 0, 0), 0.0).isQuiet);
    EXPECT_TRUE(judgeQuiet(before, counters(0, 980, 20, 0), 0.0).isQuiet);
    EXPECT_FALSE(judgeQuiet(before, counters(0, 979, 21, 0), 0.0).isQuiet);
}

TEST_F(QuietTest, countersThatStandStillOrRunBackwardsGiveNoShares)
{
    // Some virtual machines let idle time run backwards.
    for (const CpuCounters &after : {counters(100, 100, 100, 0), counters(50, 50, 50, 0)}) {
        const QuietReport report = judgeQuiet(counters(100, 100, 100, 0), after, 0.0);
        EXPECT_DOUBLE_EQ(report.foreignShare, 0.0);
        EXPECT_DOUBLE_EQ(report.stealShare, 0.0);
    }
}

TEST_F(QuietTest, aMachineWhoseProcessorsAllSpinForAnotherProcessIsNotQuiet)
{
    std::vector<pid_t> spinning;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            for (std::atomic<unsigned> turn = 0;; ++turn) {}
        }
        ASSERT_GT(pid, 0);
        spinning.push_back(pid);
    }
    const auto report = measureQuiet(std::chrono::milliseconds(500));
    for (const pid_t pid : spinning) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    }
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_FALSE(report->isQuiet) << report->message;
    EXPECT_GT(report->foreignShare + report->stealShare, 0.3);
    EXPECT_LE(report->foreignShare, 1.0);
    EXPECT_EQ(report->toJson()["message"], report->message);
}

} // namespace
} // namespace heddle
