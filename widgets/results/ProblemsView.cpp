// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/results/ProblemsView.h"

#include "widgets/common/DataTable.h"

#include <QLabel>
#include <QLocale>
#include <QVBoxLayout>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace heddle {

ProblemsView::ProblemsView(QWidget *parent)
    : QWidget(parent),
      m_table(new DataTable(tr("Problems"), {tr("Kind"), tr("Message"), tr("File"), tr("Line")}, this)),
      m_empty(new QLabel(tr("No problems in the newest build."), this))
{
    m_table->setStretchColumn(1);
    m_empty->setProperty("muted", true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_table);
    column->addWidget(m_empty);
    connect(m_table, &DataTable::keyActivated, this, [this](const QString &key) {
        const auto at = static_cast<std::size_t>(key.toInt());
        if (at < m_diagnostics.size())
            emit placeActivated(m_diagnostics[at].file, m_diagnostics[at].line, m_diagnostics[at].column);
    });
    setDiagnostics({});
}

void ProblemsView::setDiagnostics(const std::vector<Diagnostic> &diagnostics)
{
    m_diagnostics = diagnostics;
    std::vector<Row> rows;
    for (std::size_t at = 0; at < diagnostics.size(); ++at) {
        const Diagnostic &entry = diagnostics[at];
        const bool isError = entry.severity == Diagnostic::Severity::Error;
        const bool isWarning = entry.severity == Diagnostic::Severity::Warning;
        const Status mark = isError ? Status::Failed : isWarning ? Status::Warning : Status::Info;
        rows.push_back(
            {QString::number(at),
             {Cell{.text = isError ? tr("error")
                       : isWarning ? tr("warning")
                                   : tr("note"),
                   .sort = static_cast<int>(entry.severity),
                   .status = mark},
              Cell{.text = entry.message, .tip = entry.message}, Cell{.text = entry.file, .isMuted = true},
              Cell{.text = entry.line > 0 ? QLocale().toString(entry.line) : QString(),
                   .sort = entry.line,
                   .isNumber = true}}});
    }
    m_table->setVisible(!rows.empty());
    m_empty->setVisible(rows.empty());
    m_table->rows()->setRows(std::move(rows));
}

int ProblemsView::errorCount() const
{
    return static_cast<int>(
        std::count_if(m_diagnostics.begin(), m_diagnostics.end(),
                      [](const Diagnostic &entry) { return entry.severity == Diagnostic::Severity::Error; }));
}

} // namespace heddle
