// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QFrame>

class QLabel;
class QPushButton;

namespace heddle {

class DataTable;

/// The check-up of the machine that work runs on: what is here, what is missing, how to get it. It checks nothing
/// itself. GUI thread.
class CheckUpView : public QFrame {
    Q_OBJECT

public:
    explicit CheckUpView(QWidget *parent = nullptr);

    /// Rows of the worker's `doctor`: [{id, ok, found, missing, next}].
    void setCheckUp(const Json &rows);
    void setRunning(bool isRunning);

signals:
    void checkUpRequested();

private:
    DataTable *m_checks;
    QLabel *m_hint;
    QPushButton *m_check;
};

} // namespace heddle
