// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/evidence/EvidenceRows.h"

#include "widgets/common/Format.h"
#include "widgets/common/Report.h"
#include "widgets/common/Text.h"

#include <QLocale>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

QString scalarText(const Json &value)
{
    if (value.is_string())
        return toText(value.get<std::string>());
    if (value.is_number_float())
        return QLocale().toString(value.get<double>(), 'g', 4);
    if (value.is_null())
        return u"–"_s;
    return toText(compactText(value));
}

void flatten(const Json &value, const QString &name, std::vector<Row> &rows)
{
    if (value.is_object()) {
        for (const auto &[key, member] : value.items())
            flatten(member, name.isEmpty() ? toText(key) : QString(name + u'.' + toText(key)), rows);
        return;
    }
    rows.push_back({name, {Cell{.text = name, .isMuted = true}, Cell{.text = scalarText(value)}}});
}

Row fact(const QString &name, const QString &value)
{
    return {name, {Cell{.text = name, .isMuted = true}, Cell{.text = value}}};
}

QString rewardMeaning(std::int64_t reward)
{
    switch (reward) {
    case 1: return EvidenceRows::tr("right, but not faster than eager");
    case 2: return EvidenceRows::tr("faster than eager");
    case 3: return EvidenceRows::tr("faster than eager and torch.compile");
    default: return EvidenceRows::tr("not clean");
    }
}

int severityOrder(const std::string &status) { return status == "failed" ? 0 : status == "passed" ? 2 : 1; }

} // namespace

QStringList EvidenceRows::evidenceHeaders()
{
    return {tr("Result"), tr("Check"), tr("What was found"), tr("Figures")};
}

QString EvidenceRows::figuresText(const Json &data)
{
    QStringList parts;
    if (data.is_object()) {
        for (const auto &[key, value] : data.items()) {
            if (value.is_primitive() && !value.is_null())
                parts << u"%1\u00a0%2"_s.arg(toText(key), scalarText(value));
        }
    }
    return parts.join(u", "_s);
}

std::vector<Row> EvidenceRows::evidence(const Json &report)
{
    std::vector<Row> rows;
    const Json &entries = memberOr(memberOr(report, "verdict"), "evidence");
    if (!entries.is_array())
        return rows;
    std::vector<const Json *> sorted;
    for (const Json &entry : entries)
        sorted.push_back(&entry);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Json *a, const Json *b) {
        return severityOrder(stringOr(*a, "status")) < severityOrder(stringOr(*b, "status"));
    });
    int number = 0;
    for (const Json *entry : sorted) {
        const std::string status = stringOr(*entry, "status");
        const Status mark = StatusMark::ofEvidence(status);
        const QString id = toText(stringOr(*entry, "id"));
        const QString message = toText(stringOr(*entry, "message"));
        const Json &data = memberOr(*entry, "data");
        rows.push_back({u"%1 %2"_s.arg(id).arg(number++),
                        {Cell{.text = StatusMark::word(mark), .sort = severityOrder(status), .status = mark},
                         Cell{.text = id, .isStrong = true}, Cell{.text = message, .tip = message},
                         Cell{.text = figuresText(data), .isMuted = true, .tip = toText(prettyText(data))}}});
    }
    return rows;
}

QStringList EvidenceRows::timingHeaders()
{
    return {tr("What ran"), tr("Median and interval"), tr("Relative time"), tr("Runs"),
            tr("Candidate is faster by")};
}

std::vector<Row> EvidenceRows::timings(const Json &report)
{
    const std::vector<Timing> timings = Report::timings(report);
    double longest = 0.0;
    for (const Timing &timing : timings)
        longest = std::max(longest, timing.highMs);
    std::vector<Row> rows;
    // Other modes are skipped for what the task is; this one only for what went wrong.
    if (const std::string why = stringOr(memberOr(report, "skipped"), "compile"); !why.empty())
        rows.push_back(
            {u"compile"_s,
             {Cell{.text = u"compile"_s},
              Cell{.text = tr("not measured: %1").arg(toText(why)), .isMuted = true, .tip = toText(why)}}});
    for (const Timing &timing : timings) {
        const bool isCandidate = timing.key == u"candidate";
        std::optional<Bar> bar;
        if (longest > 0.0)
            bar =
                Bar{timing.medianMs / longest, timing.lowMs / longest, timing.highMs / longest, isCandidate};
        QString speedup;
        bool isClaim = false;
        if (const auto ratio = Ratio::fromJson(memberOr(Report::speedups(report), toUtf8(timing.key)));
            ratio && !isCandidate) {
            isClaim = ratio->isClaim();
            speedup =
                isClaim ? Format::ratio(*ratio) : tr("%1, no clear difference").arg(Format::ratio(*ratio));
        }
        rows.push_back({timing.key,
                        {Cell{.text = timing.name, .isStrong = isCandidate},
                         Cell{.text = Format::interval(timing.medianMs, timing.lowMs, timing.highMs),
                              .sort = timing.medianMs,
                              .isNumber = true},
                         Cell{.text = {}, .sort = timing.medianMs, .bar = bar},
                         Cell{.text = QLocale().toString(qlonglong(timing.runs)),
                              .sort = qlonglong(timing.runs),
                              .isNumber = true},
                         Cell{.text = speedup, .isStrong = isClaim}}});
    }
    return rows;
}

QStringList EvidenceRows::factHeaders() { return {tr("Name"), tr("Value")}; }

std::vector<Row> EvidenceRows::figures(const Json &report)
{
    std::vector<Row> rows;
    const std::string stage = stringOr(report, "stage");
    if (!stage.empty()) {
        rows.push_back(fact(tr("Stage"),
                            stage == "confirmed" ? tr("confirmed: the export was timed in PyTorch")
                                                 : tr("quick: timed in Heddle's runner")));
    }
    const Json &roof = memberOr(report, "roof");
    if (memberOr(roof, "ms").is_number()) {
        const QString bound = stringOr(roof, "bound") == "memory" ? tr("memory traffic") : tr("arithmetic");
        //: %1 is a time, %2 what limits the task
        rows.push_back(
            fact(tr("Roof"), tr("%1, set by %2").arg(Format::milliseconds(numberOr(roof, "ms", 0)), bound)));
        if (const double share = numberOr(roof, "share", -1); share >= 0)
            //: %1 is a share such as "108 %"
            rows.push_back(fact(
                tr("Share of the roof reached"),
                share < 1.005
                    ? Format::percent(share)
                    : tr("%1: the roof itself was measured at a busier moment").arg(Format::percent(share))));
    }
    const Json &coverage = memberOr(report, "coverage");
    if (coverage.is_object()) {
        //: shares of the time, such as "98 % own kernels, 2 % libraries, 0 % PyTorch"
        rows.push_back(fact(tr("Where its time is spent"),
                            tr("%1 own kernels, %2 libraries, %3 PyTorch")
                                .arg(Format::percent(numberOr(coverage, "own", 0)),
                                     Format::percent(numberOr(coverage, "library", 0)),
                                     Format::percent(numberOr(coverage, "framework", 0)))));
    }
    if (memberOr(report, "reward").is_number())
        rows.push_back(fact(tr("Milestone reward"),
                            //: %1 a number from -1 to 3, %2 what it stands for
                            tr("%1: %2").arg(QLocale().toString(qlonglong(integerOr(report, "reward", 0))),
                                             rewardMeaning(integerOr(report, "reward", 0)))));
    const double total = numberOr(memberOr(report, "seconds"), "total", -1.0);
    if (total >= 0.0)
        rows.push_back(fact(tr("Judging took"), Format::seconds(total)));
    return rows;
}

std::vector<Row> EvidenceRows::environment(const Json &report)
{
    std::vector<Row> rows;
    flatten(memberOr(report, "environment"), {}, rows);
    std::erase_if(rows, [](const Row &row) { return row.key.isEmpty(); });
    return rows;
}

QStringList EvidenceRows::operatorHeaders()
{
    return {tr("Operator"), tr("Calls"), tr("Own time"), tr("Share"), tr("Of the whole")};
}

std::vector<Row> EvidenceRows::operators(const Json &report)
{
    std::vector<Row> rows;
    const Json &operators = memberOr(report, "operators");
    if (!operators.is_array())
        return rows;
    int number = 0;
    for (const Json &entry : operators) {
        const double time = numberOr(entry, "self_ms", 0.0);
        const bool hasShare = memberOr(entry, "share").is_number();
        const double share = numberOr(entry, "share", 0.0);
        const qlonglong count = integerOr(entry, "count", 1);
        const QString name = toText(stringOr(entry, "name"));
        std::optional<Bar> bar;
        if (hasShare)
            bar = Bar{share, share, share, true};
        rows.push_back(
            {u"%1 %2"_s.arg(name).arg(number++),
             {Cell{.text = name, .tip = toText(compactText(memberOr(entry, "shapes")))},
              Cell{.text = QLocale().toString(count), .sort = count, .isNumber = true},
              Cell{.text = Format::milliseconds(time), .sort = time, .isNumber = true},
              Cell{.text = hasShare ? Format::percent(share) : QString(), .sort = share, .isNumber = true},
              Cell{.text = {}, .sort = share, .bar = bar}}});
    }
    return rows;
}

QStringList EvidenceRows::lintHeaders() { return {tr("Kind"), tr("Finding"), tr("What it means")}; }

std::vector<Row> EvidenceRows::lint(const Json &findings)
{
    std::vector<Row> rows;
    if (!findings.is_array())
        return rows;
    int number = 0;
    for (const Json &finding : findings) {
        const std::string severity = stringOr(finding, "severity");
        const Status mark = severity == "error" ? Status::Failed
            : severity == "warning"             ? Status::Warning
                                                : Status::Info;
        const QString id = toText(stringOr(finding, "id"));
        const QString message = toText(stringOr(finding, "message"));
        const QString word = mark == Status::Failed ? tr("error") : StatusMark::word(mark);
        rows.push_back({u"%1 %2"_s.arg(id).arg(number++),
                        {Cell{.text = word, .status = mark}, Cell{.text = id, .isStrong = true},
                         Cell{.text = message, .tip = message}}});
    }
    return rows;
}

} // namespace heddle
