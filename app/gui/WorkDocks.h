// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QObject>

class QDockWidget;
class QMainWindow;
class QTabWidget;

namespace heddle {

class DecisionList;
class LogView;
class PlanView;
class ProblemsView;
class ProposalList;
class ResultsView;
class TaskTree;
class TranscriptView;

/// The docks of the Work layout and the views in them. Owned by the window; GUI thread.
class WorkDocks : public QObject {
    Q_OBJECT

public:
    explicit WorkDocks(QMainWindow *window);

    TaskTree *tasks() const { return m_tasks; }
    ProposalList *proposals() const { return m_proposals; }
    PlanView *plan() const { return m_plan; }
    TranscriptView *transcript() const { return m_transcript; }
    ResultsView *results() const { return m_results; }
    ProblemsView *problems() const { return m_problems; }
    LogView *log() const { return m_log; }
    DecisionList *decisions() const { return m_decisions; }
    const QList<QDockWidget *> &docks() const { return m_docks; }

    void showAll(bool isShown);
    /// The sizes of a first start.
    void arrange();
    void showResults();
    void showProblems();
    /// Shows the dock and gives its view the keyboard.
    void goTo(QDockWidget *dock);
    void showProposalCount(int open);
    void showProblemCount(int errors);

private:
    void nameTabBars();
    QDockWidget *addDock(QMainWindow *window, const QString &id, const QString &title, QWidget *view,
                         int area);

    QMainWindow *m_window;
    TaskTree *m_tasks;
    ProposalList *m_proposals;
    PlanView *m_plan;
    TranscriptView *m_transcript;
    ResultsView *m_results;
    ProblemsView *m_problems;
    LogView *m_log;
    DecisionList *m_decisions;
    QList<QDockWidget *> m_docks;
    QDockWidget *m_taskDock;
    QDockWidget *m_planDock;
    QDockWidget *m_transcriptDock;
    QDockWidget *m_proposalDock;
    QDockWidget *m_resultDock;
    QDockWidget *m_problemDock;
};

} // namespace heddle
