// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/Format.h"

#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

struct TimeUnit {
    double seconds;
    QString name;
};

TimeUnit timeUnit(double seconds)
{
    const double size = std::abs(seconds);
    // The limits lie half a last digit below the step, so that 999.6 ns reads as 1.00 µs, not 1000 ns.
    if (size < 999.5e-9)
        return {1e-9, u"ns"_s};
    if (size < 999.5e-6)
        return {1e-6, u"µs"_s};
    if (size < 999.5e-3)
        return {1e-3, u"ms"_s};
    return {1.0, u"s"_s};
}

/// Digits after the point that leave three significant ones.
int decimalsFor(double value)
{
    const double size = std::abs(value);
    if (size < 9.995)
        return 2;
    return size < 99.95 ? 1 : 0;
}

QString number(double value, int decimals) { return QLocale().toString(value, 'f', decimals); }

bool isFiniteNumber(const Json &value) { return value.is_number() && std::isfinite(value.get<double>()); }

} // namespace

double Ratio::spread() const { return std::max(high - value, value - low); }

std::optional<Ratio> Ratio::fromJson(const Json &value)
{
    const Json &interval = memberOr(value, "ci");
    const Json &middle = memberOr(value, "value");
    if (!isFiniteNumber(middle) || !interval.is_array() || interval.size() != 2
        || !isFiniteNumber(interval[0]) || !isFiniteNumber(interval[1]))
        return std::nullopt;
    return Ratio{middle.get<double>(), interval[0].get<double>(), interval[1].get<double>()};
}

QString Format::seconds(double seconds)
{
    if (!std::isfinite(seconds))
        return tr("not measured");
    if (seconds == 0.0)
        return u"0 s"_s;
    const TimeUnit unit = timeUnit(seconds);
    const double value = seconds / unit.seconds;
    return number(value, decimalsFor(value)) + u'\u00a0' + unit.name;
}

QString Format::interval(double milliseconds, double low, double high)
{
    if (!std::isfinite(milliseconds))
        return tr("not measured");
    const TimeUnit unit = timeUnit(milliseconds / 1e3);
    const double scale = 1e-3 / unit.seconds;
    const int decimals = decimalsFor(milliseconds * scale);
    //: a median time with the limits of its interval, such as "3.90 ms (3.85 to 3.97)"
    return tr("%1 %2 (%3 to %4)")
        .arg(number(milliseconds * scale, decimals), unit.name, number(low * scale, decimals),
             number(high * scale, decimals));
}

QString Format::ratio(const Ratio &ratio)
{
    const double spread = ratio.spread();
    int decimals = 2;
    while (decimals < 4 && spread > 0.0 && spread < 0.5 * std::pow(10.0, -decimals))
        ++decimals;
    return number(ratio.value, decimals) + u"×\u00a0±\u00a0"_s + number(spread, decimals);
}

QString Format::speedup(const Ratio &ratio, const QString &baseline)
{
    //: %1 is a ratio such as "1.84× ± 0.03", %2 the name of a baseline
    return tr("%1 vs %2").arg(Format::ratio(ratio), baseline);
}

QString Format::percent(double share)
{
    const double value = share * 100.0;
    return number(value, std::abs(value) < 9.95 && value != 0.0 ? 1 : 0) + u"\u00a0%"_s;
}

QString Format::bytes(double bytes)
{
    static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (std::abs(bytes) >= 1023.5 && unit + 1 < units.size()) {
        bytes /= 1024.0;
        ++unit;
    }
    return number(bytes, unit == 0 ? 0 : decimalsFor(bytes)) + u'\u00a0' + QLatin1StringView(units[unit]);
}

QString Format::perSecond(double amount, const QString &unit)
{
    static constexpr std::array prefixes{"", "k", "M", "G", "T", "P"};
    std::size_t prefix = 0;
    while (std::abs(amount) >= 999.5 && prefix + 1 < prefixes.size()) {
        amount /= 1000.0;
        ++prefix;
    }
    return number(amount, decimalsFor(amount)) + u'\u00a0' + QLatin1StringView(prefixes[prefix]) + unit
        + u"/s"_s;
}

QString Format::duration(double seconds)
{
    const auto whole = static_cast<long long>(std::max(0.0, seconds));
    const QLatin1Char zero('0');
    const QString rest = u"%1"_s.arg(whole % 60, 2, 10, zero);
    if (whole < 3600)
        return u"%1:%2"_s.arg(whole / 60).arg(rest);
    return u"%1:%2:%3"_s.arg(whole / 3600).arg(whole / 60 % 60, 2, 10, zero).arg(rest);
}

} // namespace heddle
