// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QScrollArea>

class QLabel;
class QListWidget;

namespace heddle {

class CheckUpView;

/// What a person sees first: open a file or folder, sample tasks, recent work, and the check-up of this
/// machine. It opens and runs nothing itself. GUI thread.
class WelcomePage : public QScrollArea {
    Q_OBJECT

public:
    explicit WelcomePage(QWidget *parent = nullptr);

    /// Absolute paths of sample task files; the file's name is shown.
    void setSamples(const QStringList &paths);
    /// Absolute paths of workspaces, newest first.
    void setRecent(const QStringList &paths);
    /// Rows of the worker's `doctor`: [{id, ok, found, missing, next}].
    void setCheckUp(const Json &rows);
    void setCheckUpRunning(bool isRunning);

signals:
    void openFileRequested();
    void openFolderRequested();
    void pathChosen(const QString &path);
    void checkUpRequested();

private:
    QListWidget *m_samples;
    QListWidget *m_recent;
    QLabel *m_noRecent;
    CheckUpView *m_checkUp;
};

} // namespace heddle
