// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

class QLabel;
class QPushButton;

namespace heddle {

/// What the centre of an open workspace shows while no document is open: what can be done next, with buttons that
/// do it. GUI thread.
class StartPage : public QScrollArea {
    Q_OBJECT

public:
    explicit StartPage(QWidget *parent = nullptr);

    /// How many tasks the folder has, the selected one's path or empty, and whether its programs may run.
    void setState(int tasks, const QString &task, bool isTrusted);

signals:
    void openTaskRequested();
    void openFileRequested();
    void openFolderRequested();

private:
    QLabel *m_title;
    QLabel *m_words;
    QPushButton *m_openTask;
};

} // namespace heddle
