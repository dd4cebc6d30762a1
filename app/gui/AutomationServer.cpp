// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/AutomationServer.h"

#include "app/gui/AccessibleTree.h"
#include "app/gui/HandlerClock.h"
#include "app/gui/MainWindow.h"
#include "app/gui/WorkspaceController.h"
#include "widgets/common/Text.h"

#include <QAction>
#include <QApplication>
#include <QImage>
#include <QKeyEvent>
#include <QLocalSocket>
#include <QPainter>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

constexpr qint64 longestLine = 8 << 20;
constexpr double largestScale = 4.0;

} // namespace

AutomationServer::AutomationServer(MainWindow *window, HandlerClock *clock, QObject *parent)
    : QObject(parent), m_window(window), m_clock(clock)
{
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, [this] {
        while (QLocalSocket *client = m_server.nextPendingConnection()) {
            connect(client, &QLocalSocket::readyRead, this, [this, client] { read(client); });
            connect(client, &QLocalSocket::disconnected, client, &QObject::deleteLater);
        }
    });
}

Result<void> AutomationServer::listen(const QString &socket)
{
    QLocalServer::removeServer(socket);
    if (!m_server.listen(socket))
        return Error(Code::Io, "cannot make the automation socket: " + toUtf8(m_server.errorString()),
                     toUtf8(socket));
    return {};
}

void AutomationServer::read(QLocalSocket *client)
{
    if (client->bytesAvailable() > longestLine && !client->canReadLine()) {
        client->abort();
        return;
    }
    while (client->canReadLine()) {
        const QByteArray line = client->readLine(longestLine);
        Json answer{{"ok", false}};
        const Result<Json> command =
            parseJson({line.constData(), static_cast<std::size_t>(line.size())}, "automation");
        if (command) {
            answer["id"] = memberOr(*command, "id");
            Result<Json> result = perform(*command);
            answer["ok"] = result.has_value();
            answer[result ? "result" : "error"] = result ? *result : toJson(result.error());
        } else {
            answer["error"] = toJson(command.error());
        }
        const std::string text = compactText(answer) + '\n';
        client->write(text.data(), static_cast<qint64>(text.size()));
    }
}

Result<Json> AutomationServer::perform(const Json &command)
{
    const std::string what = stringOr(command, "do");
    const QString name = toText(stringOr(command, "name"));
    // Looking is not the window's own work; pressing is.
    const bool isLooking =
        what == "tree" || what == "texts" || what == "events" || what == "grab" || what == "timing";
    if (m_clock != nullptr && isLooking)
        m_clock->passOver();
    if (what == "tree")
        return accessibleTree::describe(m_window);
    if (what == "texts") {
        Json lines = Json::array();
        for (const QString &text : accessibleTree::texts(m_window))
            lines.push_back(toUtf8(text));
        return lines;
    }
    if (what == "press") {
        HEDDLE_CHECK_OK(accessibleTree::press(m_window, name, toText(stringOr(command, "role"))));
        return Json::object();
    }
    if (what == "set_text") {
        HEDDLE_CHECK_OK(accessibleTree::setText(m_window, name, toText(stringOr(command, "text"))));
        return Json::object();
    }
    if (what == "open") {
        m_window->openPath(toText(stringOr(command, "path")));
        return Json::object();
    }
    if (what == "events") {
        Json list = Json::array();
        if (const WorkspaceController *controller = m_window->controller(); controller != nullptr) {
            for (const Event &event : controller->mirror().events()) {
                if (event.id > integerOr(command, "after", 0))
                    list.push_back({{"id", event.id},
                                    {"session", event.session},
                                    {"type", event.type},
                                    {"actor", event.actor},
                                    {"data", event.data}});
            }
        }
        return list;
    }
    if (what == "open_proposal") {
        if (!m_window->openProposal(static_cast<int>(integerOr(command, "number", 0))))
            return Error(Code::NotFound, "there is no such proposal");
        return Json::object();
    }
    if (what == "grab")
        return grab(command);
    if (what == "key")
        return key(command);
    if (what == "timing")
        return timing(command);
    if (what == "resize") {
        m_window->resize(static_cast<int>(integerOr(command, "width", 1440)),
                         static_cast<int>(integerOr(command, "height", 900)));
        return Json::object();
    }
    if (what == "quit") {
        m_window->close();
        return Json::object();
    }
    return Error(
        Code::InvalidInput, "no such automation command", what,
        "use tree, texts, press, set_text, key, open, open_proposal, events, grab, timing, resize or quit");
}

Result<Json> AutomationServer::key(const Json &command)
{
    const QKeySequence keys(toText(stringOr(command, "keys")));
    if (keys.isEmpty())
        return Error(Code::InvalidInput, "these are no keys", stringOr(command, "keys"), "write Ctrl+B or J");
    QWidget *focus = QApplication::focusWidget() != nullptr ? QApplication::focusWidget() : m_window;
    const Qt::KeyboardModifiers modifiers = keys[0].keyboardModifiers();
    const int code = keys[0].key();
    const bool isTyped =
        code >= Qt::Key_Space && code <= Qt::Key_AsciiTilde && !modifiers.testFlag(Qt::ControlModifier);
    const QString typed = isTyped ? QString(QChar(code)).toLower() : QString();
    // The focus may take a key that is a shortcut elsewhere, as the window system asks it, too.
    QKeyEvent asked(QEvent::ShortcutOverride, code, modifiers, typed);
    asked.ignore();
    QCoreApplication::sendEvent(focus, &asked);
    if (!asked.isAccepted()) {
        for (QAction *action : m_window->QWidget::actions()) {
            if (action->isEnabled() && action->shortcuts().contains(keys)) {
                action->trigger();
                return Json{{"action", toUtf8(action->objectName())}};
            }
        }
    }
    for (const QEvent::Type type : {QEvent::KeyPress, QEvent::KeyRelease}) {
        QKeyEvent event(type, code, modifiers, typed);
        QCoreApplication::sendEvent(focus, &event);
    }
    return Json{{"focus", toUtf8(focus->accessibleName())}};
}

Result<Json> AutomationServer::timing(const Json &command)
{
    if (m_clock == nullptr)
        return Error(Code::NotFound, "this program does not time its handlers");
    Json longest = Json::array();
    for (const HandlerTime &one : m_clock->longest())
        longest.push_back({{"ms", one.milliseconds}, {"what", toUtf8(one.what)}});
    Json answer{{"first_paint_ms", m_clock->firstPaint()},
                {"first_paint_work_ms", m_clock->firstPaintWork()},
                {"handled", m_clock->handled()},
                {"longest", std::move(longest)},
                {"busy", m_window->jobs().hasShownJobs()}};
    if (boolOr(command, "reset", false))
        m_clock->start();
    return answer;
}

Result<Json> AutomationServer::grab(const Json &command)
{
    const QString file = toText(stringOr(command, "file"));
    const double scale = std::clamp(numberOr(command, "scale", 1.0), 1.0, largestScale);
    QImage image(m_window->size() * scale, QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    image.fill(m_window->palette().color(QPalette::Window));
    QPainter painter(&image);
    m_window->render(&painter);
    painter.end();
    if (!image.save(file, "PNG"))
        return Error(Code::Io, "cannot write the picture", toUtf8(file));
    return Json{{"file", toUtf8(file)}, {"width", image.width()}, {"height", image.height()}};
}

} // namespace heddle
