// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QCoreApplication>
#include <QString>

#include <optional>

namespace heddle {

/// A measured ratio with its interval, as it stands in a report: {"value", "ci": [low, high]}.
struct Ratio {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;

    /// A speedup is claimed only where the interval excludes 1.
    bool isClaim() const { return low > 1.0 || high < 1.0; }
    /// Half the width of the interval, the larger side.
    double spread() const;
    /// Empty when the value is missing or not a number.
    static std::optional<Ratio> fromJson(const Json &value);
};

/// How numbers read on screen. Pure functions; numbers follow the default QLocale.
class Format {
    Q_DECLARE_TR_FUNCTIONS(heddle::Format)

public:
    /// "812 ns", "24.3 µs", "3.90 ms", "1.25 s": three significant digits in the unit that fits.
    static QString seconds(double seconds);
    static QString milliseconds(double milliseconds) { return seconds(milliseconds / 1e3); }
    /// "3.90 ms (3.85 to 3.97)": a median with its interval in one unit.
    static QString interval(double milliseconds, double low, double high);
    /// "1.84× ± 0.03"
    static QString ratio(const Ratio &ratio);
    /// "1.84× ± 0.03 vs compile"
    static QString speedup(const Ratio &ratio, const QString &baseline);
    /// "63 %", one digit below ten percent.
    static QString percent(double share);
    /// "64.0 MiB"
    static QString bytes(double bytes);
    /// "12.3 GB/s" and "41.0 GFLOP/s"; decimal steps.
    static QString perSecond(double amount, const QString &unit);
    /// "0:07", "2:05", "1:02:05"
    static QString duration(double seconds);
};

} // namespace heddle
