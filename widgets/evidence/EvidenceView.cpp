// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/evidence/EvidenceView.h"

#include "widgets/common/DataTable.h"
#include "widgets/common/Report.h"
#include "widgets/common/Status.h"
#include "widgets/common/Text.h"
#include "widgets/evidence/EvidenceRows.h"

#include <QFrame>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

/// The verdict's shape, large, beside its name.
class EvidenceView::VerdictMark : public QWidget {
public:
    using QWidget::QWidget;
    void setStatus(Status status)
    {
        m_status = status;
        update();
    }
    QSize sizeHint() const override { return QSize(1, 1) * (fontMetrics().height() * 5 / 2); }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        const qreal side = sizeHint().width();
        StatusMark::paint(painter, QRectF(0, 0, side, side), m_status, palette());
    }

private:
    Status m_status = Status::NotRun;
};

EvidenceView::EvidenceView(QWidget *parent) : QScrollArea(parent)
{
    setAccessibleName(tr("Evidence report"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    auto *page = new QWidget(this);
    page->setProperty("page", true);
    const int space = fontMetrics().height();
    auto *column = new QVBoxLayout(page);
    column->setContentsMargins(space * 3 / 2, space * 3 / 2, space * 3 / 2, space * 3 / 2);
    column->setSpacing(space);

    m_mark = new VerdictMark(page);
    m_mark->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    m_title = new QLabel(page);
    m_title->setProperty("muted", true);
    m_verdict = new QLabel(page);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setWeight(QFont::DemiBold);
    m_verdict->setFont(large);
    m_sentence = new QLabel(page);
    m_sentence->setWordWrap(true);
    auto *words = new QVBoxLayout;
    words->setSpacing(space / 6);
    words->addWidget(m_title);
    words->addWidget(m_verdict);
    words->addWidget(m_sentence);
    auto *head = new QHBoxLayout;
    head->setSpacing(space);
    head->addWidget(m_mark, 0, Qt::AlignVCenter);
    head->addLayout(words, 1);
    column->addLayout(head);

    m_timings = addSection(column, tr("Timings"), EvidenceRows::timingHeaders(), 2);
    m_figures = addSection(column, tr("Roof and coverage"), EvidenceRows::factHeaders(), 1);
    m_lint = addSection(column, tr("Lint"), EvidenceRows::lintHeaders(), 2);
    m_evidence = addSection(column, tr("Evidence"), EvidenceRows::evidenceHeaders(), 2);
    // What a check found is a sentence to read: it gets as much room as the figures, and the lines it needs.
    m_evidence.table->setStretchColumn(3);
    m_evidence.table->setWrapsText(true);
    m_operators = addSection(column, tr("Operators by time"), EvidenceRows::operatorHeaders(), 4);
    m_environment = addSection(column, tr("Environment"), EvidenceRows::factHeaders(), 1);
    column->addStretch(1);
    setWidget(page);
    setReport({}, Json());
}

EvidenceView::Section EvidenceView::addSection(QVBoxLayout *page, const QString &title,
                                               const QStringList &headers, int stretch)
{
    auto *card = new QFrame(page->parentWidget());
    card->setProperty("card", true);
    const int space = fontMetrics().height() / 2;
    auto *column = new QVBoxLayout(card);
    column->setContentsMargins(space, space, space, space);
    column->setSpacing(space / 2);
    auto *label = new QLabel(title, card);
    label->setProperty("heading", true);
    label->setContentsMargins(space / 2, 0, 0, 0);
    auto *table = new DataTable(title, headers, card);
    table->setStretchColumn(stretch);
    table->setFitsContent(true);
    column->addWidget(label);
    column->addWidget(table);
    page->addWidget(card);
    return {card, table};
}

void EvidenceView::setReport(const QString &title, const Json &report)
{
    m_report = report;
    m_title->setText(title);
    const std::string verdict = Report::verdictClass(report);
    const bool hasVerdict = !verdict.empty();
    const bool hasBaselines = memberOr(report, "baselines").is_object();
    m_mark->setVisible(hasVerdict);
    m_mark->setStatus(StatusMark::ofVerdict(verdict));
    m_verdict->setText(hasVerdict         ? StatusMark::verdictName(verdict)
                           : hasBaselines ? tr("Baseline")
                                          : tr("Lint"));
    m_verdict->setVisible(!report.is_null());
    QString sentence;
    if (report.is_null())
        sentence = tr("Nothing has been measured yet.");
    else if (hasVerdict)
        sentence = StatusMark::verdictSentence(verdict);
    else if (hasBaselines)
        sentence = tr("What a candidate has to beat.");
    const QStringList speedups = hasVerdict ? Report::speedupTexts(report) : QStringList();
    if (!speedups.isEmpty())
        sentence += u'\n' + speedups.join(u" · "_s);
    m_sentence->setText(sentence);
    setAccessibleDescription(sentence);

    const auto fill = [](const Section &section, std::vector<Row> rows) {
        section.card->setVisible(!rows.empty());
        section.table->rows()->setRows(std::move(rows));
    };
    fill(m_timings, EvidenceRows::timings(report));
    // Without a candidate its column would only be empty.
    m_timings.table->setColumnHidden(static_cast<int>(EvidenceRows::timingHeaders().size()) - 1, !hasVerdict);
    fill(m_figures, EvidenceRows::figures(report));
    fill(m_lint, EvidenceRows::lint(memberOr(report, report.contains("findings") ? "findings" : "lint")));
    fill(m_evidence, EvidenceRows::evidence(report));
    fill(m_operators, EvidenceRows::operators(report));
    fill(m_environment, EvidenceRows::environment(report));
}

QString EvidenceView::heading() const { return m_verdict->text(); }

} // namespace heddle
