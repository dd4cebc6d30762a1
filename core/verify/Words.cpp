// SPDX-License-Identifier: Apache-2.0
#include "core/verify/Words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace heddle {

namespace {

/// Three significant digits, without an exponent, for 0.001 <= value < 10000.
std::string threeDigits(double value)
{
    const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    std::array<char, 32> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
    return buffer.data();
}

} // namespace

std::string timeText(double seconds)
{
    if (!std::isfinite(seconds) || seconds < 0.0)
        return "unknown";
    if (seconds < 999.5e-9)
        return threeDigits(seconds * 1e9) + " ns";
    if (seconds < 999.5e-6)
        return threeDigits(seconds * 1e6) + " µs";
    if (seconds < 0.9995)
        return threeDigits(seconds * 1e3) + " ms";
    return threeDigits(seconds) + " s";
}

std::string ratioText(const Json &ratio)
{
    const Json &interval = memberOr(ratio, "ci");
    const double value = numberOr(ratio, "value", 0.0);
    if (value <= 0.0 || !interval.is_array() || interval.size() != 2)
        return "not measured";
    const bool isOpen = !interval[0].is_number() || !interval[1].is_number();
    if (isOpen)
        return threeDigits(value) + "× (interval unknown)";
    const double low = interval[0].get<double>();
    const double high = interval[1].get<double>();
    std::string text = threeDigits(value) + "× ± " + threeDigits(std::max(high - value, value - low));
    if (low <= 1.0 && high >= 1.0)
        text += " (can't tell from 1)";
    return text;
}

std::string rewardText(const Json &reward)
{
    if (!reward.is_number_integer())
        return "no reward";
    const char *meaning = "not clean";
    switch (reward.get<int>()) {
    case 1: meaning = "right, but not faster than eager"; break;
    case 2: meaning = "faster than eager"; break;
    case 3: meaning = "faster than eager and torch.compile"; break;
    default: break;
    }
    return "reward " + compactText(reward) + ": " + meaning;
}

std::string classText(std::string_view name)
{
    std::string text(name);
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

} // namespace heddle
