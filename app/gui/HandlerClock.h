// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QString>

#include <vector>

namespace heddle {

/// One event of the GUI thread: from its delivery until the last of its handlers returned.
struct HandlerTime {
    double milliseconds = 0.0; ///< processor time of the GUI thread
    QString what;              ///< "MetaCall of JobBridge"
};

/// The application, able to say how long its handlers take: the processor time of the GUI thread over each
/// event that the loop delivers, those nested in it included, so that a busy machine does not count. Off
/// until start(), which only the automation calls: a person pays nothing for it. GUI thread.
class HandlerClock : public QApplication {
    Q_OBJECT

public:
    HandlerClock(int &argc, char **argv) : QApplication(argc, argv) {}

    bool notify(QObject *receiver, QEvent *event) override;

    /// Begins anew: forgets what was recorded.
    void start();
    /// The event in delivery is the automation's own and does not count.
    void passOver() { m_isPassedOver = true; }
    /// The longest so far, longest first, at most ten.
    const std::vector<HandlerTime> &longest() const { return m_longest; }
    std::int64_t handled() const { return m_handled; }
    /// Wall-clock milliseconds from the start of the process until the first paint was flushed; below 0: not yet.
    double firstPaint() const { return m_firstPaint; }
    /// Milliseconds of processor time, of all threads, that the process had used by then.
    double firstPaintWork() const { return m_firstPaintWork; }

private:
    void record(double milliseconds, const QString &what);

    std::vector<HandlerTime> m_longest;
    std::int64_t m_handled = 0;
    double m_firstPaint = -1.0;
    double m_firstPaintWork = 0.0;
    int m_depth = 0;
    bool m_isRunning = false;
    bool m_isPassedOver = false;
    bool m_hasPainted = false;
};

} // namespace heddle
