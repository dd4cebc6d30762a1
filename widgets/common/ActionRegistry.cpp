// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/ActionRegistry.h"

#include "widgets/common/Icons.h"

#include <QAction>
#include <QHash>

using namespace Qt::StringLiterals;

namespace heddle {

QAction *ActionRegistry::add(const QString &id, const QString &text, const QKeySequence &shortcut,
                             const QString &icon, const QString &tip)
{
    auto *action = new QAction(text, this);
    action->setObjectName(id);
    if (!shortcut.isEmpty())
        action->setShortcut(shortcut);
    if (!icon.isEmpty())
        action->setIcon(themedIcon(icon));
    const QString words = tip.isEmpty() ? QString(text).remove(u'&') : tip;
    action->setStatusTip(words);
    action->setToolTip(
        shortcut.isEmpty() ? words : u"%1 (%2)"_s.arg(words, shortcut.toString(QKeySequence::NativeText)));
    m_actions << action;
    return action;
}

QAction *ActionRegistry::action(const QString &id) const
{
    for (QAction *action : m_actions) {
        if (action->objectName() == id)
            return action;
    }
    return nullptr;
}

QString ActionRegistry::idOf(const QAction *action) { return action->objectName(); }

QStringList ActionRegistry::conflicts() const
{
    QStringList lines;
    QHash<QString, QString> seen;
    const auto claim = [&seen, &lines](const QString &what, const QString &id) {
        if (seen.contains(what))
            lines << u"%1: %2 and %3"_s.arg(what, seen.value(what), id);
        seen.insert(what, id);
    };
    for (const QAction *action : m_actions) {
        claim(u"id "_s + action->objectName(), action->objectName());
        for (const QKeySequence &shortcut : action->shortcuts())
            claim(u"shortcut "_s + shortcut.toString(QKeySequence::PortableText), action->objectName());
    }
    return lines;
}

} // namespace heddle
