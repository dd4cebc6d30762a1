// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/welcome/CheckUpView.h"

#include "widgets/common/DataTable.h"
#include "widgets/common/Text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

CheckUpView::CheckUpView(QWidget *parent)
    : QFrame(parent),
      m_checks(new DataTable(tr("Check-up of this machine"),
                             {tr("State"), tr("What"), tr("Found"), tr("How to get it")}, this)),
      m_hint(new QLabel(this)),
      m_check(new QPushButton(this))
{
    setProperty("card", true);
    const int space = fontMetrics().height() / 2;
    auto *title = new QLabel(tr("Check-up of this machine"), this);
    title->setProperty("heading", true);
    m_hint->setProperty("muted", true);
    m_hint->setWordWrap(true);
    m_check->setAccessibleName(tr("Check this machine"));
    // What is missing and how to get it share the width, and neither is cut off in a narrow window.
    m_checks->setStretchColumn(2);
    m_checks->setStretchColumn(3);
    m_checks->setWrapsText(true);
    m_checks->setFitsContent(true);
    auto *hintRow = new QHBoxLayout;
    hintRow->addWidget(m_hint, 1);
    hintRow->addWidget(m_check);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(space * 3 / 2, space, space * 3 / 2, space * 3 / 2);
    column->setSpacing(space);
    column->addWidget(title);
    column->addLayout(hintRow);
    column->addWidget(m_checks);
    connect(m_check, &QPushButton::clicked, this, &CheckUpView::checkUpRequested);
    setCheckUp(Json::array());
    setRunning(false);
}

void CheckUpView::setRunning(bool isRunning)
{
    m_check->setEnabled(!isRunning);
    m_check->setText(isRunning ? tr("Checking…") : tr("Check now"));
}

void CheckUpView::setCheckUp(const Json &rows)
{
    std::vector<Row> shown;
    int missing = 0;
    bool hasNext = false;
    if (rows.is_array()) {
        for (const Json &row : rows) {
            const bool isOk = boolOr(row, "ok", false);
            // What is optional can be missing and nothing is wrong.
            const bool isThere = isOk && !stringOr(row, "found").empty();
            missing += isOk ? 0 : 1;
            hasNext = hasNext || !isThere;
            const QString id = toText(stringOr(row, "id"));
            const QString found = toText(stringOr(row, isThere ? "found" : "missing"));
            const QString next = toText(stringOr(row, "next"));
            shown.push_back({id,
                             {Cell{.text = isThere ? tr("found") : tr("missing"),
                                   .sort = isThere ? 1 : 0,
                                   .status = isThere ? Status::Passed
                                       : isOk        ? Status::Info
                                                     : Status::Warning},
                              Cell{.text = id, .isStrong = true}, Cell{.text = oneLine(found), .tip = found},
                              Cell{.text = oneLine(next), .isMuted = true, .tip = next}}});
        }
    }
    m_checks->setVisible(!shown.empty());
    m_checks->setColumnHidden(3, !hasNext);
    if (shown.empty())
        m_hint->setText(
            tr("Compiler, PyTorch, sandbox and devices: what is here, what is missing, how to get it."));
    else if (missing == 0)
        m_hint->setText(tr("Everything that Heddle needs is here."));
    else
        m_hint->setText(tr("Missing: %1. The last column says how to get each.").arg(missing));
    m_checks->rows()->setRows(std::move(shown));
}

} // namespace heddle
