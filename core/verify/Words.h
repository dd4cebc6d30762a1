// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"

#include <string>

namespace heddle {

/// A time in its own unit with three significant digits: "840 ns", "12.3 µs", "4.56 ms", "1.20 s".
std::string timeText(double seconds);
/// "1.84× ± 0.03" from {"value", "ci": [low, high]}; says so where the interval includes 1.
std::string ratioText(const Json &ratio);
/// What a milestone reward stands for: "reward 2: faster than eager". Null: "no reward".
std::string rewardText(const Json &reward);
/// A class as a person reads it: "clean", "reward hack".
std::string classText(std::string_view className);

} // namespace heddle
