// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heddle {

/// A central value with a 95 % interval, in the unit of its samples.
struct Interval {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;
};

/// One round of interleaved timing: the kept calls of one subject, seconds each.
using RoundSamples = std::vector<double>;

/// The middle value (mean of the two middle ones for an even count); 0 for no samples.
double median(std::span<const double> samples);
/// The q-quantile, 0 <= q <= 1, linear between order statistics; 0 for no samples.
double quantile(std::span<const double> samples, double q);
/// exp of the mean logarithm; 0 for no samples. All values must be positive.
double geometricMean(std::span<const double> values);

/// Median of all calls with a bootstrap interval that resamples whole rounds (calls inside one round are
/// not independent) and is widened by Student's t for few rounds.
Interval medianInterval(std::span<const RoundSamples> rounds, std::uint64_t seed);

/// What a call takes where the machine leaves it alone: the 5 % quantile over blocks of each block's fastest call. Other guests
/// of a machine only ever add time, so this repeats to half a percent where the median of the same calls moves by four
/// (docs/decisions/0013). 0 for no blocks.
double undisturbedTime(std::span<const RoundSamples> blocks);

/// How many times faster `subject` is than `baseline`: ratio of their undisturbed times, with a bootstrap over blocks (block i
/// of both ran one after the other on the same inputs) on the logarithm. `noiseFloor` is the relative half-width (0.02 = 2 %)
/// under which two processes that run the same code can't be told apart on this machine; it is added in quadrature.
/// Both must have the same number of blocks, at least 2, else the interval is (0, infinity).
Interval speedup(std::span<const RoundSamples> baseline, std::span<const RoundSamples> subject,
                 double noiseFloor, std::uint64_t seed);

/// The product of two independent ratios, intervals combined on the logarithm.
Interval product(const Interval &a, const Interval &b);

/// Two-sided 97.5 % quantile of Student's t with that many degrees of freedom (table up to 30, then 1.96).
double studentQuantile(int degreesOfFreedom);

} // namespace heddle
