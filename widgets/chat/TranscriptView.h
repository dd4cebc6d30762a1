// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/Store.h"
#include "widgets/chat/EventText.h"

#include <QTextBrowser>
#include <QTimer>

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace heddle {

struct Theme;

/// What happened in a session, one paragraph an event, newest last. Figures are links to the events that
/// measured them (mouse or Tab and Enter). It follows the end until the person scrolls away. Many events at once
/// are laid out bit by bit, so that the window never stops. GUI thread.
class TranscriptView : public QTextBrowser {
    Q_OBJECT

public:
    explicit TranscriptView(QWidget *parent = nullptr);

    void clearEvents();
    void appendEvents(const std::vector<Event> &events);
    std::size_t lineCount() const { return m_lines.size(); }
    /// Lines that are not laid out yet.
    std::size_t waitingCount() const { return m_lines.size() - m_laidOut; }

signals:
    void eventActivated(std::int64_t event);

protected:
    void changeEvent(QEvent *event) override;

private:
    struct Line {
        QString time;
        QString actor;
        std::vector<Fragment> fragments;
    };
    void insertLine(const Line &line, bool isSameActor);
    void render();
    void layOutSome();

    std::deque<Line> m_lines;
    std::map<std::string, QString> m_planTitles; ///< by the item's id, from the plans that were appended
    std::size_t m_laidOut = 0;                   ///< how many of the lines are in the document
    QTimer m_layOut;
    const Theme *m_shownTheme = nullptr; ///< whose colours the laid out lines have
    bool m_isRendering = false;
};

} // namespace heddle
