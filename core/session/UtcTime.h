// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

namespace heddle {

/// The present moment as "2026-11-30T10:30:45.123Z".
inline std::string utcNow()
{
    using namespace std::chrono;
    const auto now = floor<milliseconds>(system_clock::now());
    const std::time_t seconds = system_clock::to_time_t(floor<std::chrono::seconds>(now));
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    char fraction[16];
    std::snprintf(fraction, sizeof fraction, ".%03dZ",
                  static_cast<int>(now.time_since_epoch().count() % 1000));
    return std::string(date) + fraction;
}

} // namespace heddle
