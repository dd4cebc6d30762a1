// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/DecisionList.h"

#include "widgets/common/DataTable.h"
#include "widgets/common/Text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

QString decisionName(const DecisionItem &item)
{
    if (item.isOwnEdits)
        return DecisionList::tr("own edits kept");
    if (item.decision == u"accept")
        return DecisionList::tr("accepted");
    if (item.decision == u"accept_in_part")
        return DecisionList::tr("accepted in part");
    if (item.decision == u"restore")
        return DecisionList::tr("restored");
    return DecisionList::tr("rejected");
}

QString reasonText(const DecisionItem &item)
{
    const bool hasReason = !item.reason.isEmpty() && item.reason != u"-";
    if (hasReason && !item.comment.isEmpty())
        return DecisionList::tr("%1: %2").arg(item.reason, item.comment);
    return hasReason ? item.reason : item.comment;
}

Status markOf(const DecisionItem &item)
{
    if (item.isUndone)
        return Status::NotRun;
    return item.decision == u"reject" ? Status::Failed : Status::Passed;
}

} // namespace

DecisionList::DecisionList(QWidget *parent)
    : QWidget(parent),
      m_table(new DataTable(tr("Decisions"),
                            {tr("Decision"), tr("Now"), tr("About"), tr("Reason"), tr("Task"), tr("Time")},
                            this)),
      m_empty(new QLabel(tr("No decision yet. What you accept or reject is kept here and can be taken back."),
                         this)),
      m_bar(new QWidget(this)),
      m_undo(new QPushButton(tr("Undo"), m_bar)),
      m_restore(new QPushButton(tr("Restore"), m_bar))
{
    m_table->setStretchColumn(2);
    m_empty->setProperty("muted", true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_undo->setAccessibleName(tr("Undo the selected decision"));
    m_undo->setToolTip(tr("Takes this decision back and keeps what was typed later"));
    m_restore->setAccessibleName(tr("Restore the selected revision"));
    m_restore->setToolTip(tr("Makes the files as this decision left them the present ones"));
    for (QPushButton *button : {m_undo, m_restore})
        button->setAutoDefault(false);
    const int space = fontMetrics().height() / 2;
    auto *buttons = new QVBoxLayout(m_bar);
    buttons->setContentsMargins(space, space, space, space);
    buttons->addWidget(m_undo);
    buttons->addWidget(m_restore);
    buttons->addStretch(1);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_table, 1);
    row->addWidget(m_empty, 1);
    row->addWidget(m_bar);
    connect(m_table, &DataTable::keySelected, this, &DecisionList::showButtons);
    connect(m_undo, &QPushButton::clicked, this, [this] {
        if (const DecisionItem *item = current(); item != nullptr)
            emit undoRequested(item->event, item->taskPath);
    });
    connect(m_restore, &QPushButton::clicked, this, [this] {
        if (const DecisionItem *item = current(); item != nullptr)
            emit restoreRequested(item->taskPath, item->revision);
    });
    setDecisions({});
}

void DecisionList::setDecisions(std::vector<DecisionItem> items)
{
    m_items = std::move(items);
    std::stable_sort(m_items.begin(), m_items.end(),
                     [](const DecisionItem &a, const DecisionItem &b) { return a.event > b.event; });
    std::vector<Row> rows;
    for (const DecisionItem &item : m_items) {
        const QString reason = reasonText(item);
        const QString now = item.isUndone ? tr("undone") : item.isHead ? tr("in use") : tr("stands");
        rows.push_back(
            {QString::number(item.event),
             {Cell{.text = decisionName(item), .isStrong = !item.isUndone},
              Cell{.text = now, .status = markOf(item)}, Cell{.text = item.subject, .tip = item.subject},
              Cell{.text = reason, .tip = reason}, Cell{.text = item.taskPath, .isMuted = true},
              Cell{.text = item.time, .isMuted = true}}});
    }
    m_table->setVisible(!rows.empty());
    m_empty->setVisible(rows.empty());
    m_bar->setVisible(!rows.empty());
    const bool hadNone = m_table->currentKey().isEmpty();
    m_table->rows()->setRows(std::move(rows));
    if (hadNone && !m_items.empty())
        selectDecision(m_items.front().event);
    showButtons();
}

void DecisionList::selectDecision(std::int64_t event) { m_table->selectKey(QString::number(event)); }

const DecisionItem *DecisionList::current() const
{
    const qint64 event = m_table->currentKey().toLongLong();
    const auto found = std::find_if(m_items.begin(), m_items.end(),
                                    [event](const DecisionItem &item) { return item.event == event; });
    return found == m_items.end() ? nullptr : &*found;
}

void DecisionList::showButtons()
{
    const DecisionItem *item = current();
    m_undo->setEnabled(item != nullptr && !item->isUndone);
    m_restore->setEnabled(item != nullptr && !item->revision.isEmpty() && !item->isHead);
}

} // namespace heddle
