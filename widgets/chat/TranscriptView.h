// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/Store.h"
#include "widgets/chat/EventText.h"

#include <QTextBrowser>

#include <vector>

namespace heddle {

/// What happened in a session, one paragraph an event, newest last. Figures are links to the events that
/// measured them (mouse or Tab and Enter). It follows the end until the person scrolls away. GUI thread.
class TranscriptView : public QTextBrowser {
    Q_OBJECT

public:
    explicit TranscriptView(QWidget *parent = nullptr);

    void clearEvents();
    void appendEvents(const std::vector<Event> &events);
    std::size_t lineCount() const { return m_lines.size(); }

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

    std::vector<Line> m_lines;
    bool m_isRendering = false;
};

} // namespace heddle
