// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/MainWindow.h"

#include "app/gui/DocumentArea.h"
#include "app/gui/UserFiles.h"
#include "app/gui/WindowActions.h"
#include "app/gui/WorkDocks.h"
#include "core/settings/SettingsFile.h"
#include "widgets/common/Banner.h"
#include "widgets/common/CommandPalette.h"
#include "widgets/common/JobIndicator.h"
#include "widgets/common/Text.h"
#include "widgets/editor/EditorDocument.h"
#include "widgets/editor/FindBar.h"
#include "widgets/review/ProposalDocument.h"
#include "widgets/tasks/TaskTree.h"
#include "widgets/welcome/StartPage.h"
#include "widgets/welcome/WelcomePage.h"

#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileSystemWatcher>
#include <QInputDialog>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolButton>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr int layoutVersion = 1;

QString layoutFile() { return pathText(stateFolder() / "window.ini"); }

} // namespace

MainWindow::MainWindow(WindowSetup setup, QWidget *parent)
    : QMainWindow(parent),
      m_setup(std::move(setup)),
      m_jobs(nullptr),
      m_actions(std::make_unique<WindowActions>(this)),
      m_folderWatcher(new QFileSystemWatcher(this))
{
    setWindowTitle(tr("Heddle"));
    setAccessibleName(tr("Heddle"));
    setWindowIcon(QIcon(u":/icons/heddle.svg"_s));
    m_docks = new WorkDocks(this);
    buildCentre();
    buildStatusBar();
    m_palette = new CommandPalette(m_actions->registry, this);
    connectActions();
    connectEditActions();
    connectDockActions();
    connectViews();
    resize(1440, 900);
    m_docks->showAll(false);
    restoreLayout();
    loadSettings({});
    refreshActions();
}

MainWindow::~MainWindow()
{
    // The controller's last job still needs the bridge; the bridge's own destructor joins the lanes.
    m_controller.reset();
}

void MainWindow::buildCentre()
{
    auto *centre = new QWidget(this);
    auto *column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_trustBanner = new Banner(centre);
    m_messageBanner = new Banner(centre);
    m_centre = new QStackedWidget(centre);
    m_welcome = new WelcomePage(m_centre);
    m_documents = new DocumentArea(m_jobs, m_centre);
    m_start = new StartPage(m_centre);
    m_centre->addWidget(m_welcome);
    m_centre->addWidget(m_start);
    m_centre->addWidget(m_documents);
    column->addWidget(m_trustBanner);
    column->addWidget(m_messageBanner);
    column->addWidget(m_centre, 1);
    setCentralWidget(centre);

    QStringList samples;
    const QDir folder(pathText(m_setup.environment.resources / "tasks"));
    for (const QString &name : folder.entryList({u"*.py"_s}, QDir::Files, QDir::Name))
        samples << folder.filePath(name);
    m_welcome->setSamples(samples);
    QStringList recent;
    for (const std::string &path : userFiles::recent())
        recent << toText(path);
    m_welcome->setRecent(recent);
}

void MainWindow::buildStatusBar()
{
    statusBar()->setSizeGripEnabled(false);
    m_jobIndicator = new JobIndicator(this);
    m_place = new QLabel(this);
    m_target = new QLabel(this);
    m_sandbox = new QLabel(this);
    m_machine = new QToolButton(this);
    m_machine->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_machine->setAutoRaise(true);
    const int space = fontMetrics().height() / 2;
    for (QLabel *label : {m_place, m_target, m_sandbox})
        label->setContentsMargins(space, 0, space, 0);
    statusBar()->addWidget(m_jobIndicator, 1);
    statusBar()->addPermanentWidget(m_place);
    statusBar()->addPermanentWidget(m_target);
    statusBar()->addPermanentWidget(m_sandbox);
    statusBar()->addPermanentWidget(m_machine);
    showMachine(Status::Info, tr("Machine: not checked"), tr("Press to check what this machine has"));
    connect(m_machine, &QToolButton::clicked, m_actions->checkUp, &QAction::trigger);
    connect(&m_jobs, &JobBridge::jobStarted, m_jobIndicator, &JobIndicator::jobStarted);
    connect(&m_jobs, &JobBridge::jobProgressed, m_jobIndicator, &JobIndicator::jobProgressed);
    connect(&m_jobs, &JobBridge::jobEnded, m_jobIndicator, &JobIndicator::jobEnded);
    connect(&m_jobs, &JobBridge::jobEnded, this, &MainWindow::refreshActions);
    connect(&m_jobs, &JobBridge::jobStarted, this, &MainWindow::refreshActions);
    connect(m_jobIndicator, &JobIndicator::cancelRequested, this, [this](quint64 id) { m_jobs.cancel(id); });
}

void MainWindow::connectActions()
{
    const WindowActions &a = *m_actions;
    connect(a.openFile, &QAction::triggered, this, [this] {
        auto *dialog = new QFileDialog(this, tr("Open a task file"), QString(), tr("Python files (*.py)"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openPath);
        dialog->open();
    });
    connect(a.openFolder, &QAction::triggered, this, [this] {
        auto *dialog = new QFileDialog(this, tr("Open a folder of tasks"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::Directory);
        dialog->setOption(QFileDialog::ShowDirsOnly);
        connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openPath);
        dialog->open();
    });
    connect(a.quit, &QAction::triggered, this, &QWidget::close);
    connect(a.lint, &QAction::triggered, this, [this] { m_controller->lint(taskInput(currentTask())); });
    connect(a.baseline, &QAction::triggered, this,
            [this] { m_controller->baseline(taskInput(currentTask())); });
    connect(a.optimise, &QAction::triggered, this,
            [this] { m_controller->optimize(taskInput(currentTask())); });
    connect(a.judge, &QAction::triggered, this, &MainWindow::judgeCurrent);
    connect(a.exportCode, &QAction::triggered, this, &MainWindow::exportCurrent);
    connect(a.cancel, &QAction::triggered, this, [this] { m_jobs.cancelShown(); });
    const auto onReview = [this](QAction *action, void (ProposalDocument::*act)()) {
        connect(action, &QAction::triggered, this, [this, act] {
            if (ProposalDocument *document = m_documents->currentProposal(); document != nullptr)
                (document->*act)();
        });
    };
    onReview(a.acceptHunk, &ProposalDocument::acceptCurrent);
    onReview(a.rejectHunk, &ProposalDocument::rejectCurrent);
    onReview(a.acceptAll, &ProposalDocument::acceptAll);
    onReview(a.rejectAll, &ProposalDocument::rejectAll);
    onReview(a.undoDecision, &ProposalDocument::undoLast);
    onReview(a.comment, &ProposalDocument::commentCurrent);
    connect(a.evidence, &QAction::triggered, this, [this] {
        if (const ProposalDocument *document = m_documents->currentProposal(); document != nullptr)
            showMeasurement(m_controller->mirror().verdictEvent(toUtf8(document->proposal().candidate),
                                                                toUtf8(document->proposal().taskPath)));
    });
    connect(a.palette, &QAction::triggered, m_palette, &CommandPalette::popUp);
    connect(a.focusReview, &QAction::toggled, this, [this](bool isFocused) { m_docks->showAll(!isFocused); });
    const auto onTheme = [this](QAction *action, Appearance appearance, const char *word) {
        connect(action, &QAction::triggered, this, [this, appearance, word] {
            setAppearance(appearance);
            keepSetting("theme", word);
        });
    };
    onTheme(a.themeSystem, Appearance::System, "system");
    onTheme(a.themeLight, Appearance::Light, "light");
    onTheme(a.themeDark, Appearance::Dark, "dark");
    const auto zoom = [this](int points) {
        setCodeSize(points);
        keepSetting("editor_font_size", m_codeSize);
    };
    connect(a.zoomIn, &QAction::triggered, this, [this, zoom] { zoom(m_codeSize + 1); });
    connect(a.zoomOut, &QAction::triggered, this, [this, zoom] { zoom(m_codeSize - 1); });
    connect(a.zoomReset, &QAction::triggered, this, [this] {
        setCodeSize(findSettingKey("editor_font_size")->fallback.get<int>());
        keepSetting("editor_font_size", nullptr);
    });
    connect(a.checkUp, &QAction::triggered, this, [this] {
        if (m_controller != nullptr)
            m_documents->openCheckUp();
        if (m_checkUp.empty() && !m_isChecking)
            runCheckUp();
    });
}

void MainWindow::connectDockActions()
{
    int number = 0;
    const auto add = [this, &number](const QString &id, const QString &text) {
        QAction *action = m_actions->registry->add(id, text, QKeySequence(u"Ctrl+Alt+%1"_s.arg(number++)));
        addAction(action);
        return action;
    };
    connect(add(u"go.document"_s, tr("Go to the document")), &QAction::triggered, this, [this] {
        QWidget *shown = m_documents->currentWidget();
        (shown != nullptr ? shown : m_centre->currentWidget())->setFocus(Qt::ShortcutFocusReason);
    });
    // A dock that was closed comes back this way too.
    for (QDockWidget *dock : m_docks->docks()) {
        connect(add(u"go."_s + dock->objectName(), tr("Go to %1").arg(dock->windowTitle())),
                &QAction::triggered, this, [this, dock] {
                    if (m_controller != nullptr)
                        m_docks->goTo(dock);
                });
    }
}

void MainWindow::connectEditActions()
{
    const WindowActions &a = *m_actions;
    const auto onEditor = [this](QAction *action, void (CodeEditor::*act)()) {
        connect(action, &QAction::triggered, this, [this, act] {
            if (const EditorDocument *document = m_documents->currentEditor(); document != nullptr)
                (document->editor()->*act)();
        });
    };
    onEditor(a.undo, &CodeEditor::undo);
    onEditor(a.redo, &CodeEditor::redo);
    onEditor(a.cut, &CodeEditor::cut);
    onEditor(a.copy, &CodeEditor::copy);
    onEditor(a.paste, &CodeEditor::paste);
    const auto onFind = [this](bool withReplace) {
        if (const EditorDocument *document = m_documents->currentEditor(); document != nullptr)
            document->findBar()->open(withReplace);
    };
    connect(a.find, &QAction::triggered, this, [onFind] { onFind(false); });
    connect(a.replace, &QAction::triggered, this, [onFind] { onFind(true); });
    connect(a.goToLine, &QAction::triggered, this, &MainWindow::goToLine);
    connect(a.save, &QAction::triggered, m_documents, &DocumentArea::saveCurrent);
    connect(a.saveAll, &QAction::triggered, m_documents, &DocumentArea::saveAll);
    connect(a.closeTab, &QAction::triggered, this, [this] {
        if (m_documents->currentIndex() >= 0)
            m_documents->closeTab(m_documents->currentIndex());
    });
}

void MainWindow::goToLine()
{
    const EditorDocument *document = m_documents->currentEditor();
    if (document == nullptr)
        return;
    auto *dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setInputMode(QInputDialog::IntInput);
    dialog->setWindowTitle(tr("Go to line"));
    dialog->setLabelText(tr("Line"));
    dialog->setIntRange(1, document->editor()->lineCount());
    dialog->setIntValue(document->editor()->currentLine());
    const QPointer<CodeEditor> editor(document->editor());
    connect(dialog, &QInputDialog::intValueSelected, document->editor(), [editor](int line) {
        editor->goTo(line);
        editor->setFocus();
    });
    dialog->open();
}

void MainWindow::setAppearance(Appearance appearance)
{
    // Every widget is styled anew, so it is not done for nothing.
    if (m_appearance == appearance)
        return;
    m_appearance = appearance;
    applyAppearance(appearance, m_setup.systemPalette, *this);
    QAction *chosen = appearance == Appearance::Light ? m_actions->themeLight
        : appearance == Appearance::Dark              ? m_actions->themeDark
                                                      : m_actions->themeSystem;
    chosen->setChecked(true);
}

void MainWindow::comeToFront()
{
    setWindowState(windowState() & ~Qt::WindowMinimized);
    raise();
    activateWindow();
}

void MainWindow::restoreLayout()
{
    const QSettings layout(layoutFile(), QSettings::IniFormat);
    restoreGeometry(layout.value(u"geometry"_s).toByteArray());
}

void MainWindow::loadSettings(const fs::path &workspace)
{
    m_settings = Settings::load(workspace);
    std::optional<Error> refused;
    if (m_setup.target) {
        if (const auto set = m_settings.setFlag("target", *m_setup.target); !set)
            refused = set.error();
    }
    m_target->setText(tr("Target: %1").arg(toText(target())));
    const std::string theme = m_settings.text("theme");
    setAppearance(theme == "light"      ? Appearance::Light
                      : theme == "dark" ? Appearance::Dark
                                        : Appearance::System);
    setCodeSize(static_cast<int>(m_settings.number("editor_font_size")));
    if (refused)
        showError(*refused);
    else if (!m_settings.problems().empty())
        showError(m_settings.problems().front());
}

void MainWindow::keepSetting(const std::string &name, const Json &value)
{
    m_jobs.run<Result<void>>(
        Lane::io(), JobKind::Quiet, {}, this,
        [name, value](const CancelToken &, const ProgressSink &) {
            return writeSetting(Settings::userFile(), SettingOrigin::User, name, value);
        },
        [this](Result<void> result) {
            if (!result)
                showError(result.error());
        });
}

void MainWindow::setCodeSize(int points)
{
    const SettingKey &key = *findSettingKey("editor_font_size");
    const int size = std::clamp(points, static_cast<int>(key.least), static_cast<int>(key.most));
    if (m_codeSize == size)
        return;
    m_codeSize = size;
    m_documents->setCodeSize(m_codeSize);
}

void MainWindow::saveLayout()
{
    QDir().mkpath(pathText(stateFolder()));
    QSettings layout(layoutFile(), QSettings::IniFormat);
    layout.setValue(u"geometry"_s, saveGeometry());
    if (m_controller != nullptr)
        layout.setValue(u"docks"_s, saveState(layoutVersion));
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    // Unsaved text needs no question: it is in the journal and comes back with the workspace.
    saveLayout();
    event->accept();
}

void MainWindow::showError(const Error &error)
{
    m_messageBanner->clearButtons();
    m_messageBanner->showError(error);
    if (error.code() == Code::Environment)
        connect(m_messageBanner->addButton(tr("Open the check-up")), &QPushButton::clicked,
                m_actions->checkUp, &QAction::trigger);
}

} // namespace heddle
