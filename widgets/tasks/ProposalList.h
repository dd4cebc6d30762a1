// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/Store.h"
#include "widgets/common/Report.h"

#include <QHash>
#include <QWidget>

#include <vector>

class QLabel;

namespace heddle {

class DataTable;

/// Proposals of the workspace, open ones first. GUI thread.
class ProposalList : public QWidget {
    Q_OBJECT

public:
    explicit ProposalList(QWidget *parent = nullptr);

    /// `verdicts`: of each proposal by its id; one without a report is "not judged".
    void setProposals(const std::vector<ProposalRow> &proposals,
                      const QHash<QString, ShownVerdict> &verdicts);
    int openCount() const { return m_open; }
    QString currentProposal() const;

signals:
    void proposalActivated(const QString &id);
    void countChanged(int open);

private:
    DataTable *m_table;
    QLabel *m_empty;
    int m_open = 0;
};

} // namespace heddle
