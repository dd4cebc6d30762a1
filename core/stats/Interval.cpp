// SPDX-License-Identifier: Apache-2.0
#include "core/stats/Interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace heddle {

namespace {

constexpr int resamples = 1000;
constexpr double normalQuantile = 1.959964;
constexpr double undisturbedQuantile = 0.05;

/// Median of the rounds' pooled calls, for rounds named by `chosen`.
double pooledMedian(std::span<const RoundSamples> rounds, std::span<const std::size_t> chosen,
                    std::vector<double> &scratch)
{
    scratch.clear();
    for (const std::size_t index : chosen)
        scratch.insert(scratch.end(), rounds[index].begin(), rounds[index].end());
    if (scratch.empty())
        return 0.0;
    const auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(scratch.size() / 2);
    std::nth_element(scratch.begin(), middle, scratch.end());
    if (scratch.size() % 2 == 1)
        return *middle;
    return (*middle + *std::max_element(scratch.begin(), middle)) / 2.0;
}

/// The fastest call of each block; 0 for a block without calls.
std::vector<double> fastestOfEach(std::span<const RoundSamples> blocks)
{
    std::vector<double> fastest;
    for (const RoundSamples &block : blocks)
        fastest.push_back(block.empty() ? 0.0 : *std::min_element(block.begin(), block.end()));
    return fastest;
}

double lowQuantile(std::span<const double> values, std::span<const std::size_t> chosen,
                   std::vector<double> &scratch)
{
    scratch.clear();
    for (const std::size_t index : chosen)
        scratch.push_back(values[index]);
    return quantile(scratch, undisturbedQuantile);
}

/// Bootstrap standard error of `statistic` over rounds, times Student's t and the factor sqrt(n/(n-1)) that
/// the bootstrap of n values lacks (Davison and Hinkley, Bootstrap Methods, section 2.3).
template<typename Statistic>
double halfWidth(std::size_t count, std::uint64_t seed, const Statistic &statistic)
{
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<std::size_t> pick(0, count - 1);
    std::vector<std::size_t> chosen(count);
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < resamples; ++i) {
        for (std::size_t &index : chosen)
            index = pick(random);
        const double value = statistic(std::span<const std::size_t>(chosen));
        sum += value;
        squares += value * value;
    }
    const double mean = sum / resamples;
    const double variance = std::max(0.0, squares / resamples - mean * mean);
    const auto n = static_cast<double>(count);
    return studentQuantile(static_cast<int>(count) - 1) * std::sqrt(variance * n / (n - 1.0));
}

std::vector<std::size_t> allOf(std::size_t count)
{
    std::vector<std::size_t> indices(count);
    for (std::size_t i = 0; i < count; ++i)
        indices[i] = i;
    return indices;
}

} // namespace

double quantile(std::span<const double> samples, double q)
{
    if (samples.empty())
        return 0.0;
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    const double position = q * static_cast<double>(sorted.size() - 1);
    const auto lower = static_cast<std::size_t>(position);
    const std::size_t upper = std::min(lower + 1, sorted.size() - 1);
    const double share = position - static_cast<double>(lower);
    return sorted[lower] + (sorted[upper] - sorted[lower]) * share;
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

double geometricMean(std::span<const double> values)
{
    if (values.empty())
        return 0.0;
    double sum = 0.0;
    for (const double value : values)
        sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

double studentQuantile(int degreesOfFreedom)
{
    static constexpr std::array<double, 30> table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                                  2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                                  2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                                  2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    if (degreesOfFreedom < 1)
        return std::numeric_limits<double>::infinity();
    if (degreesOfFreedom > static_cast<int>(table.size()))
        return normalQuantile;
    return table[static_cast<std::size_t>(degreesOfFreedom - 1)];
}

Interval medianInterval(std::span<const RoundSamples> rounds, std::uint64_t seed)
{
    std::vector<double> scratch;
    const std::vector<std::size_t> all = allOf(rounds.size());
    const double value = pooledMedian(rounds, all, scratch);
    if (rounds.size() < 2)
        return {value, 0.0, std::numeric_limits<double>::infinity()};
    const double width = halfWidth(rounds.size(), seed, [&](std::span<const std::size_t> chosen) {
        return pooledMedian(rounds, chosen, scratch);
    });
    return {value, std::max(0.0, value - width), value + width};
}

double undisturbedTime(std::span<const RoundSamples> blocks)
{
    return quantile(fastestOfEach(blocks), undisturbedQuantile);
}

Interval speedup(std::span<const RoundSamples> baseline, std::span<const RoundSamples> subject,
                 double noiseFloor, std::uint64_t seed)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (baseline.size() != subject.size() || baseline.empty())
        return {0.0, 0.0, infinity};
    const std::vector<double> slow = fastestOfEach(baseline);
    const std::vector<double> fast = fastestOfEach(subject);
    std::vector<double> scratch;
    const auto logRatio = [&](std::span<const std::size_t> chosen) {
        const double above = lowQuantile(slow, chosen, scratch);
        const double below = lowQuantile(fast, chosen, scratch);
        return above > 0.0 && below > 0.0 ? std::log(above / below) : 0.0;
    };
    const std::vector<std::size_t> all = allOf(baseline.size());
    const double value = logRatio(all);
    if (baseline.size() < 2)
        return {std::exp(value), 0.0, infinity};
    const double width = std::hypot(halfWidth(baseline.size(), seed, logRatio), noiseFloor);
    return {std::exp(value), std::exp(value - width), std::exp(value + width)};
}

Interval product(const Interval &a, const Interval &b)
{
    if (a.low <= 0.0 || b.low <= 0.0)
        return {a.value * b.value, 0.0, std::numeric_limits<double>::infinity()};
    const double value = a.value * b.value;
    const double down = std::hypot(std::log(a.value / a.low), std::log(b.value / b.low));
    const double up = std::hypot(std::log(a.high / a.value), std::log(b.high / b.value));
    return {value, value * std::exp(-down), value * std::exp(up)};
}

} // namespace heddle
