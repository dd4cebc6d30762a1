// SPDX-License-Identifier: GPL-3.0-or-later
// The part of MainWindow that turns a person's wishes into operations, and shows what came of them.
#include "app/gui/DocumentArea.h"
#include "app/gui/MainWindow.h"
#include "app/gui/WindowActions.h"
#include "app/gui/WorkDocks.h"
#include "widgets/common/Banner.h"
#include "widgets/common/Report.h"
#include "widgets/common/Status.h"
#include "widgets/common/Text.h"
#include "widgets/editor/EditorDocument.h"
#include "widgets/evidence/EvidenceView.h"
#include "widgets/results/ProblemsView.h"
#include "widgets/review/DiffModel.h"
#include "widgets/review/ExportPreview.h"
#include "widgets/review/ProposalDocument.h"
#include "widgets/tasks/TaskTree.h"

#include <QDesktopServices>
#include <QFileDialog>
#include <QLabel>
#include <QUrl>

using namespace Qt::StringLiterals;

namespace heddle {

namespace fs = std::filesystem;

namespace {

Selection selectionOf(const HunkList &hunks)
{
    Selection selection;
    for (const auto &[file, index] : hunks)
        selection.hunks.emplace_back(toUtf8(file), index);
    return selection;
}

std::vector<RefusedHunks> refusedOf(const std::vector<Rejection> &rejections)
{
    std::vector<RefusedHunks> refused;
    for (const Rejection &one : rejections)
        refused.push_back({toUtf8(one.reason), toUtf8(one.comment), selectionOf(one.hunks)});
    return refused;
}

} // namespace

QString MainWindow::currentTask() const
{
    if (m_controller == nullptr)
        return {};
    if (const ProposalDocument *proposal = m_documents->currentProposal();
        proposal != nullptr && !proposal->proposal().taskPath.isEmpty())
        return proposal->proposal().taskPath;
    return m_docks->tasks()->currentTask();
}

TaskInput MainWindow::taskInput(const QString &taskPath) const
{
    TaskInput input{toUtf8(taskPath), std::nullopt};
    const OpenTexts unsaved = m_documents->unsavedTexts();
    const auto found = unsaved.find(m_controller->absolute(input.path).string());
    if (found != unsaved.end())
        input.source = found->second;
    return input;
}

FileTree MainWindow::headBuffers(const std::string &taskPath) const
{
    FileTree buffers;
    const fs::path folder = m_controller->headFolder(taskPath);
    // What is not edited may be older than the disk, where another window or the command line has landed something.
    for (const auto &[path, text] : m_documents->unsavedTexts()) {
        const fs::path relative = fs::path(path).lexically_relative(folder);
        if (!relative.empty() && *relative.begin() != ".." && *relative.begin() != ".")
            buffers[relative.generic_string()] = text;
    }
    return buffers;
}

void MainWindow::refreshActions()
{
    const WindowActions &a = *m_actions;
    const bool hasTask = m_controller != nullptr && !currentTask().isEmpty();
    const bool canRun = hasTask && m_controller->isTrusted();
    for (QAction *action : a.runActions())
        action->setEnabled(canRun);
    a.exportCode->setEnabled(canRun && !m_controller->mirror().bestCandidate(toUtf8(currentTask())).empty());
    a.cancel->setEnabled(m_jobs.hasShownJobs());
    const bool isEditor = m_documents->currentEditor() != nullptr;
    for (QAction *action : a.editActions())
        action->setEnabled(isEditor);
    const bool isProposal = m_documents->currentProposal() != nullptr;
    for (QAction *action : a.reviewActions())
        action->setEnabled(isProposal);
    a.saveAll->setEnabled(m_controller != nullptr);
    a.closeTab->setEnabled(m_documents->count() > 0);
    a.workMode->setChecked(true);
    a.focusReview->setEnabled(m_controller != nullptr);
    m_place->setVisible(isEditor);
}

void MainWindow::judgeCurrent()
{
    const QString task = currentTask();
    if (const ProposalDocument *proposal = m_documents->currentProposal();
        proposal != nullptr && proposal->isEditing()) {
        m_controller->judge(taskInput(task), proposal->editedFiles());
        return;
    }
    const EditorDocument *editor = m_documents->currentEditor();
    const fs::path file = editor != nullptr ? toPath(editor->path()) : m_controller->absolute(toUtf8(task));
    using Input = Result<JudgeInput>;
    m_jobs.run<Input>(
        Lane::io(), JobKind::Quiet, {}, this,
        [workspace = m_controller->workspace(), file, selected = toUtf8(task),
         texts = m_documents->openTexts()](const CancelToken &, const ProgressSink &) {
            return judgeInput(workspace, file, selected, texts);
        },
        [this](Input input) {
            if (input)
                m_controller->judge(taskInput(toText(input->taskPath)), input->files);
            else
                showError(input.error());
        });
}

void MainWindow::exportCurrent()
{
    const QString task = currentTask();
    m_controller->previewExport(taskInput(task), m_controller->mirror().bestCandidate(toUtf8(task)),
                                "modelnew");
}

void MainWindow::showExport(const Json &preview)
{
    const QString task = toText(stringOr(preview, "task_path"));
    ExportPreview *document = m_documents->openExport(task);
    // The other format of the same candidate goes where the person said already, unless that folder is full now.
    const QString candidate = toText(stringOr(preview, "candidate"));
    const bool isSame =
        document->info().candidate == candidate && !document->folder().isEmpty() && !document->hasWritten();
    document->setPreview(
        {task, candidate, isSame ? document->folder() : toText(stringOr(preview, "folder")), preview});
}

void MainWindow::connectExport(ExportPreview *preview)
{
    connect(preview, &ExportPreview::formatRequested, this, [this, preview](const QString &as) {
        const ExportInfo &info = preview->info();
        m_controller->previewExport(taskInput(info.taskPath), toUtf8(info.candidate), toUtf8(as));
    });
    connect(preview, &ExportPreview::writeRequested, this, [this, preview](const QString &folder) {
        const ExportInfo &info = preview->info();
        m_controller->writeExport(taskInput(info.taskPath), toUtf8(info.candidate), info.preview,
                                  m_controller->workspace() / toPath(folder));
    });
    connect(preview, &ExportPreview::openFolderRequested, this, [this](const QString &folder) {
        if (!QDesktopServices::openUrl(QUrl::fromLocalFile(folder)))
            showError(Error(Code::NotFound, "this desktop has no program that opens folders", toUtf8(folder),
                            "open it by hand"));
    });
    connect(preview, &ExportPreview::chooseFolderRequested, this, [this, preview] {
        auto *dialog = new QFileDialog(this, tr("Export into a new or empty folder"),
                                       pathText(m_controller->workspace()));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::Directory);
        dialog->setOption(QFileDialog::ShowDirsOnly);
        dialog->setLabelText(QFileDialog::Accept, tr("Choose"));
        connect(dialog, &QFileDialog::fileSelected, preview, &ExportPreview::setFolder);
        dialog->open();
    });
}

void MainWindow::connectProposal(ProposalDocument *document)
{
    connect(
        document, &ProposalDocument::acceptRequested, this,
        [this, document](const QString &id, const HunkList &hunks, const std::vector<Rejection> &rejections) {
            document->setBusy(true);
            m_controller->accept(toUtf8(id), selectionOf(hunks), refusedOf(rejections),
                                 headBuffers(toUtf8(document->proposal().taskPath)));
        });
    connect(document, &ProposalDocument::rejectRequested, this,
            [this, document](const QString &id, const QString &reason, const QString &comment,
                             const std::vector<Rejection> &rejections) {
                document->setBusy(true);
                m_controller->reject(toUtf8(id), toUtf8(reason), toUtf8(comment), refusedOf(rejections));
            });
    connect(document, &ProposalDocument::undoRequested, this, [this, document](const QString &id) {
        const auto decision = m_controller->mirror().lastDecision(toUtf8(id));
        if (!decision) {
            showError(Error(Code::NotFound, "there is no decision on this proposal to undo"));
            return;
        }
        document->setBusy(true);
        m_controller->undo(decision->event, headBuffers(toUtf8(document->proposal().taskPath)));
    });
    connect(document, &ProposalDocument::commentRequested, this,
            [this](const QString &id, const QString &file, int line, int hunk, const QString &text) {
                m_controller->comment(toUtf8(id), toUtf8(file), line, hunk, toUtf8(text));
            });
    connect(document, &ProposalDocument::judgeRequested, this,
            [this, document](const QString &, const FileTree &files) {
                m_controller->judge(taskInput(document->proposal().taskPath), files);
            });
    connect(document, &ProposalDocument::evidenceRequested, this, [this, document](const QString &candidate) {
        showMeasurement(
            m_controller->mirror().verdictEvent(toUtf8(candidate), toUtf8(document->proposal().taskPath)));
    });
    // Whatever becomes of the decision, its end makes the buttons live again.
    connect(&m_jobs, &JobBridge::jobEnded, document, [document] { document->setBusy(false); });
}

void MainWindow::showMeasurement(std::int64_t id)
{
    const Event *event = m_controller->mirror().event(id);
    if (event == nullptr)
        return;
    const QString number = QString::number(id);
    if (event->type == "judged") {
        const QString candidate = toText(std::string_view(stringOr(event->data, "candidate")).substr(0, 8));
        const bool isConfirmed = stringOr(event->data, "stage") == "confirmed";
        const QString heading =
            isConfirmed ? tr("Candidate %1, confirmed, event %2") : tr("Candidate %1, quick, event %2");
        m_documents->openReport(u"event "_s + number, tr("Evidence %1").arg(candidate),
                                heading.arg(candidate, number), memberOr(event->data, "report"));
    } else if (event->type == "baseline_measured") {
        m_documents->openReport(u"event "_s + number, tr("Baseline"), tr("Measured by event %1").arg(number),
                                event->data);
    } else if (event->type == "linted") {
        m_documents->openReport(u"event "_s + number, tr("Lint"), tr("Found by event %1").arg(number),
                                event->data);
    } else {
        m_messageBanner->clearButtons();
        m_messageBanner->showMessage(BannerKind::Info, tr("Event %1: %2").arg(number, toText(event->type)),
                                     tr("The details hold what was written down."),
                                     toText(prettyText(event->data)));
    }
}

void MainWindow::actionDone(const QString &action, const Json &report)
{
    m_messageBanner->clearButtons();
    m_messageBanner->hide();
    if (action == u"baseline" || action == u"lint") {
        m_documents->openReport(action, action == u"lint" ? tr("Lint") : tr("Baseline"), currentTask(),
                                report);
        m_docks->showResults();
    } else if (action == u"judge") {
        const std::string verdict = Report::verdictClass(report);
        if (verdict == "did_not_build") {
            m_docks->showProblems();
            m_messageBanner->showMessage(BannerKind::Warning, tr("The candidate did not build."),
                                         tr("The Problems list has the lines."));
            return;
        }
        m_documents->openReport(u"judge"_s, tr("Verdict"), currentTask(), report);
        m_docks->showResults();
    } else if (action == u"preview") {
        showExport(report);
    } else if (action == u"export") {
        if (ExportPreview *preview = m_documents->findExport(toText(stringOr(report, "task_path")));
            preview != nullptr)
            preview->setWritten(toText(stringOr(report, "candidate")), toText(stringOr(report, "as")),
                                toText(stringOr(report, "folder")));
        m_messageBanner->showMessage(BannerKind::Success,
                                     tr("Exported to %1").arg(toText(stringOr(report, "folder"))),
                                     stringOr(report, "as") == "modelnew" ? tr("It runs with PyTorch alone.")
                                                                          : tr("Sources and launch plan."));
    } else if (action == u"optimise") {
        m_docks->showResults();
        if (memberOr(report, "candidate").is_null())
            m_messageBanner->showMessage(BannerKind::Info, tr("The optimiser made no proposal."),
                                         toText(stringOr(report, "reason")));
    }
}

} // namespace heddle
