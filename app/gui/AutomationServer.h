// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QLocalServer>
#include <QObject>

class QLocalSocket;

namespace heddle {

class HandlerClock;
class MainWindow;

/// Lets a script drive the window by accessible names, only when `--automation SOCKET` was given. One JSON
/// message a line: {"id", "do", …} → {"id", "ok", "result" | "error"}. Nothing that a person could not do by
/// hand: tree, texts, press, set_text, key, open, open_proposal, events, grab, resize, quit; and timing, which no person
/// sees. GUI thread; the socket belongs to the user alone.
class AutomationServer : public QObject {
    Q_OBJECT

public:
    /// `clock`: the application itself where it can tell its handlers' times, or null.
    AutomationServer(MainWindow *window, HandlerClock *clock, QObject *parent);

    /// Errors: Io when the socket can't be made.
    Result<void> listen(const QString &socket);
    /// Does one command and gives its result.
    Result<Json> perform(const Json &command);

private:
    void read(QLocalSocket *client);
    Result<Json> grab(const Json &command);
    Result<Json> key(const Json &command);
    Result<Json> timing(const Json &command);

    MainWindow *m_window;
    HandlerClock *m_clock;
    QLocalServer m_server;
};

} // namespace heddle
