// SPDX-License-Identifier: Apache-2.0
#include "core/stats/Interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace heddle;

namespace {

/// Rounds of calls whose time is `base` with a multiplicative spread per round and per call.
std::vector<RoundSamples> simulate(std::mt19937_64 &random, double base, double roundSpread)
{
    std::normal_distribution<double> normal;
    std::vector<RoundSamples> rounds(16);
    for (RoundSamples &round : rounds) {
        const double mood = std::exp(roundSpread * normal(random));
        for (int call = 0; call < 8; ++call) {
            const bool isOutlier = random() % 20 == 0;
            round.push_back(base * mood * std::exp(0.02 * normal(random)) * (isOutlier ? 3.0 : 1.0));
        }
    }
    return rounds;
}

} // namespace

TEST(Interval, theMedianOfAnEvenCountIsTheMeanOfTheMiddleTwo)
{
    const std::vector<double> samples{4.0, 1.0, 3.0, 2.0};
    EXPECT_DOUBLE_EQ(median(samples), 2.5);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.0), 1.0);
    EXPECT_DOUBLE_EQ(quantile(samples, 1.0), 4.0);
}

TEST(Interval, theSameCodeIsCalledDifferentInAtMostOneOfTwentyComparisons)
{
    std::mt19937_64 random(7);
    int excluded = 0;
    constexpr int trials = 400;
    for (int i = 0; i < trials; ++i) {
        const auto a = simulate(random, 1e-3, 0.02);
        const auto b = simulate(random, 1e-3, 0.02);
        const Interval ratio = speedup(a, b, 0.02, random());
        excluded += ratio.low > 1.0 || ratio.high < 1.0 ? 1 : 0;
    }
    EXPECT_LE(excluded, trials * 5 / 100) << "of " << trials;
}

TEST(Interval, aTenthSlowerIsFound)
{
    std::mt19937_64 random(8);
    int found = 0;
    for (int i = 0; i < 200; ++i) {
        const auto baseline = simulate(random, 1e-3, 0.02);
        const auto slower = simulate(random, 1.1e-3, 0.02);
        found += speedup(baseline, slower, 0.01, random()).high < 1.0 ? 1 : 0;
    }
    EXPECT_GE(found, 190);
}

TEST(Interval, theNoiseFloorWidensAnIntervalThatIsTooGood)
{
    const std::vector<RoundSamples> a(6, RoundSamples{1.0, 1.0});
    const std::vector<RoundSamples> b(6, RoundSamples{0.99, 0.99});
    EXPECT_GT(speedup(a, b, 0.0, 1).low, 1.0);
    EXPECT_LT(speedup(a, b, 0.02, 1).low, 1.0);
}

TEST(Interval, oneRoundProvesNothing)
{
    const std::vector<RoundSamples> one{{1.0, 2.0}};
    EXPECT_TRUE(std::isinf(speedup(one, one, 0.0, 1).high));
    EXPECT_TRUE(std::isinf(medianInterval(one, 1).high));
}

TEST(Interval, aDriftOfTheMachineThatBothSidesShareDoesNotMoveTheRatio)
{
    std::mt19937_64 random(9);
    std::normal_distribution<double> normal;
    int excluded = 0;
    int found = 0;
    constexpr int trials = 200;
    for (int i = 0; i < trials; ++i) {
        std::vector<RoundSamples> a, b, c;
        double mood = 1.0;
        for (int block = 0; block < 24; ++block) {
            if (random() % 4 == 0)
                mood = random() % 2 == 0 ? 1.0 : 1.7; // another guest of the same host comes or goes
            const auto call = [&](double base) {
                return RoundSamples(4, base * mood * std::exp(0.03 * normal(random)));
            };
            a.push_back(call(1.0));
            b.push_back(call(1.0));
            c.push_back(call(1.1));
        }
        const Interval same = speedup(a, b, 0.0, 1);
        excluded += same.low > 1.0 || same.high < 1.0 ? 1 : 0;
        found += speedup(a, c, 0.02, 1).high < 1.0 ? 1 : 0;
    }
    EXPECT_LE(excluded, trials * 8 / 100) << "of " << trials;
    EXPECT_GE(found, trials * 95 / 100);
}

TEST(Interval, theUndisturbedTimeIsNotMovedByWhatOthersAdd)
{
    std::mt19937_64 random(10);
    std::exponential_distribution<double> added(4.0);
    std::vector<RoundSamples> blocks(40, RoundSamples(4));
    for (RoundSamples &block : blocks) {
        const double mood = random() % 3 == 0 ? 1.0 : 1.5;
        for (double &call : block)
            call = mood * (1.0 + 0.3 * added(random));
    }
    EXPECT_NEAR(undisturbedTime(blocks), 1.0, 0.03);
    EXPECT_EQ(undisturbedTime({}), 0.0);
}

TEST(Interval, aProductIsAtLeastAsUncertainAsEachFactor)
{
    const Interval a{2.0, 1.8, 2.2};
    const Interval b{1.5, 1.45, 1.55};
    const Interval both = product(a, b);
    EXPECT_DOUBLE_EQ(both.value, 3.0);
    EXPECT_LT(both.low / both.value, a.low / a.value);
    EXPECT_GT(both.high / both.value, a.high / a.value);
}
