// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QWidget>

#include <cstdint>
#include <vector>

class QLabel;
class QPushButton;

namespace heddle {

class DataTable;

/// A decision as the window knows it; a value.
struct DecisionItem {
    std::int64_t event = 0; ///< of the decision; 0 is none
    QString time;           ///< of day, as shown
    QString decision;       ///< "accept", "accept_in_part", "reject", "restore"
    QString reason, comment;
    QString subject; ///< what was decided on: the proposal's summary
    QString taskPath;
    QString revision; ///< digest of what landed; empty: nothing did
    bool isUndone = false;
    bool isOwnEdits = false; ///< the person's own text, kept before a landing
    bool isHead = false;     ///< its revision is the task's head now
};

/// Every decision of the workspace, newest first: undo any one, or make what it landed the head again. It changes
/// nothing itself. GUI thread.
class DecisionList : public QWidget {
    Q_OBJECT

public:
    explicit DecisionList(QWidget *parent = nullptr);

    void setDecisions(std::vector<DecisionItem> items);
    void selectDecision(std::int64_t event);
    int count() const { return static_cast<int>(m_items.size()); }

signals:
    void undoRequested(qint64 event, const QString &taskPath);
    void restoreRequested(const QString &taskPath, const QString &revision);

private:
    const DecisionItem *current() const;
    void showButtons();

    std::vector<DecisionItem> m_items;
    DataTable *m_table;
    QLabel *m_empty;
    QWidget *m_bar;
    QPushButton *m_undo;
    QPushButton *m_restore;
};

} // namespace heddle
