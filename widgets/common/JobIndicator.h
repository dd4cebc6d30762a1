// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/Cancel.h"

#include <QElapsedTimer>
#include <QWidget>

#include <cstdint>
#include <map>

class QLabel;
class QProgressBar;
class QToolButton;

namespace heddle {

/// The running jobs in the status bar: name, phase, progress, time so far and left, and Cancel. With
/// several jobs it shows the oldest and says how many more there are. GUI thread.
class JobIndicator : public QWidget {
    Q_OBJECT

public:
    explicit JobIndicator(QWidget *parent = nullptr);

    void jobStarted(std::uint64_t id, const QString &name);
    void jobProgressed(std::uint64_t id, const Progress &progress);
    void jobEnded(std::uint64_t id);
    QString text() const;

signals:
    void cancelRequested(std::uint64_t id);

protected:
    void timerEvent(QTimerEvent *event) override;

private:
    struct Job {
        QString name;
        Progress progress;
        QElapsedTimer since;
    };
    void refresh();

    std::map<std::uint64_t, Job> m_jobs;
    QLabel *m_label;
    QProgressBar *m_bar;
    QToolButton *m_cancel;
    int m_timer = 0;
};

} // namespace heddle
