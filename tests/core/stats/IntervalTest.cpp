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
    std::vector<RoundSamples> rounds(8);
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
        const Interval ratio = speedup(a, b, 0.0, random());
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

TEST(Interval, aProductIsAtLeastAsUncertainAsEachFactor)
{
    const Interval a{2.0, 1.8, 2.2};
    const Interval b{1.5, 1.45, 1.55};
    const Interval both = product(a, b);
    EXPECT_DOUBLE_EQ(both.value, 3.0);
    EXPECT_LT(both.low / both.value, a.low / a.value);
    EXPECT_GT(both.high / both.value, a.high / a.value);
}
