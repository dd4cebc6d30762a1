// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/ProposalList.h"

#include "widgets/common/DataTable.h"
#include "widgets/common/Text.h"

#include <QHeaderView>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace heddle {

ProposalList::ProposalList(QWidget *parent)
    : QWidget(parent),
      m_table(new DataTable(tr("Proposals"), {tr("Proposal"), tr("State")}, this)),
      m_empty(new QLabel(tr("No proposals yet. Optimise makes them; you decide."), this))
{
    m_table->setStretchColumn(0);
    m_table->setSortingEnabled(false);
    m_table->horizontalHeader()->hide();
    m_empty->setProperty("muted", true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_table);
    column->addWidget(m_empty);
    connect(m_table, &DataTable::keyActivated, this, &ProposalList::proposalActivated);
    setProposals({}, {});
}

void ProposalList::setProposals(const std::vector<ProposalRow> &proposals,
                                const QHash<QString, ShownVerdict> &verdicts)
{
    std::vector<const ProposalRow *> order;
    for (const ProposalRow &proposal : proposals)
        order.push_back(&proposal);
    std::stable_sort(order.begin(), order.end(), [](const ProposalRow *a, const ProposalRow *b) {
        const bool isOpenA = a->state == "open";
        const bool isOpenB = b->state == "open";
        return isOpenA != isOpenB ? isOpenA : a->event > b->event;
    });
    std::vector<Row> rows;
    int open = 0;
    for (const ProposalRow *proposal : order) {
        open += proposal->state == "open" ? 1 : 0;
        const ShownVerdict shown = verdicts.value(toText(proposal->id));
        // Times of another text of the task are none of this one.
        const Json none;
        const Json &report = shown.report != nullptr && !shown.isOutdated ? *shown.report : none;
        const QString title = toText(proposal->summary);
        const QString heading = Report::proposalHeading(title, report);
        const QString speedup = Report::speedupText(report, "compile");
        QString verdict = tr("not judged");
        if (shown.report != nullptr)
            verdict = StatusMark::verdictName(Report::verdictClass(*shown.report));
        if (shown.isOutdated)
            verdict = tr("%1, for another version of the task").arg(verdict);
        const QString tip = speedup.isEmpty() ? tr("%1\n%2").arg(heading, verdict)
                                              : tr("%1\n%2, %3").arg(heading, verdict, speedup);
        rows.push_back({toText(proposal->id),
                        {Cell{.text = title, .isStrong = proposal->state == "open", .tip = tip},
                         Cell{.text = StatusMark::proposalState(proposal->state),
                              .status = StatusMark::ofProposal(proposal->state),
                              .tip = tip}}});
    }
    m_table->setVisible(!rows.empty());
    m_empty->setVisible(rows.empty());
    m_table->rows()->setRows(std::move(rows));
    if (open == m_open)
        return;
    m_open = open;
    emit countChanged(open);
}

QString ProposalList::currentProposal() const { return m_table->currentKey(); }

} // namespace heddle
