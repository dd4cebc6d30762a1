// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QLineEdit;
class QListView;
class QSortFilterProxyModel;
class QStandardItemModel;

namespace heddle {

class ActionRegistry;

/// A search box over the window that lists every action with its shortcut and runs the chosen one.
/// Not modal: Escape or a click elsewhere closes it. Owned by the window; GUI thread.
class CommandPalette : public QFrame {
    Q_OBJECT

public:
    CommandPalette(const ActionRegistry *registry, QWidget *window);

    /// Shows it at the top centre with an empty search.
    void popUp();
    int visibleRows() const;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void refill();
    void runCurrent();

    const ActionRegistry *m_registry;
    QLineEdit *m_search;
    QListView *m_list;
    QStandardItemModel *m_model;
    QSortFilterProxyModel *m_filter;
};

} // namespace heddle
