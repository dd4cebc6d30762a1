// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/Store.h"

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

    /// `verdicts`: newest report of each candidate by digest; a candidate without one is "not judged".
    void setProposals(const std::vector<ProposalRow> &proposals, const QHash<QString, Json> &verdicts);
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
