// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diff/TreeMerge.h"
#include "core/workbench/HeadFiles.h"
#include "core/workbench/TaskText.h"
#include "core/workbench/Workbench.h"
#include "core/workbench/WorkerConnection.h"

#include <map>

namespace heddle {

/// A session that this workbench works on.
struct OpenSession {
    std::string id;
    std::filesystem::path file; ///< the task file
    std::string taskPath;       ///< relative to the workspace, '/' between parts
    std::string policy;
    std::string source; ///< the task's text
    std::string taskDigest;
    Json siblings = Json::object();
    Json info; ///< the worker's answer to task.open; null before
    Json findings = Json::array();
    std::unique_ptr<Lease> lease;

    void take(TaskText text, const std::string &mode);
};

/// The Workbench over a store and a worker. See Workbench.h for the contract.
class LocalWorkbench final : public Workbench {
public:
    LocalWorkbench(Environment environment, std::unique_ptr<Store> store,
                   std::unique_ptr<WorkerConnection> worker);

    Store &store() override { return *m_store; }
    Result<Json> doctor(const CancelToken &cancel, const ProgressSink &progress) override;
    Result<Json> noise(const CancelToken &cancel, const ProgressSink &progress) override;
    Result<std::string> startSession(const std::filesystem::path &task, const std::string &policy,
                                     const std::optional<std::string> &source) override;
    Result<void> endSession(const std::string &session, const std::string &reason,
                            const std::string &message) override;
    Result<Json> lint(const std::string &session, const CancelToken &cancel,
                      const ProgressSink &progress) override;
    Result<Json> baseline(const std::string &session, const CancelToken &cancel,
                          const ProgressSink &progress) override;
    Result<Json> judge(const std::string &session, const FileTree &files, const JudgeOptions &options,
                       const CancelToken &cancel, const ProgressSink &progress) override;
    Result<Json> optimize(const std::string &session, const OptimizeOptions &options,
                          const CancelToken &cancel, const ProgressSink &progress) override;
    Result<std::string> propose(const std::string &session, const std::string &candidate,
                                const std::string &item, const std::string &summary) override;
    std::filesystem::path headFolder(const std::string &taskPath) const override;
    Result<Json> accept(const std::string &proposal, const Selection &selection, const std::string &actor,
                        const FileTree &openBuffers) override;
    Result<Json> reject(const std::string &proposal, const std::string &reason, const std::string &comment,
                        const std::string &actor, const Selection &selection) override;
    Result<Json> undo(std::int64_t decision, const std::string &actor, const FileTree &openBuffers) override;
    Result<void> comment(const std::string &proposal, const std::string &file, int line, int hunk,
                         const std::string &text, const std::string &actor) override;
    Result<Json> restore(const std::string &task, const std::string &revision, const std::string &actor,
                         const FileTree &openBuffers) override;
    Result<Json> previewExport(const std::string &session, const std::string &candidate,
                               const std::string &as, const CancelToken &cancel,
                               const ProgressSink &progress) override;
    Result<Json> writeExport(const std::string &session, const std::string &candidate, const Json &preview,
                             const std::filesystem::path &folder) override;
    Result<Json> exportCandidate(const std::string &session, const std::string &candidate,
                                 const std::string &as, const std::filesystem::path &folder,
                                 const CancelToken &cancel, const ProgressSink &progress) override;

    // The rest is for the policy's tools (PolicyTools.h).

    /// The open session; one of another process is adopted if nobody works on it. Errors: NotFound, Conflict.
    Result<OpenSession *> session(const std::string &id);
    /// Opens the task in the worker if needed, and makes one request with its handle.
    Result<Json> callTask(OpenSession &session, const std::string &method, Json params,
                          const CancelToken &cancel, const ProgressSink &progress);
    /// Puts the files into the store and appends candidate_created unless this session has it. Returns the digest.
    Result<std::string> addCandidate(OpenSession &session, const FileTree &files, const std::string &parent,
                                     const std::string &planItem);
    /// judge(), with the event that holds the report: {"report", "event"}.
    Result<Json> judgeCandidate(OpenSession &session, const FileTree &files, const JudgeOptions &options,
                                const CancelToken &cancel, const ProgressSink &progress);
    /// baseline() with the event: {"result", "event"}.
    Result<Json> measureBaseline(OpenSession &session, const CancelToken &cancel,
                                 const ProgressSink &progress);

private:
    Result<void> openTask(OpenSession &session, const CancelToken &cancel, const ProgressSink &progress);
    Result<FileTree> treeOrEmpty(const std::string &digest);
    /// Records what the person typed since the head as a revision of its own, so that an undo gives it back. Returns the
    /// head's digest after that, or empty.
    Result<std::string> keepOwnEdits(const std::string &taskPath, const std::string &session,
                                     const FileTree &present, const std::string &actor);

    /// The three-way merge that accepting this selection would write.
    Result<TreeMerge> mergeSelection(const ProposalRow &proposal, const Selection &selection,
                                     const FileTree &present);
    /// Lands the decision: keeps `own`, the person's text until now, as a revision and writes the merged tree over `files`.
    Result<Json> land(const ProposalRow &proposal, std::int64_t decision, const HeadFiles &files,
                      const FileTree &own, const FileTree &tree, const std::string &actor);
    // These run under a ReviewLock.
    /// Lands a decision whose process was stopped before it could, or that a save came in between of.
    Result<Json> finishLanding(const ProposalRow &proposal, const DecisionRow &decision,
                               const std::string &actor, const FileTree &openBuffers);

    Environment m_environment;
    std::unique_ptr<Store> m_store;
    std::unique_ptr<WorkerConnection> m_worker;
    std::map<std::string, OpenSession> m_sessions;
};

/// Names the stage that begins, for whoever waits.
void tellStage(const ProgressSink &progress, const char *phase);
/// {"name", "path", "digest"} of the session's task.
Json taskJson(const OpenSession &session);

} // namespace heddle
