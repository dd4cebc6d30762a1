// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/EventMirror.h"
#include "app/gui/JobBridge.h"
#include "core/workbench/Workbench.h"
#include "widgets/tasks/TaskScan.h"

#include <QObject>
#include <QTimer>

#include <functional>
#include <memory>
#include <vector>

namespace heddle {

/// How the window gets at the core; a test gives one that makes a fake.
using WorkbenchFactory = std::function<Result<std::unique_ptr<Workbench>>(
    const Environment &environment, const std::filesystem::path &workspace, const std::string &target)>;

/// A task with the text that is on screen, if that is not what the disk has.
struct TaskInput {
    std::string path;                  ///< relative to the workspace
    std::optional<std::string> source; ///< unsaved text
};

/// Hunks refused in a review, with the reason that was given for them.
struct RefusedHunks {
    std::string reason, comment;
    Selection hunks;
};

/// Trees that a proposal's diff is made of.
struct ProposalTrees {
    std::string proposal;
    FileTree base;
    FileTree proposed;
};

/// One open workspace: follows its store, runs what the person asks for as jobs, and says what came of it.
/// Never blocks; nothing of the workspace runs before setTrusted(). GUI thread; owned by the window.
class WorkspaceController : public QObject {
    Q_OBJECT

public:
    /// How often the store is looked at.
    static constexpr int followInterval = 100;

    WorkspaceController(JobBridge &jobs, Environment environment, WorkbenchFactory factory,
                        std::filesystem::path workspace, std::string target, QObject *parent);
    ~WorkspaceController() override;

    const std::filesystem::path &workspace() const { return m_workspace; }
    const std::string &target() const { return m_target; }
    std::filesystem::path absolute(const std::string &relative) const { return m_workspace / relative; }
    std::filesystem::path headFolder(const std::string &taskPath) const;
    const EventMirror &mirror() const { return m_mirror; }
    JobBridge &jobs() { return m_jobs; }

    /// More of the history is on its way: views of the whole wait for the last part.
    bool isCatchingUp() const { return m_isCatchingUp; }
    bool isTrusted() const { return m_isTrusted; }
    /// Remembers the trust for this user and tells the store.
    void trust();

    void start();
    void lint(const TaskInput &task);
    void baseline(const TaskInput &task);
    void optimize(const TaskInput &task);
    void judge(const TaskInput &task, const FileTree &files);
    /// Ends as the action "preview", whose report is the preview with "candidate", "task_path" and a free
    /// "folder" for it.
    void previewExport(const TaskInput &task, const std::string &candidate, const std::string &as);
    /// Ends as the action "export", whose report says "folder" and "as", with "candidate" and "task_path".
    void writeExport(const TaskInput &task, const std::string &candidate, const Json &preview,
                     const std::filesystem::path &folder);
    /// `openBuffers`: text on screen by path below the head folder. What was refused is recorded before the rest lands.
    void accept(const std::string &proposal, const Selection &selection,
                const std::vector<RefusedHunks> &refused, const FileTree &openBuffers);
    void reject(const std::string &proposal, const std::string &reason, const std::string &comment,
                const std::vector<RefusedHunks> &refused);
    void undo(std::int64_t decision, const FileTree &openBuffers);
    void restore(const std::string &taskPath, const std::string &revision, const FileTree &openBuffers);
    void comment(const std::string &proposal, const std::string &file, int line, int hunk,
                 const std::string &text);
    void loadProposal(const std::string &proposal);
    void cancelAll();
    /// How long an optimisation may take.
    void setBudget(double seconds) { m_budgetSeconds = seconds; }
    /// What every judgement keeps to; empty: by dtype.
    void setTolerance(std::optional<double> tolerance) { m_tolerance = tolerance; }

signals:
    void newsArrived(const std::vector<heddle::Event> &events);
    void trustChanged();
    void failed(const heddle::Error &error);
    /// A person's action ended well; `report` is what it returned.
    void actionDone(const QString &action, const heddle::Json &report);
    void proposalLoaded(const heddle::ProposalTrees &trees);
    /// Files of the head folder as a decision left them.
    void filesLanded(const QString &folder, const heddle::FileTree &files);

private:
    struct Following;
    using SessionOperation = std::function<Result<Json>(Workbench &, const std::string &session,
                                                        const CancelToken &, const ProgressSink &)>;
    using Operation = std::function<Result<Json>(Workbench &, const CancelToken &, const ProgressSink &)>;

    void poll();
    void runOperation(const QString &action, const QString &name, const Lane &lane, Operation operation);
    void operationDone(const QString &action, Result<Json> result);
    /// A session on the task that lives as long as the operation, ended with how it went.
    void runInSession(const QString &action, const QString &name, const TaskInput &task,
                      const std::string &policy, SessionOperation operation)
    {
        runInSession(action, name, Lane::device(m_target), task, policy, std::move(operation));
    }
    void runInSession(const QString &action, const QString &name, const Lane &lane, const TaskInput &task,
                      const std::string &policy, SessionOperation operation);
    void judgeLanded(const Json &result);

    JobBridge &m_jobs;
    Environment m_environment;
    WorkbenchFactory m_factory;
    std::filesystem::path m_workspace;
    std::string m_target;
    EventMirror m_mirror;
    QTimer m_timer;
    std::shared_ptr<Following> m_following;
    bool m_isPolling = false;
    bool m_isCatchingUp = false;
    bool m_isTrusted = false;
    bool m_hasFollowFailed = false;
    std::string m_landedTask;
    double m_budgetSeconds = OptimizeOptions().budgetSeconds;
    std::optional<double> m_tolerance;
};

} // namespace heddle
