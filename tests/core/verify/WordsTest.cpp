// SPDX-License-Identifier: Apache-2.0
#include "core/verify/Words.h"

#include <gtest/gtest.h>

#include <limits>

using namespace heddle;

TEST(Words, timesAdaptTheirUnitAndKeepThreeDigits)
{
    EXPECT_EQ(timeText(840e-9), "840 ns");
    EXPECT_EQ(timeText(12.34e-6), "12.3 µs");
    EXPECT_EQ(timeText(4.561e-3), "4.56 ms");
    EXPECT_EQ(timeText(1.2), "1.20 s");
    EXPECT_EQ(timeText(0.9999e-3), "1.00 ms");
    EXPECT_EQ(timeText(std::numeric_limits<double>::infinity()), "unknown");
}

TEST(Words, aRewardSaysWhatItStandsFor)
{
    EXPECT_EQ(rewardText(nullptr), "no reward");
    EXPECT_EQ(rewardText(-1), "reward -1: not clean");
    EXPECT_EQ(rewardText(1), "reward 1: right, but not faster than eager");
    EXPECT_EQ(rewardText(2), "reward 2: faster than eager");
    EXPECT_EQ(rewardText(3), "reward 3: faster than eager and torch.compile");
}

TEST(Words, aRatioShowsTheLargerSideOfItsInterval)
{
    EXPECT_EQ(ratioText({{"value", 1.84}, {"ci", {1.81, 1.86}}}), "1.84× ± 0.03");
    EXPECT_EQ(ratioText({{"value", 1.02}, {"ci", {0.97, 1.07}}}), "1.02× ± 0.05 (can't tell from 1)");
    EXPECT_EQ(ratioText({{"value", 2.0}, {"ci", {0.0, nullptr}}}), "2.00× (interval unknown)");
    EXPECT_EQ(ratioText(Json()), "not measured");
}
