// SPDX-License-Identifier: GPL-3.0-or-later
// The part of MainWindow that knows how the machine stands: the check-up, and its short form in the status bar.
#include "app/gui/DocumentArea.h"
#include "app/gui/MainWindow.h"
#include "app/gui/UserFiles.h"
#include "app/gui/WindowActions.h"
#include "widgets/common/Banner.h"
#include "widgets/common/Text.h"
#include "widgets/welcome/CheckUpView.h"
#include "widgets/welcome/WelcomePage.h"

#include <QLabel>
#include <QPushButton>
#include <QToolButton>

using namespace Qt::StringLiterals;

namespace heddle {

namespace fs = std::filesystem;

void MainWindow::runCheckUp()
{
    const auto setRunning = [this](bool isRunning) {
        m_isChecking = isRunning;
        m_welcome->setCheckUpRunning(isRunning);
        if (CheckUpView *view = m_documents->findCheckUp(); view != nullptr)
            view->setRunning(isRunning);
    };
    setRunning(true);
    showMachine(Status::Running, tr("Machine: checking…"), {});
    m_jobs.run<Result<Json>>(
        Lane::device(target()), JobKind::Shown, tr("Check-up"), this,
        [setup = m_setup, target = target()](const CancelToken &cancel,
                                             const ProgressSink &progress) -> Result<Json> {
            // A check-up belongs to no workspace, so it has a folder of its own.
            const fs::path folder = stateFolder() / "check-up";
            HEDDLE_CHECK_OK(makeFolder(folder));
            HEDDLE_TRY(const auto workbench, setup.factory(setup.environment, folder, target));
            return workbench->doctor(cancel, progress);
        },
        [this, setRunning](Result<Json> result) {
            setRunning(false);
            if (result) {
                showCheckUp(memberOr(*result, "rows"));
                return;
            }
            showMachine(Status::Warning, tr("Machine: the check-up failed"),
                        toText(result.error().message()));
            showError(result.error());
        });
}

void MainWindow::showCheckUp(const Json &rows)
{
    m_checkUp = rows.is_array() ? rows : Json::array();
    m_welcome->setCheckUp(m_checkUp);
    if (CheckUpView *view = m_documents->findCheckUp(); view != nullptr)
        view->setCheckUp(m_checkUp);
    QStringList missing;
    QString sandbox;
    for (const Json &row : m_checkUp) {
        if (!boolOr(row, "ok", false))
            missing << toText(stringOr(row, "id"));
        else if (stringOr(row, "id") == "sandbox")
            sandbox = toText(stringOr(row, "found"));
    }
    // "bubblewrap, Landlock version 3; …": the rung comes first, the rest is for the tool tip.
    m_sandbox->setVisible(!sandbox.isEmpty());
    m_sandbox->setText(tr("Sandbox: %1").arg(sandbox.section(u',', 0, 0)));
    m_sandbox->setToolTip(sandbox);
    if (missing.isEmpty()) {
        showMachine(Status::Passed, tr("Machine: ready"), tr("Everything that Heddle needs is here."));
        return;
    }
    const QString names = missing.join(u", "_s);
    showMachine(Status::Warning, tr("Machine: missing %1").arg(names), tr("Press for how to get each."));
    // The status bar says it in any case.
    if (m_controller == nullptr || m_messageBanner->isShowingError())
        return;
    m_messageBanner->clearButtons();
    m_messageBanner->showMessage(BannerKind::Warning,
                                 tr("This machine lacks something that Heddle needs: %1.").arg(names),
                                 tr("The check-up says how to get each. Until then you can read and edit."));
    connect(m_messageBanner->addButton(tr("Open the check-up")), &QPushButton::clicked, m_actions->checkUp,
            &QAction::trigger);
}

void MainWindow::showMachine(Status status, const QString &text, const QString &tip)
{
    m_machine->setIcon(StatusMark::icon(status));
    m_machine->setText(text);
    m_machine->setAccessibleName(text);
    m_machine->setToolTip(tip);
    if (status == Status::Info)
        m_sandbox->hide();
}

void MainWindow::connectCheckUp(CheckUpView *view)
{
    view->setCheckUp(m_checkUp);
    view->setRunning(m_isChecking);
    connect(view, &CheckUpView::checkUpRequested, this, &MainWindow::runCheckUp);
}

} // namespace heddle
