// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/MainWindow.h"

#include "app/gui/DocumentArea.h"
#include "app/gui/UserFiles.h"
#include "app/gui/WindowActions.h"
#include "app/gui/WorkDocks.h"
#include "widgets/common/Banner.h"
#include "widgets/common/CommandPalette.h"
#include "widgets/common/JobIndicator.h"
#include "widgets/common/Text.h"
#include "widgets/editor/EditorDocument.h"
#include "widgets/editor/FindBar.h"
#include "widgets/review/ProposalDocument.h"
#include "widgets/tasks/TaskTree.h"
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
    connectViews();
    resize(1440, 900);
    m_docks->showAll(false);
    restoreLayout();
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
    m_centre->addWidget(m_welcome);
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
    auto *target = new QLabel(tr("Target: %1").arg(toText(m_setup.target)), this);
    target->setContentsMargins(0, 0, fontMetrics().height() / 2, 0);
    statusBar()->addWidget(m_jobIndicator, 1);
    statusBar()->addPermanentWidget(m_place);
    statusBar()->addPermanentWidget(target);
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
            showMeasurement(m_controller->mirror().verdictEvent(toUtf8(document->proposal().candidate)));
    });
    connect(a.palette, &QAction::triggered, m_palette, &CommandPalette::popUp);
    connect(a.focusReview, &QAction::toggled, this, [this](bool isFocused) { m_docks->showAll(!isFocused); });
    connect(a.themeSystem, &QAction::triggered, this, [this] { setAppearance(Appearance::System); });
    connect(a.themeLight, &QAction::triggered, this, [this] { setAppearance(Appearance::Light); });
    connect(a.themeDark, &QAction::triggered, this, [this] { setAppearance(Appearance::Dark); });
    const auto zoom = [this](int steps) {
        m_zoom = std::clamp(steps, -5, 12);
        m_documents->setZoom(m_zoom);
    };
    connect(a.zoomIn, &QAction::triggered, this, [this, zoom] { zoom(m_zoom + 1); });
    connect(a.zoomOut, &QAction::triggered, this, [this, zoom] { zoom(m_zoom - 1); });
    connect(a.zoomReset, &QAction::triggered, this, [zoom] { zoom(0); });
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
    m_appearance = appearance;
    applyAppearance(appearance, m_setup.systemPalette);
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
    const int theme = layout.value(u"theme"_s, 0).toInt();
    setAppearance(theme == 1 ? Appearance::Light : theme == 2 ? Appearance::Dark : Appearance::System);
    m_zoom = std::clamp(layout.value(u"zoom"_s, 0).toInt(), -5, 12);
    m_documents->setZoom(m_zoom);
}

void MainWindow::saveLayout()
{
    QDir().mkpath(pathText(stateFolder()));
    QSettings layout(layoutFile(), QSettings::IniFormat);
    layout.setValue(u"geometry"_s, saveGeometry());
    if (m_controller != nullptr)
        layout.setValue(u"docks"_s, saveState(layoutVersion));
    layout.setValue(u"theme"_s, static_cast<int>(m_appearance));
    layout.setValue(u"zoom"_s, m_zoom);
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
}

} // namespace heddle
