// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/HandlerClock.h"

#include <QEvent>
#include <QFile>
#include <QMetaEnum>

#include <ctime>

#include <algorithm>
#include <unistd.h>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

constexpr std::size_t mostKept = 10;

double millisecondsOf(clockid_t clock)
{
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// When this process started, on CLOCK_BOOTTIME, from field 22 of /proc/self/stat (proc(5)); in ticks of 10 ms.
double startOfProcess()
{
    QFile stat(u"/proc/self/stat"_s);
    if (!stat.open(QIODevice::ReadOnly))
        return millisecondsOf(CLOCK_BOOTTIME);
    const QByteArray text = stat.readAll();
    // The program's name in parentheses may hold spaces; what is counted comes after it and begins with field 3.
    const QList<QByteArray> fields = text.mid(text.lastIndexOf(')') + 2).split(' ');
    return fields.value(19).toDouble() * 1e3 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

QString nameOf(const QObject *receiver, QEvent::Type type)
{
    const char *event = QMetaEnum::fromType<QEvent::Type>().valueToKey(type);
    const QString word = event == nullptr ? QString::number(type) : QString::fromLatin1(event);
    return u"%1 of %2"_s.arg(word, QString::fromLatin1(receiver->metaObject()->className()));
}

} // namespace

void HandlerClock::start()
{
    m_isRunning = true;
    m_longest.clear();
    m_handled = 0;
}

bool HandlerClock::notify(QObject *receiver, QEvent *event)
{
    const QEvent::Type type = event->type();
    m_hasPainted = m_hasPainted || type == QEvent::Paint;
    if (m_depth > 0 || (!m_isRunning && m_firstPaint >= 0.0))
        return QApplication::notify(receiver, event);
    // The receiver may be gone afterwards, so it is named before.
    const QString what = m_isRunning ? nameOf(receiver, type) : QString();
    m_isPassedOver = false;
    const double before = millisecondsOf(CLOCK_THREAD_CPUTIME_ID);
    ++m_depth;
    const bool isHandled = QApplication::notify(receiver, event);
    --m_depth;
    // The outermost event of a paint is the one that also flushes it to the screen.
    if (m_hasPainted && m_firstPaint < 0.0) {
        m_firstPaint = millisecondsOf(CLOCK_BOOTTIME) - startOfProcess();
        m_firstPaintWork = millisecondsOf(CLOCK_PROCESS_CPUTIME_ID);
    }
    if (m_isRunning && !m_isPassedOver)
        record(millisecondsOf(CLOCK_THREAD_CPUTIME_ID) - before, what);
    return isHandled;
}

void HandlerClock::record(double milliseconds, const QString &what)
{
    ++m_handled;
    if (m_longest.size() == mostKept && milliseconds <= m_longest.back().milliseconds)
        return;
    const auto place =
        std::upper_bound(m_longest.begin(), m_longest.end(), milliseconds,
                         [](double wanted, const HandlerTime &kept) { return wanted > kept.milliseconds; });
    m_longest.insert(place, {milliseconds, what});
    if (m_longest.size() > mostKept)
        m_longest.pop_back();
}

} // namespace heddle
