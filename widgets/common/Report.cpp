// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/Report.h"

#include "widgets/common/Text.h"

#include <cmath>
#include <optional>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

std::optional<Timing> timingOf(const Json &entry, const QString &name, const std::string &key)
{
    const Json &median = memberOr(entry, "median_ms");
    const Json &interval = memberOr(entry, "ci_ms");
    if (!median.is_number())
        return std::nullopt;
    Timing timing{name,
                  toText(key),
                  median.get<double>(),
                  median.get<double>(),
                  median.get<double>(),
                  integerOr(entry, "runs", 0)};
    if (interval.is_array() && interval.size() == 2 && interval[0].is_number() && interval[1].is_number()) {
        timing.lowMs = interval[0].get<double>();
        timing.highMs = interval[1].get<double>();
    }
    return timing;
}

} // namespace

QString Report::baselineName(const std::string &key, const Json &baseline)
{
    if (key == "eager")
        return tr("eager");
    if (key == "compile")
        return tr("compile");
    if (key == "strongest") {
        const std::string name = stringOr(baseline, "name");
        return name.empty() ? tr("strongest") : tr("strongest (%1)").arg(toText(name));
    }
    if (key == "same_precision")
        return tr("same precision");
    return toText(key);
}

std::vector<Timing> Report::timings(const Json &report)
{
    std::vector<Timing> timings;
    const Json &baselines = memberOr(report, "baselines");
    for (const char *key : {"eager", "compile", "strongest"}) {
        const Json &entry = memberOr(baselines, key);
        if (auto timing = timingOf(entry, baselineName(key, entry), key))
            timings.push_back(std::move(*timing));
    }
    if (auto timing = timingOf(memberOr(report, "candidate"), tr("candidate"), "candidate"))
        timings.push_back(std::move(*timing));
    return timings;
}

bool Report::isConfirmed(const Json &report)
{
    return memberOr(memberOr(report, "speedup"), "deployed").is_object();
}

const Json &Report::speedups(const Json &report)
{
    return memberOr(memberOr(report, "speedup"), isConfirmed(report) ? "deployed" : "runner");
}

QString Report::speedupText(const Json &report, const std::string &baseline)
{
    const auto ratio = Ratio::fromJson(memberOr(speedups(report), baseline));
    if (!ratio)
        return {};
    const Json &entry = memberOr(memberOr(report, "baselines"), baseline);
    const QString text = Format::speedup(*ratio, baselineName(baseline, entry));
    return ratio->isClaim() ? text : tr("%1, no clear difference").arg(text);
}

QStringList Report::speedupTexts(const Json &report)
{
    QStringList texts;
    for (const char *baseline : {"eager", "compile"}) {
        const QString text = speedupText(report, baseline);
        if (!text.isEmpty())
            texts << text;
    }
    return texts;
}

std::string Report::verdictClass(const Json &report)
{
    return stringOr(memberOr(report, "verdict"), "class");
}

QString Report::timesText(const Json &report)
{
    std::optional<Timing> candidate;
    std::optional<Timing> strongest;
    for (Timing &timing : timings(report)) {
        if (timing.key == u"candidate")
            candidate = std::move(timing);
        else if (timing.key == u"strongest")
            strongest = std::move(timing);
    }
    if (!candidate)
        return {};
    const QString time = Format::milliseconds(candidate->medianMs);
    if (!isConfirmed(report))
        return tr("%1, quick.").arg(time);
    if (!strongest)
        return tr("%1, confirmed.").arg(time);
    const std::string name = stringOr(memberOr(memberOr(report, "baselines"), "strongest"), "name");
    return tr("%1 against %2 of %3, confirmed.")
        .arg(time, Format::milliseconds(strongest->medianMs),
             name.empty() ? strongest->name : baselineName(name, Json()));
}

QString Report::proposalHeading(const QString &summary, const Json &report)
{
    const QString title = summary.isEmpty() ? tr("A proposal") : summary;
    const QString times = timesText(report);
    if (times.isEmpty())
        return title;
    const bool isSentence = title.endsWith(u'.') || title.endsWith(u'!') || title.endsWith(u'?');
    return (isSentence ? u"%1 %2"_s : u"%1. %2"_s).arg(title, times);
}

} // namespace heddle
