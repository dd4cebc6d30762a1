// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/results/ResultsView.h"

#include "widgets/common/DataTable.h"
#include "widgets/common/Format.h"
#include "widgets/common/Report.h"
#include "widgets/common/Text.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <map>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

struct Measured {
    Timing timing;
    std::int64_t event = 0;
    const Json *report = nullptr; ///< null for a baseline
    std::string stage;
};

} // namespace

ResultsView::ResultsView(QWidget *parent)
    : QWidget(parent),
      m_table(new DataTable(tr("Results"),
                            {tr("What ran"), tr("Verdict"), tr("Median and interval"), tr("Relative time"),
                             tr("vs eager"), tr("vs compile"), tr("Stage")},
                            this)),
      m_empty(new QLabel(tr("Nothing has been measured yet. Baseline measures what a candidate has to beat."),
                         this))
{
    m_table->setStretchColumn(3);
    m_empty->setProperty("muted", true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_table);
    column->addWidget(m_empty);
    connect(m_table, &DataTable::keyActivated, this,
            [this](const QString &key) { emit eventActivated(key.section(u' ', -1).toLongLong()); });
    setEvents({});
}

void ResultsView::setEvents(const std::vector<const Event *> &events)
{
    std::vector<Measured> measured;
    const Event *baseline = nullptr;
    const Event *confirmed = nullptr;
    std::map<std::string, const Event *> verdicts;
    std::vector<std::string> order;
    for (const Event *event : events) {
        if (event->type == "baseline_measured") {
            baseline = event;
        } else if (event->type == "judged") {
            const std::string key = stringOr(event->data, "candidate") + ' ' + stringOr(event->data, "stage");
            if (verdicts.insert_or_assign(key, event).second)
                order.push_back(key);
            if (Report::isConfirmed(memberOr(event->data, "report")))
                confirmed = event;
        }
    }
    // A confirmed run times the baselines again, in turns with the candidate: those stand beside it.
    if (confirmed != nullptr)
        baseline = confirmed;
    if (baseline != nullptr) {
        const std::string stage = confirmed != nullptr ? "confirmed" : "baseline";
        for (Timing &timing :
             Report::timings(confirmed != nullptr ? memberOr(baseline->data, "report") : baseline->data)) {
            if (timing.key != u"candidate")
                measured.push_back({std::move(timing), baseline->id, nullptr, stage});
        }
    }
    for (const std::string &key : order) {
        const Event &event = *verdicts.at(key);
        const Json &report = memberOr(event.data, "report");
        Timing timing;
        for (Timing &found : Report::timings(report)) {
            if (found.key == u"candidate")
                timing = std::move(found);
        }
        timing.name = toText(std::string_view(key).substr(0, 8));
        measured.push_back({std::move(timing), event.id, &report, stringOr(event.data, "stage")});
    }
    double longest = 0.0;
    for (const Measured &entry : measured)
        longest = std::max(longest, entry.timing.highMs);
    std::vector<Row> rows;
    for (const Measured &entry : measured) {
        const Timing &timing = entry.timing;
        const bool isTimed = timing.medianMs > 0.0;
        Cell verdict;
        Cell eager{.text = {}, .isStrong = true};
        Cell compile{.text = {}, .isStrong = true};
        if (entry.report != nullptr) {
            const std::string name = Report::verdictClass(*entry.report);
            verdict = {.text = StatusMark::verdictName(name), .status = StatusMark::ofVerdict(name)};
            const Json &speedups = Report::speedups(*entry.report);
            if (const auto ratio = Ratio::fromJson(memberOr(speedups, "eager")))
                eager = {.text = Format::ratio(*ratio), .sort = ratio->value, .isStrong = ratio->isClaim()};
            if (const auto ratio = Ratio::fromJson(memberOr(speedups, "compile")))
                compile = {.text = Format::ratio(*ratio), .sort = ratio->value, .isStrong = ratio->isClaim()};
        }
        Cell bar;
        bar.sort = timing.medianMs;
        if (isTimed)
            bar.bar = Bar{timing.medianMs / longest, timing.lowMs / longest, timing.highMs / longest,
                          entry.report != nullptr};
        const QString time =
            isTimed ? Format::interval(timing.medianMs, timing.lowMs, timing.highMs) : tr("not timed");
        const QString stage = entry.stage == "confirmed" ? tr("confirmed")
            : entry.stage == "baseline"                  ? tr("baseline")
                                                         : tr("quick");
        const QString name = entry.report == nullptr ? timing.name : tr("candidate %1").arg(timing.name);
        rows.push_back({u"%1 %2 %3"_s.arg(timing.name, toText(entry.stage)).arg(entry.event),
                        {Cell{.text = name, .isStrong = entry.report != nullptr}, verdict,
                         Cell{.text = time, .sort = timing.medianMs, .isNumber = true, .isMuted = !isTimed},
                         bar, eager, compile, Cell{.text = stage, .isMuted = true}}});
    }
    m_table->setVisible(!rows.empty());
    m_empty->setVisible(rows.empty());
    m_table->rows()->setRows(std::move(rows));
}

int ResultsView::rowCount() const { return m_table->rows()->rowCount(); }

} // namespace heddle
