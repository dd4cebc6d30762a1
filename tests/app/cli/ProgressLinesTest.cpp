// SPDX-License-Identifier: Apache-2.0
#include "app/cli/ProgressLines.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// What was written, and when.
class ProgressLinesTest : public ::testing::Test {
protected:
    void wait(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

    std::vector<std::string> lines()
    {
        const std::lock_guard lock(m_mutex);
        return m_lines;
    }

    bool comes(const std::string &line)
    {
        for (int i = 0; i < 200; ++i) {
            const auto all = lines();
            if (!all.empty() && all.back() == line)
                return true;
            wait(10ms);
        }
        return false;
    }

    std::function<void(const std::string &)> sink()
    {
        return [this](const std::string &line) {
            const std::lock_guard lock(m_mutex);
            m_lines.push_back(line);
            m_times.push_back(Clock::now());
        };
    }

    std::mutex m_mutex;
    std::vector<std::string> m_lines;
    std::vector<Clock::time_point> m_times;
};

TEST_F(ProgressLinesTest, theFirstStageIsWrittenAtOnceAndOnceOnly)
{
    ProgressLines progress(sink(), 10s);
    for (int i = 0; i < 50; ++i)
        progress.show({"timing", i / 50.0, "round " + std::to_string(i)});
    EXPECT_EQ(lines(), std::vector<std::string>{"timing  round 0\n"});
}

TEST_F(ProgressLinesTest, aStageThatBeginsTooSoonIsWrittenWhenItsTimeHasComeThoughNothingMoreIsHeard)
{
    ProgressLines progress(sink(), 100ms);
    progress.show({"compiling", -1.0, {}});
    progress.show({"checking", 0.0, {}});
    progress.show({"confirming", -1.0, {}}); // the one before was over before its time came
    EXPECT_TRUE(comes("confirming\n"));
    EXPECT_EQ(lines(), (std::vector<std::string>{"compiling\n", "confirming\n"}));
}

TEST_F(ProgressLinesTest, twoLinesAreNeverCloserThanAskedHoweverManyStagesThereAre)
{
    {
        ProgressLines progress(sink(), 100ms);
        for (int i = 0; i < 60; ++i) {
            progress.show({"stage " + std::to_string(i), -1.0, {}});
            wait(10ms);
        }
    }
    ASSERT_GE(m_times.size(), 3u);
    for (std::size_t i = 1; i < m_times.size(); ++i)
        EXPECT_GE(m_times[i] - m_times[i - 1], 99ms);
    for (const std::string &line : m_lines)
        EXPECT_EQ(line.find('\r'), std::string::npos);
}

TEST_F(ProgressLinesTest, aStageThatLastsIsWrittenAgainWithHowFarItIs)
{
    ProgressLines progress(sink(), 20ms);
    progress.show({"timing", 0.0, {}});
    wait(250ms);
    progress.show({"timing", 0.4, {}});
    EXPECT_EQ(lines(), (std::vector<std::string>{"timing\n", "timing 40 %\n"}));
}

TEST_F(ProgressLinesTest, whatWaitsIsForgottenAtTheEnd)
{
    ProgressLines progress(sink(), 50ms);
    progress.show({"compiling", -1.0, {}});
    progress.show({"checking", -1.0, {}});
    progress.drop();
    wait(150ms);
    EXPECT_EQ(lines(), std::vector<std::string>{"compiling\n"});
}

} // namespace
} // namespace heddle::cli
