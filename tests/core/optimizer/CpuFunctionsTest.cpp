// SPDX-License-Identifier: Apache-2.0
// What heddle_cpu.h offers to generated kernels beside the functions of CpuMathTest, called as plain C++.
#include "resources/include/heddle_cpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

/// Floats of every size and sign, the special ones, and NaN with any bits.
std::vector<float> sampleOfFloats()
{
    std::vector<float> values = {0.0f,   -0.0f,  INFINITY, -INFINITY, NAN,   -NAN,
                                 -87.3f, -87.4f, 88.0f,    89.0f,     -14.0f};
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 20011)
        values.push_back(heddle::from_bits(static_cast<std::uint32_t>(bits)));
    return values;
}

void expectWithin(float got, double exact, double error, float x)
{
    EXPECT_EQ(std::isnan(got), std::isnan(x)) << x;
    if (!std::isnan(x)) {
        EXPECT_NEAR(static_cast<double>(got), exact, error) << x;
    }
}

TEST(CpuFunctions, cheapSigmoidAndNormalDistributionKeepTheirAbsoluteErrorAndNaN)
{
    for (const float x : sampleOfFloats()) {
        const auto wide = static_cast<double>(x);
        expectWithin(heddle::sigmoid_flush(x), 1.0 / (1.0 + std::exp(-wide)), 1e-7, x);
        expectWithin(heddle::normal_cdf(x), 0.5 * std::erfc(-wide / std::sqrt(2.0)), 1e-7, x);
        if (!(x > 0.0f))
            expectWithin(heddle::exp_flush(x), std::exp(wide), 1e-7, x);
    }
    EXPECT_EQ(heddle::sigmoid_flush(-INFINITY), 0.0f);
    EXPECT_EQ(heddle::normal_cdf(-INFINITY), 0.0f);
    EXPECT_EQ(heddle::normal_cdf(INFINITY), 1.0f);
}

TEST(CpuFunctions, multiplyingByAReciprocalInTwoPartsIsTheDivision)
{
    const float divisor = 0.7f;
    const double inverse = 1.0 / static_cast<double>(divisor);
    auto high = static_cast<float>(inverse);
    if (static_cast<double>(high) > inverse)
        high = std::nextafter(high, 0.0f);
    const auto low = static_cast<float>(inverse - static_cast<double>(high));
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    int others = 0;
    for (int i = 0; i < 100000; ++i) {
        const float x = normal(random);
        const float product = heddle::times_reciprocal(x, high, low);
        const float quotient = x / divisor;
        others += product != quotient ? 1 : 0;
        EXPECT_LE(std::abs(product - quotient), 1.2e-7f * std::abs(quotient)) << x;
    }
    EXPECT_LT(others, 10);
    EXPECT_EQ(heddle::times_reciprocal(-INFINITY, high, low), -INFINITY);
}

TEST(CpuFunctions, foldsInLanesSeeEachElementOnceWhateverTheLength)
{
    std::mt19937 random(11);
    std::normal_distribution<float> normal;
    std::vector<float> row(400);
    for (float &x : row)
        x = normal(random);
    for (std::int64_t length = 0; length <= 400; length = length < 150 ? length + 1 : length + 25) {
        heddle::SumLanes sum;
        heddle::MaxLanes most;
        heddle::MinLanes least;
        heddle::NaNLanes broken;
        std::vector<int> visits(row.size(), 0);
        heddle::for_lanes(0, length, [&](std::int64_t i, std::int64_t lane) {
            const float x = row[static_cast<std::size_t>(i)];
            ++visits[static_cast<std::size_t>(i)];
            sum.add(lane, x);
            most.add(lane, x);
            least.add(lane, x);
            broken.add(lane, x);
        });
        double exact = 0.0;
        float largest = -std::numeric_limits<float>::infinity();
        float smallest = std::numeric_limits<float>::infinity();
        for (std::int64_t i = 0; i < length; ++i) {
            const float x = row[static_cast<std::size_t>(i)];
            EXPECT_EQ(visits[static_cast<std::size_t>(i)], 1);
            exact += static_cast<double>(x);
            largest = std::max(largest, x);
            smallest = std::min(smallest, x);
        }
        EXPECT_NEAR(sum.total(), exact, 2e-5) << length;
        EXPECT_EQ(most.total(), largest) << length;
        EXPECT_EQ(least.total(), smallest) << length;
        EXPECT_EQ(broken.any(), 0) << length;
    }
}

TEST(CpuFunctions, extremesPassOverANaNThatIsNoticedApart)
{
    for (const std::int64_t place : {0, 63, 64, 130}) {
        heddle::MaxLanes most;
        heddle::NaNLanes broken;
        heddle::for_lanes(0, 131, [&](std::int64_t i, std::int64_t lane) {
            const float x = i == place ? NAN : static_cast<float>(i);
            most.add(lane, x);
            broken.add(lane, x);
        });
        EXPECT_EQ(most.total(), place == 130 ? 129.0f : 130.0f);
        EXPECT_NE(broken.any(), 0);
    }
}

} // namespace
