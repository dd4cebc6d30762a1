// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plan/PlanView.h"

#include "widgets/common/DataTable.h"
#include "widgets/common/Text.h"

#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

Status statusOf(const std::string &state)
{
    if (state == "done")
        return Status::Passed;
    if (state == "working")
        return Status::Running;
    return state == "dropped" ? Status::NotRun : Status::Info;
}

} // namespace

PlanView::PlanView(QWidget *parent)
    : QWidget(parent),
      m_table(new DataTable(tr("Plan"), {tr("State"), tr("Item")}, this)),
      m_detail(new QLabel(this))
{
    m_table->setStretchColumn(1);
    m_table->setSortingEnabled(false);
    m_detail->setWordWrap(true);
    m_detail->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_detail->setProperty("muted", true);
    const int space = fontMetrics().height() / 2;
    m_detail->setContentsMargins(space, space / 2, space, space / 2);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    // The argument for an item can be long, and the items are few.
    auto *scroll = new QScrollArea(this);
    scroll->setAccessibleName(tr("Details of the plan item"));
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(m_detail);
    column->addWidget(m_table, 1);
    column->addWidget(scroll, 2);
    connect(m_table, &DataTable::keySelected, this, &PlanView::showDetail);
    refresh();
}

void PlanView::clearPlan()
{
    m_items = Json::array();
    refresh();
}

void PlanView::setItems(const Json &items)
{
    m_items = items.is_array() ? items : Json::array();
    refresh();
}

void PlanView::changeItem(const std::string &id, const std::string &state, const std::string &note)
{
    for (Json &item : m_items) {
        if (!item.is_object() || stringOr(item, "id") != id)
            continue;
        item["state"] = state;
        if (!note.empty())
            item["note"] = note;
    }
    refresh();
}

int PlanView::itemCount() const { return static_cast<int>(m_items.size()); }

void PlanView::refresh()
{
    std::vector<Row> rows;
    for (const Json &item : m_items) {
        const std::string state = stringOr(item, "state");
        rows.push_back(
            {toText(stringOr(item, "id")),
             {Cell{.text = toText(state), .status = statusOf(state)},
              Cell{.text = toText(stringOr(item, "title")), .tip = toText(stringOr(item, "expected"))}}});
    }
    m_table->rows()->setRows(std::move(rows));
    showDetail();
}

void PlanView::showDetail()
{
    const QString current = m_table->currentKey();
    QStringList lines;
    for (const Json &item : m_items) {
        // Without a selection the first item is explained.
        if (!current.isEmpty() && toText(stringOr(item, "id")) != current)
            continue;
        for (const char *part : {"boundary", "expected", "note"}) {
            if (const std::string words = stringOr(item, part); !words.empty())
                lines << toText(words);
        }
        break;
    }
    if (m_items.empty())
        lines << tr("The plan appears here when the optimiser has written it.");
    m_detail->setText(lines.join(u'\n'));
    m_table->setVisible(!m_items.empty());
}

} // namespace heddle
