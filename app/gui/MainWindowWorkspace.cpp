// SPDX-License-Identifier: GPL-3.0-or-later
// The part of MainWindow that opens workspaces and shows what their stores hold.
#include "app/gui/DocumentArea.h"
#include "app/gui/MainWindow.h"
#include "app/gui/UserFiles.h"
#include "app/gui/WindowActions.h"
#include "app/gui/WorkDocks.h"
#include "widgets/chat/TranscriptView.h"
#include "widgets/common/Banner.h"
#include "widgets/common/Report.h"
#include "widgets/common/Text.h"
#include "widgets/editor/EditorDocument.h"
#include "widgets/evidence/EvidenceView.h"
#include "widgets/plan/PlanView.h"
#include "widgets/results/LogView.h"
#include "widgets/results/ProblemsView.h"
#include "widgets/results/ResultsView.h"
#include "widgets/review/ExportPreview.h"
#include "widgets/review/ProposalDocument.h"
#include "widgets/tasks/DecisionList.h"
#include "widgets/tasks/ProposalList.h"
#include "widgets/tasks/TaskTree.h"
#include "widgets/welcome/CheckUpView.h"
#include "widgets/welcome/StartPage.h"
#include "widgets/welcome/WelcomePage.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QFileSystemWatcher>
#include <QLabel>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>

using namespace Qt::StringLiterals;

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// Of another task's history the transcript shows the newest part; the log has all of it.
constexpr std::size_t eventsShown = 200;

} // namespace

void MainWindow::openPath(const QString &path)
{
    const QFileInfo info(path);
    if (!info.exists()) {
        showError(Error(Code::NotFound, "there is no such file or folder", toUtf8(path)));
        return;
    }
    if (m_controller != nullptr) {
        // One process and window for each workspace.
        QStringList arguments{info.absoluteFilePath()};
        if (m_setup.target)
            arguments << u"--target"_s << toText(*m_setup.target);
        QProcess::startDetached(QCoreApplication::applicationFilePath(), arguments);
        return;
    }
    const fs::path absolute = toPath(info.canonicalFilePath());
    if (info.isDir())
        openWorkspace(absolute, std::nullopt);
    else
        openWorkspace(absolute.parent_path(), absolute);
}

void MainWindow::openSample(const QString &path)
{
    using Copy = Result<fs::path>;
    m_jobs.run<Copy>(
        Lane::io(), JobKind::Quiet, {}, this,
        [path](const CancelToken &, const ProgressSink &) -> Copy {
            HEDDLE_TRY(const fs::path copy, userFiles::sampleCopy(toPath(path)));
            // It came with the program, so it needs no more trust than the program.
            HEDDLE_CHECK_OK(userFiles::trust(copy.parent_path()));
            return copy;
        },
        [this](Copy copy) {
            if (copy)
                openPath(pathText(*copy));
            else
                showError(copy.error());
        });
}

void MainWindow::openWorkspace(const fs::path &folder, const std::optional<fs::path> &loneFile)
{
    m_loneFile = loneFile;
    loadSettings(folder);
    Environment &environment = m_setup.environment;
    if (const std::string python = m_settings.text("python"); !python.empty())
        environment.python = python;
    environment.compiler = m_settings.text("compiler");
    environment.unsandboxed = m_settings.isOn("unsandboxed");
    environment.mode = m_settings.text("mode");
    environment.seed = static_cast<std::uint64_t>(m_settings.integerIfSet("seed").value_or(0));
    m_controller = std::make_unique<WorkspaceController>(m_jobs, environment, m_setup.factory, folder,
                                                         target(), nullptr);
    m_controller->setBudget(m_settings.number("budget_seconds"));
    m_controller->setTolerance(m_settings.numberIfSet("tolerance"));
    connectController();
    setWindowTitle(tr("%1 — Heddle").arg(pathText(loneFile ? loneFile->filename() : folder.filename())));
    m_centre->setCurrentWidget(m_documents);
    m_docks->showAll(true);
    const QSettings layout(pathText(stateFolder() / "window.ini"), QSettings::IniFormat);
    if (!restoreState(layout.value(u"docks"_s).toByteArray(), 1))
        m_docks->arrange();
    m_documents->setJournal(userFiles::journalFolder(folder));
    m_controller->start();
    m_folderWatcher->addPath(pathText(folder));
    rescanTasks();
    if (loneFile)
        m_documents->openFile(pathText(*loneFile));
    askTrust();
    refreshActions();
    if (m_controller->isTrusted())
        runCheckUp();
    m_jobs.run<Result<void>>(
        Lane::io(), JobKind::Quiet, {}, this,
        [path = loneFile ? *loneFile : folder](const CancelToken &, const ProgressSink &) {
            return userFiles::addRecent(path);
        },
        [this](Result<void> result) {
            if (!result)
                showError(result.error());
        });
}

void MainWindow::askTrust()
{
    m_trustBanner->setVisible(false);
    if (m_controller->isTrusted())
        return;
    m_trustBanner->clearButtons();
    m_trustBanner->showMessage(
        BannerKind::Warning, tr("Nothing in this folder runs until you trust it: task files are programs."),
        tr("You can read and edit. Trust it if you know where these files come from."));
    QPushButton *trust = m_trustBanner->addButton(tr("Trust this folder"));
    connect(trust, &QPushButton::clicked, m_controller.get(), &WorkspaceController::trust);
}

void MainWindow::rescanTasks()
{
    using Tasks = Result<std::vector<TaskFile>>;
    m_jobs.run<Tasks>(
        Lane::io(), JobKind::Quiet, {}, this,
        [folder = m_controller->workspace(), lone = m_loneFile](const CancelToken &cancel,
                                                                const ProgressSink &) -> Tasks {
            if (lone)
                return std::vector<TaskFile>{loneTask(folder, *lone)};
            return scanTasks(folder, cancel);
        },
        [this](Tasks tasks) {
            if (!tasks) {
                showError(tasks.error());
                return;
            }
            m_docks->tasks()->setTasks(*tasks);
            for (const TaskFile &task : *tasks)
                m_folderWatcher->addPath(pathText(m_controller->absolute(task.path).parent_path()));
            showTaskVerdicts();
            if (currentTask().isEmpty() && !tasks->empty())
                m_docks->tasks()->selectTask(toText(tasks->front().path));
            showTask(currentTask());
            // A folder opens on its first task; what was recovered from a crash stays in front.
            if (!m_hasScanned && m_documents->count() == 0 && !currentTask().isEmpty())
                m_documents->openFile(pathText(m_controller->absolute(toUtf8(currentTask()))));
            m_hasScanned = true;
            showStartPage();
        },
        "scan");
}

void MainWindow::connectViews()
{
    connect(m_welcome, &WelcomePage::openFileRequested, m_actions->openFile, &QAction::trigger);
    connect(m_welcome, &WelcomePage::openFolderRequested, m_actions->openFolder, &QAction::trigger);
    connect(m_welcome, &WelcomePage::checkUpRequested, this, &MainWindow::runCheckUp);
    connect(m_welcome, &WelcomePage::pathChosen, this, [this](const QString &path) {
        const bool isSample = path.startsWith(pathText(m_setup.environment.resources));
        isSample ? openSample(path) : openPath(path);
    });
    connect(m_docks->tasks(), &TaskTree::fileActivated, this, [this](const QString &path) {
        m_documents->openFile(pathText(m_controller->absolute(toUtf8(path))));
    });
    connect(m_docks->tasks(), &TaskTree::taskSelected, this, &MainWindow::showTask);
    connect(m_docks->proposals(), &ProposalList::proposalActivated, this, [this](const QString &id) {
        m_documents->openProposal(id);
        m_controller->loadProposal(toUtf8(id));
    });
    connect(m_docks->proposals(), &ProposalList::countChanged, m_docks, &WorkDocks::showProposalCount);
    connect(m_docks->transcript(), &TranscriptView::eventActivated, this, &MainWindow::showMeasurement);
    connect(m_docks->results(), &ResultsView::eventActivated, this, &MainWindow::showMeasurement);
    connect(m_docks->problems(), &ProblemsView::placeActivated, this,
            [this](const QString &file, int line, int column) {
                const fs::path folder = m_controller->headFolder(toUtf8(currentTask()));
                m_documents->openFile(pathText(folder / toUtf8(file)), line, column);
            });
    connect(m_documents, &DocumentArea::failed, this, &MainWindow::showError);
    connect(m_documents, &DocumentArea::proposalOpened, this, &MainWindow::connectProposal);
    connect(m_documents, &DocumentArea::exportOpened, this, &MainWindow::connectExport);
    connect(m_documents, &DocumentArea::checkUpOpened, this, &MainWindow::connectCheckUp);
    connect(m_documents, &QTabWidget::currentChanged, this, &MainWindow::refreshActions);
    connect(m_documents, &QTabWidget::currentChanged, this, &MainWindow::showStartPage);
    connect(m_start, &StartPage::openFileRequested, m_actions->openFile, &QAction::trigger);
    connect(m_start, &StartPage::openFolderRequested, m_actions->openFolder, &QAction::trigger);
    connect(m_start, &StartPage::openTaskRequested, this,
            [this] { m_documents->openFile(pathText(m_controller->absolute(toUtf8(currentTask())))); });
    connect(
        m_docks->decisions(), &DecisionList::undoRequested, this,
        [this](qint64 event, const QString &task) { m_controller->undo(event, headBuffers(toUtf8(task))); });
    connect(m_docks->decisions(), &DecisionList::restoreRequested, this,
            [this](const QString &task, const QString &revision) {
                m_controller->restore(toUtf8(task), toUtf8(revision), headBuffers(toUtf8(task)));
            });
    connect(m_documents, &DocumentArea::currentPlaceChanged, this, [this](int line, int column) {
        m_place->setText(tr("Line %1, column %2").arg(line).arg(column));
    });
    connect(m_folderWatcher, &QFileSystemWatcher::directoryChanged, this, &MainWindow::rescanTasks);
}

bool MainWindow::openProposal(int number)
{
    if (m_controller == nullptr || number < 0
        || number >= static_cast<int>(m_controller->mirror().proposals().size()))
        return false;
    const std::string &id = m_controller->mirror().proposals()[static_cast<std::size_t>(number)].id;
    m_documents->openProposal(toText(id));
    m_controller->loadProposal(id);
    return true;
}

void MainWindow::connectController()
{
    connect(m_controller.get(), &WorkspaceController::failed, this, &MainWindow::showError);
    connect(m_controller.get(), &WorkspaceController::newsArrived, this, &MainWindow::applyNews);
    connect(m_controller.get(), &WorkspaceController::actionDone, this, &MainWindow::actionDone);
    connect(m_controller.get(), &WorkspaceController::trustChanged, this, [this] {
        m_trustBanner->hide();
        refreshActions();
        showStartPage();
        if (m_checkUp.empty() && !m_isChecking)
            runCheckUp();
    });
    connect(m_controller.get(), &WorkspaceController::proposalLoaded, this,
            [this](const ProposalTrees &trees) {
                ProposalDocument *document = m_documents->findProposal(toText(trees.proposal));
                if (document == nullptr)
                    return;
                ProposalInfo info = document->proposal();
                info.id = toText(trees.proposal);
                info.base = trees.base;
                info.proposed = trees.proposed;
                document->setProposal(info);
                refreshProposal(document);
            });
    connect(m_controller.get(), &WorkspaceController::filesLanded, m_documents, &DocumentArea::landFiles);
}

void MainWindow::applyNews(const std::vector<Event> &events)
{
    m_docks->log()->appendEvents(events);
    const EventMirror &mirror = m_controller->mirror();
    const std::string task = toUtf8(m_shownTask);
    std::vector<Event> shown;
    bool hasMeasured = false;
    for (const Event &event : events) {
        if (event.session.empty() || mirror.taskOfSession(event.session) != task)
            continue;
        shown.push_back(event);
        hasMeasured = hasMeasured || event.type == "judged" || event.type == "baseline_measured";
        if (event.type == "plan_written")
            m_docks->plan()->setItems(memberOr(event.data, "items"));
        else if (event.type == "plan_item_changed")
            m_docks->plan()->changeItem(stringOr(event.data, "id"), stringOr(event.data, "state"),
                                        stringOr(event.data, "note"));
        const bool isBuild = event.type == "compiled" || event.type == "judged";
        const Json &source = event.type == "judged" ? memberOr(event.data, "report") : event.data;
        if (isBuild && source.contains("diagnostics")) {
            const auto diagnostics = diagnosticsFromJson(memberOr(source, "diagnostics"));
            m_docks->problems()->setDiagnostics(diagnostics);
            m_docks->showProblemCount(m_docks->problems()->errorCount());
            m_documents->setDiagnostics(pathText(m_controller->headFolder(task)), diagnostics);
        }
    }
    m_docks->transcript()->appendEvents(shown);
    m_hasMeasured = m_hasMeasured || hasMeasured;
    if (m_controller->isCatchingUp())
        return;
    if (m_hasMeasured)
        m_docks->results()->setEvents(mirror.eventsOfTask(task));
    m_hasMeasured = false;
    showTaskVerdicts();
    showProposals();
    showDecisions();
    refreshActions();
}

void MainWindow::showTask(const QString &taskPath)
{
    if (m_controller == nullptr || taskPath == m_shownTask)
        return;
    m_shownTask = taskPath;
    const std::vector<const Event *> events = m_controller->mirror().eventsOfTask(toUtf8(taskPath));
    m_docks->transcript()->clearEvents();
    std::vector<Event> newest;
    for (std::size_t at = events.size() - std::min(events.size(), eventsShown); at < events.size(); ++at)
        newest.push_back(*events[at]);
    m_docks->transcript()->appendEvents(newest);
    m_docks->results()->setEvents(events);
    m_docks->plan()->clearPlan();
    m_docks->problems()->setDiagnostics({});
    m_docks->showProblemCount(0);
    for (const Event *event : events) {
        if (event->type == "plan_written")
            m_docks->plan()->setItems(memberOr(event->data, "items"));
        else if (event->type == "plan_item_changed")
            m_docks->plan()->changeItem(stringOr(event->data, "id"), stringOr(event->data, "state"),
                                        stringOr(event->data, "note"));
    }
    showStartPage();
    refreshActions();
}

void MainWindow::showTaskVerdicts()
{
    if (m_controller->isCatchingUp())
        return; // what the tasks are now comes with the last part
    for (const auto &[taskPath, verdict] : m_controller->mirror().taskVerdicts()) {
        const Json &report = *verdict.report;
        const std::string word = Report::verdictClass(report);
        const QString speedup = Report::speedupText(report, "compile");
        TaskBadge badge{StatusMark::ofVerdict(word), StatusMark::verdictName(word)};
        if (verdict.isOutdated)
            badge = {Status::NotRun, tr("%1, for another version of the task").arg(badge.text)};
        else if (!speedup.isEmpty())
            badge.text = tr("%1, %2").arg(badge.text, speedup);
        m_docks->tasks()->setBadge(toText(taskPath), badge);
    }
}

void MainWindow::showProposals()
{
    const EventMirror &mirror = m_controller->mirror();
    m_docks->proposals()->setProposals(mirror.proposals(), mirror.proposalVerdicts());
    for (int tab = 0; tab < m_documents->count(); ++tab) {
        if (auto *document = qobject_cast<ProposalDocument *>(m_documents->widget(tab)); document != nullptr)
            refreshProposal(document);
    }
}

void MainWindow::showStartPage()
{
    if (m_controller == nullptr)
        return;
    const bool isEmpty = m_hasScanned && m_documents->count() == 0;
    m_centre->setCurrentWidget(isEmpty ? static_cast<QWidget *>(m_start) : m_documents);
    m_start->setState(m_docks->tasks()->taskCount(), currentTask(), m_controller->isTrusted());
}

void MainWindow::showDecisions()
{
    const EventMirror &mirror = m_controller->mirror();
    std::vector<DecisionItem> items;
    for (const DecisionRow &row : mirror.decisions()) {
        DecisionItem item;
        item.event = row.event;
        item.decision = toText(row.decision);
        item.reason = toText(row.reason);
        item.revision = toText(row.revision);
        item.isUndone = row.undoneBy != 0;
        std::string task;
        if (const auto proposal = mirror.proposal(row.proposal)) {
            task = proposal->taskPath;
            item.subject = toText(proposal->summary);
        }
        if (const Event *event = mirror.event(row.event); event != nullptr) {
            item.time = EventText::timeOfDay(*event);
            item.comment = toText(stringOr(event->data, "comment"));
            item.isOwnEdits = boolOr(event->data, "own_edits", false);
            const std::size_t hunks = memberOr(event->data, "hunks").size();
            if (hunks > 0)
                item.subject = tr("%1 (hunks: %2)").arg(item.subject).arg(hunks);
            if (task.empty()) {
                task = stringOr(event->data, "task_path");
                item.subject = tr("revision %1").arg(item.revision.left(8));
            }
        }
        item.taskPath = toText(task);
        item.isHead = !row.revision.empty() && !item.isUndone && row.revision == mirror.headRevision(task);
        items.push_back(std::move(item));
    }
    m_docks->decisions()->setDecisions(std::move(items));
}

void MainWindow::refreshProposal(ProposalDocument *document)
{
    const auto row = m_controller->mirror().proposal(toUtf8(document->objectName()));
    if (!row || document->proposal().id.isEmpty())
        return;
    ProposalInfo info = document->proposal();
    info.session = toText(row->session);
    info.taskPath = toText(row->taskPath);
    info.candidate = toText(row->candidate);
    info.policy = toText(row->policy);
    info.summary = toText(row->summary);
    info.state = toText(row->state);
    const ShownVerdict verdict = m_controller->mirror().verdict(row->candidate, row->taskPath);
    info.report = verdict.report != nullptr ? *verdict.report : Json();
    info.isOutdated = verdict.isOutdated;
    document->setProposal(info);
    const int tab = m_documents->indexOf(document);
    m_documents->setTabText(tab, tr("Proposal: %1").arg(info.taskPath.section(u'/', -1)));
    m_documents->setTabToolTip(tab, document->heading());
}

} // namespace heddle
