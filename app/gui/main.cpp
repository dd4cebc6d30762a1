// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/AutomationServer.h"
#include "app/gui/HandlerClock.h"
#include "app/gui/InstanceLock.h"
#include "app/gui/MainWindow.h"
#include "widgets/common/Text.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QFileInfo>
#include <QTextStream>

#include <algorithm>
#include <csignal>
#include <string_view>

using namespace Qt::StringLiterals;

namespace {

/// What the parser's texts are translated under.
class Words {
    Q_DECLARE_TR_FUNCTIONS(heddle::Main)
};

int fail(const heddle::Error &error)
{
    QTextStream(stderr) << heddle::toText(error.text()) << '\n';
    return 1;
}

/// Whether an argument asks for words alone. They need no display, without which QApplication aborts.
bool asksForWords(int argc, char **argv)
{
    return std::any_of(argv + 1, argv + argc, [](const char *argument) {
        const std::string_view given(argument);
        return given == "-h" || given == "--help" || given == "--help-all" || given == "-v"
            || given == "--version";
    });
}

/// Whether the environment or an argument names something to show a window on.
bool namesDisplay(int argc, char **argv)
{
    for (const char *name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
        if (!qEnvironmentVariableIsEmpty(name))
            return true;
    }
    return std::any_of(argv + 1, argv + argc, [](const char *argument) {
        return std::string_view(argument).find("-platform") < 2
            || std::string_view(argument).find("-display") < 2;
    });
}

} // namespace

int main(int argc, char **argv)
{
    // A worker behind ssh that goes away is an error to show, not the end of this program.
    std::signal(SIGPIPE, SIG_IGN);
    QApplication::setApplicationName(u"heddle"_s);
    QApplication::setApplicationDisplayName(u"Heddle"_s);
    QApplication::setApplicationVersion(QStringLiteral(HEDDLE_VERSION));
    QApplication::setDesktopFileName(u"org.heddle.Heddle"_s);

    QCommandLineParser parser;
    parser.setApplicationDescription(Words::tr("Optimise the operators of a PyTorch model."));
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption newWorkspace(u"new-workspace"_s,
                                          Words::tr("Make the folder if it does not exist yet."));
    const QCommandLineOption target(
        u"target"_s, Words::tr("Where things run: cpu, or ssh://HOST/cpu; else the setting."), u"target"_s);
    const QCommandLineOption automation(
        u"automation"_s, Words::tr("Let a script drive this window through a socket of that path."),
        u"socket"_s);
    parser.addOptions({newWorkspace, target, automation});
    parser.addPositionalArgument(u"path"_s, Words::tr("A folder of tasks, or one task file."), u"[path]"_s);
    if (asksForWords(argc, argv)) {
        const QCoreApplication application(argc, argv);
        parser.process(application); // prints them and ends the program
        return 0;
    }
    if (!namesDisplay(argc, argv))
        return fail(heddle::Error(heddle::Code::Environment, "there is no display to open a window on", {},
                                  "set DISPLAY, or use heddle-cli, which does the same in the terminal"));
    heddle::HandlerClock application(argc, argv);
    parser.process(application);

    const QString path = parser.positionalArguments().value(0);
    if (parser.isSet(newWorkspace)) {
        if (path.isEmpty())
            return fail(heddle::Error(heddle::Code::InvalidInput, "--new-workspace needs a folder"));
        if (const auto made = heddle::makeFolder(heddle::toPath(path)); !made)
            return fail(made.error());
    }
    heddle::WindowSetup setup{heddle::Environment::fromProgram(), &heddle::Workbench::create, std::nullopt,
                              QApplication::palette()};
    if (parser.isSet(target)) {
        setup.target = heddle::toUtf8(parser.value(target));
        if (const auto known = heddle::settingFromText("target", *setup.target); !known)
            return fail(known.error());
    }

    const QFileInfo info(path);
    const QString workspace = info.isDir() ? info.canonicalFilePath() : info.canonicalPath();
    heddle::InstanceLock lock(heddle::toPath(info.isDir() ? workspace : info.canonicalFilePath()));
    if (!path.isEmpty() && info.exists() && lock.raiseOther())
        return 0;

    heddle::MainWindow window(std::move(setup));
    window.show();
    if (!path.isEmpty()) {
        lock.listen();
        QObject::connect(&lock, &heddle::InstanceLock::raiseRequested, &window,
                         &heddle::MainWindow::comeToFront);
        window.openPath(path);
    }
    heddle::AutomationServer server(&window, &application, nullptr);
    if (parser.isSet(automation)) {
        application.start();
        if (const auto listening = server.listen(parser.value(automation)); !listening)
            return fail(listening.error());
    }
    return QApplication::exec();
}
