// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>

class QWidget;

namespace heddle {

/// Says whether an approval may be taken now. It is not armed right after a new proposal came on screen
/// or the window became active, so that a click or key meant for something else decides nothing.
/// Owned by the view it guards; GUI thread.
class ApproveGuard : public QObject {
    Q_OBJECT

public:
    static constexpr int restMilliseconds = 350;

    /// Watches the window that `view` is in.
    explicit ApproveGuard(QWidget *view);

    /// Another proposal (or another state of it) is shown.
    void rearm();
    bool isArmed() const;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QWidget *m_view;
    QElapsedTimer m_since;
};

} // namespace heddle
