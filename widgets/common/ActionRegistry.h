// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>

class QAction;

namespace heddle {

/// Every action of a window by id: what menus, tool bars and the command palette show and what the
/// keyboard reaches. Owned by the window; GUI thread.
class ActionRegistry : public QObject {
    Q_OBJECT

public:
    explicit ActionRegistry(QObject *parent) : QObject(parent) {}

    /// `id` is stable and untranslated ("task.optimise"); a repeated id or shortcut is a programming
    /// error that conflicts() reports and a test asserts.
    QAction *add(const QString &id, const QString &text, const QKeySequence &shortcut = {},
                 const QString &icon = {}, const QString &tip = {});
    QAction *action(const QString &id) const;
    const QList<QAction *> &actions() const { return m_actions; }
    static QString idOf(const QAction *action);
    /// One line for each id or shortcut that is used twice.
    QStringList conflicts() const;

private:
    QList<QAction *> m_actions;
};

} // namespace heddle
