// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/review/ApproveGuard.h"

#include <QCoreApplication>
#include <QEvent>
#include <QWidget>

namespace heddle {

ApproveGuard::ApproveGuard(QWidget *view) : QObject(view), m_view(view)
{
    // The application is watched because a view may move to another window.
    QCoreApplication::instance()->installEventFilter(this);
    rearm();
}

void ApproveGuard::rearm() { m_since.start(); }

bool ApproveGuard::isArmed() const { return m_since.hasExpired(restMilliseconds); }

bool ApproveGuard::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::WindowActivate && watched == m_view->window())
        rearm();
    return false;
}

} // namespace heddle
