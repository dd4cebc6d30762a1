// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/WorkDocks.h"

#include "widgets/chat/TranscriptView.h"
#include "widgets/plan/PlanView.h"
#include "widgets/results/LogView.h"
#include "widgets/results/ProblemsView.h"
#include "widgets/results/ResultsView.h"
#include "widgets/tasks/DecisionList.h"
#include "widgets/tasks/ProposalList.h"
#include "widgets/tasks/TaskTree.h"

#include <QDockWidget>
#include <QMainWindow>
#include <QTabBar>

using namespace Qt::StringLiterals;

namespace heddle {

WorkDocks::WorkDocks(QMainWindow *window)
    : QObject(window),
      m_window(window),
      m_tasks(new TaskTree(window)),
      m_proposals(new ProposalList(window)),
      m_plan(new PlanView(window)),
      m_transcript(new TranscriptView(window)),
      m_results(new ResultsView(window)),
      m_problems(new ProblemsView(window)),
      m_log(new LogView(window)),
      m_decisions(new DecisionList(window))
{
    window->setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks
                           | QMainWindow::AllowTabbedDocks);
    window->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    // The columns at the sides take the full height; results lie between them.
    window->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    window->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    m_taskDock = addDock(window, u"dock.tasks"_s, tr("Tasks"), m_tasks, Qt::LeftDockWidgetArea);
    m_proposalDock =
        addDock(window, u"dock.proposals"_s, tr("Proposals"), m_proposals, Qt::LeftDockWidgetArea);
    m_planDock = addDock(window, u"dock.plan"_s, tr("Plan"), m_plan, Qt::RightDockWidgetArea);
    m_transcriptDock =
        addDock(window, u"dock.transcript"_s, tr("Transcript"), m_transcript, Qt::RightDockWidgetArea);
    m_resultDock = addDock(window, u"dock.results"_s, tr("Results"), m_results, Qt::BottomDockWidgetArea);
    m_problemDock = addDock(window, u"dock.problems"_s, tr("Problems"), m_problems, Qt::BottomDockWidgetArea);
    QDockWidget *decisions =
        addDock(window, u"dock.decisions"_s, tr("Decisions"), m_decisions, Qt::BottomDockWidgetArea);
    QDockWidget *log = addDock(window, u"dock.log"_s, tr("Log"), m_log, Qt::BottomDockWidgetArea);
    window->tabifyDockWidget(m_resultDock, m_problemDock);
    window->tabifyDockWidget(m_problemDock, decisions);
    window->tabifyDockWidget(decisions, log);
    m_resultDock->raise();
    // Their tabs name them; a title bar would say it twice. A tab can be dragged out all the same.
    for (QDockWidget *dock : {m_resultDock, m_problemDock, decisions, log})
        dock->setTitleBarWidget(new QWidget(dock));
    nameTabBars();
}

void WorkDocks::arrange()
{
    const int unit = m_window->fontMetrics().height();
    m_window->resizeDocks({m_taskDock, m_transcriptDock}, {unit * 16, unit * 22}, Qt::Horizontal);
    m_window->resizeDocks({m_resultDock}, {unit * 14}, Qt::Vertical);
    m_window->resizeDocks({m_taskDock, m_proposalDock}, {unit * 20, unit * 20}, Qt::Vertical);
    m_window->resizeDocks({m_planDock, m_transcriptDock}, {unit * 15, unit * 29}, Qt::Vertical);
}

QDockWidget *WorkDocks::addDock(QMainWindow *window, const QString &id, const QString &title, QWidget *view,
                                int area)
{
    auto *dock = new QDockWidget(title, window);
    dock->setObjectName(id);
    dock->setAccessibleName(title);
    dock->setWidget(view);
    window->addDockWidget(static_cast<Qt::DockWidgetArea>(area), dock);
    m_docks << dock;
    return dock;
}

void WorkDocks::showAll(bool isShown)
{
    for (QDockWidget *dock : std::as_const(m_docks))
        dock->setVisible(isShown);
    nameTabBars();
    if (isShown)
        m_resultDock->raise();
}

void WorkDocks::nameTabBars()
{
    // The main window makes these bars by itself when docks share a place.
    for (QTabBar *bar : m_window->findChildren<QTabBar *>(QString(), Qt::FindDirectChildrenOnly))
        bar->setAccessibleName(tr("Docks"));
}

void WorkDocks::showResults()
{
    m_resultDock->show();
    m_resultDock->raise();
}

void WorkDocks::showProblems()
{
    m_problemDock->show();
    m_problemDock->raise();
}

void WorkDocks::goTo(QDockWidget *dock)
{
    dock->show();
    dock->raise();
    QWidget *view = dock->widget();
    // A list in a frame takes the keyboard where the frame does not.
    if (view->focusPolicy() == Qt::NoFocus) {
        for (QWidget *child : view->findChildren<QWidget *>()) {
            if (child->isVisible() && child->focusPolicy() != Qt::NoFocus) {
                view = child;
                break;
            }
        }
    }
    view->setFocus(Qt::ShortcutFocusReason);
}

void WorkDocks::showProposalCount(int open)
{
    m_proposalDock->setWindowTitle(open > 0 ? tr("Proposals (%1)").arg(open) : tr("Proposals"));
}

void WorkDocks::showProblemCount(int errors)
{
    m_problemDock->setWindowTitle(errors > 0 ? tr("Problems (%1)").arg(errors) : tr("Problems"));
}

} // namespace heddle
