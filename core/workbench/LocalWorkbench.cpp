// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/LocalWorkbench.h"

#include "core/base/Digest.h"
#include "core/base/Places.h"
#include "core/plan/CandidateFormat.h"
#include "core/workbench/Comparison.h"

namespace heddle {

namespace fs = std::filesystem;

Result<std::unique_ptr<Workbench>> Workbench::create(const Environment &environment,
                                                     const fs::path &workspace, const std::string &target)
{
    HEDDLE_TRY(std::unique_ptr<WorkerConnection> worker, WorkerConnection::create(environment, target));
    HEDDLE_TRY(std::unique_ptr<Store> store, Store::open(workspace));
    return std::unique_ptr<Workbench>(
        std::make_unique<LocalWorkbench>(environment, std::move(store), std::move(worker)));
}

void OpenSession::take(TaskText text, const std::string &mode)
{
    taskDigest = text.digest(mode);
    file = std::move(text.file);
    taskPath = std::move(text.path);
    source = std::move(text.source);
    siblings = std::move(text.siblings);
}

void tellStage(const ProgressSink &progress, const char *phase)
{
    if (progress)
        progress({phase, -1.0, {}});
}

Json taskJson(const OpenSession &session)
{
    return {
        {"name", session.file.stem().string()}, {"path", session.taskPath}, {"digest", session.taskDigest}};
}

LocalWorkbench::LocalWorkbench(Environment environment, std::unique_ptr<Store> store,
                               std::unique_ptr<WorkerConnection> worker)
    : m_environment(std::move(environment)), m_store(std::move(store)), m_worker(std::move(worker))
{
}

Result<Json> LocalWorkbench::noise(const CancelToken &cancel, const ProgressSink &progress)
{
    return m_worker->call("noise", Json::object(), cancel, progress);
}

Result<std::string> LocalWorkbench::startSession(const fs::path &task, const std::string &policy,
                                                 const std::optional<std::string> &source)
{
    HEDDLE_TRY(TaskText text, readTask(m_store->workspace(), task, source));
    OpenSession session;
    session.take(std::move(text), m_environment.mode);
    session.policy = policy;
    session.id = "s-" + randomHex(6);
    HEDDLE_CHECK_OK(
        m_store->append(session.id, policy, "session_started",
                        {{"task", taskJson(session)}, {"target", m_worker->target()}, {"policy", policy}}));
    HEDDLE_TRY(session.lease, m_store->takeLease(session.id));
    const std::string id = session.id;
    m_sessions.emplace(id, std::move(session));
    return id;
}

Result<void> LocalWorkbench::endSession(const std::string &id, const std::string &reason,
                                        const std::string &message)
{
    HEDDLE_TRY(OpenSession * open, session(id));
    HEDDLE_CHECK_OK(
        m_store->append(id, open->policy, "session_ended", {{"reason", reason}, {"message", message}}));
    m_sessions.erase(id);
    return {};
}

Result<OpenSession *> LocalWorkbench::session(const std::string &id)
{
    if (const auto found = m_sessions.find(id); found != m_sessions.end())
        return &found->second;
    HEDDLE_TRY(const std::optional<SessionRow> row, m_store->session(id));
    if (!row)
        return Error(Code::NotFound, "there is no such session in this workspace", id,
                     "see " + commandLineName() + " sessions list");
    HEDDLE_TRY(TaskText text,
               readTask(m_store->workspace(), taskFileOf(m_store->workspace(), row->taskPath)));
    OpenSession session;
    session.take(std::move(text), m_environment.mode);
    session.id = id;
    session.taskPath = row->taskPath;
    session.policy = row->policy;
    HEDDLE_TRY(session.lease, m_store->takeLease(id));
    return &m_sessions.emplace(id, std::move(session)).first->second;
}

Result<void> LocalWorkbench::openTask(OpenSession &session, const CancelToken &cancel,
                                      const ProgressSink &progress)
{
    tellStage(progress, "opening the task");
    HEDDLE_TRY(session.info,
               m_worker->call("task.open",
                              {{"path", session.file.filename().string()},
                               {"source", session.source},
                               {"siblings", session.siblings},
                               {"mode", m_environment.mode},
                               {"seed", m_environment.seed}},
                              cancel, progress));
    return {};
}

Result<Json> LocalWorkbench::callTask(OpenSession &session, const std::string &method, Json params,
                                      const CancelToken &cancel, const ProgressSink &progress)
{
    if (session.info.is_null())
        HEDDLE_CHECK_OK(openTask(session, cancel, progress));
    params["handle"] = memberOr(session.info, "handle");
    auto result = m_worker->call(method, params, cancel, progress);
    if (result || (result.error().code() != Code::NotFound && result.error().code() != Code::Crashed))
        return result;
    // The worker was restarted or has closed the task meanwhile: once more from the start.
    HEDDLE_CHECK_OK(openTask(session, cancel, progress));
    params["handle"] = memberOr(session.info, "handle");
    return m_worker->call(method, params, cancel, progress);
}

Result<Json> LocalWorkbench::lint(const std::string &id, const CancelToken &cancel,
                                  const ProgressSink &progress)
{
    HEDDLE_TRY(OpenSession * open, session(id));
    if (open->info.is_null())
        HEDDLE_CHECK_OK(openTask(*open, cancel, progress));
    tellStage(progress, "looking for defects of the task");
    HEDDLE_TRY(Json lint, callTask(*open, "task.lint", Json::object(), cancel, progress));
    open->findings = memberOr(lint, "findings");
    HEDDLE_CHECK_OK(
        m_store->append(id, "system", "linted",
                        {{"findings", open->findings}, {"properties", memberOr(lint, "properties")}}));
    return lint;
}

Result<Json> LocalWorkbench::measureBaseline(OpenSession &session, const CancelToken &cancel,
                                             const ProgressSink &progress)
{
    HEDDLE_TRY(Json measured, callTask(session, "task.baseline", {{"strongest", true}}, cancel, progress));
    measured["environment"]["heddle"] = HEDDLE_VERSION;
    HEDDLE_TRY(const Event event, m_store->append(session.id, "system", "baseline_measured", measured));
    return Json{{"result", std::move(measured)}, {"event", event.id}};
}

Result<Json> LocalWorkbench::baseline(const std::string &id, const CancelToken &cancel,
                                      const ProgressSink &progress)
{
    HEDDLE_TRY(OpenSession * open, session(id));
    HEDDLE_TRY(Json measured, measureBaseline(*open, cancel, progress));
    return std::move(measured["result"]);
}

Result<std::string> LocalWorkbench::addCandidate(OpenSession &session, const FileTree &files,
                                                 const std::string &parent, const std::string &planItem)
{
    HEDDLE_TRY(const std::string format, candidateFormat(files));
    HEDDLE_TRY(const std::string digest, m_store->putTree(files));
    HEDDLE_TRY(const std::vector<CandidateRow> known, m_store->candidates(session.id));
    for (const CandidateRow &row : known) {
        if (row.digest == digest)
            return digest;
    }
    HEDDLE_CHECK_OK(m_store->append(
        session.id, session.policy, "candidate_created",
        {{"candidate", digest}, {"parent", parent}, {"format", format}, {"plan_item", planItem}}));
    return digest;
}

Result<Json> LocalWorkbench::judgeCandidate(OpenSession &session, const FileTree &files,
                                            const JudgeOptions &options, const CancelToken &cancel,
                                            const ProgressSink &progress)
{
    HEDDLE_TRY(const std::string digest, addCandidate(session, files, {}, {}));
    Json params{{"files", files}, {"stage", options.stage}, {"tunables", options.tunables}};
    if (options.tolerance)
        params["tolerance"] = *options.tolerance;
    HEDDLE_TRY(Json report, callTask(session, "candidate.judge", params, cancel, progress));
    report["task"] = taskJson(session);
    report["target"] = {{"name", m_worker->target()}};
    report["session"] = session.id;
    report["lint"] = session.findings;
    report["environment"] = memberOr(session.info, "environment");
    report["environment"]["heddle"] = HEDDLE_VERSION;
    report["environment"]["sandbox"] = memberOr(session.info, "sandbox");
    report["candidate"]["policy"] = session.policy;
    HEDDLE_TRY(const Event event,
               m_store->append(session.id, "system", "judged",
                               {{"candidate", digest},
                                {"stage", options.stage},
                                {"report", report},
                                {"task_digest", session.taskDigest}}));
    return Json{{"report", std::move(report)}, {"event", event.id}};
}

Result<Json> LocalWorkbench::judge(const std::string &id, const FileTree &files, const JudgeOptions &options,
                                   const CancelToken &cancel, const ProgressSink &progress)
{
    HEDDLE_TRY(OpenSession * open, session(id));
    HEDDLE_TRY(Json judged, judgeCandidate(*open, files, options, cancel, progress));
    Json report = std::move(judged["report"]);
    if (options.against.empty())
        return report;
    const std::string reason = reasonNotTimed(report);
    if (!reason.empty()) {
        // What kept this judgement from being timed would disturb a comparison as well.
        report["against"] = againstJson(options.against, Error(Code::Environment, reason));
        return report;
    }
    HEDDLE_TRY(const FileTree other, m_store->tree(options.against));
    auto compared =
        callTask(*open, "candidate.compare",
                 {{"subject", {{"files", files}}}, {"other", {{"files", other}}}, {"judgements", 1}}, cancel,
                 progress);
    if (!compared && compared.error().code() == Code::Cancelled)
        return std::move(compared).error();
    report["against"] = againstJson(options.against, compared);
    return report;
}

Result<std::string> LocalWorkbench::propose(const std::string &id, const std::string &candidate,
                                            const std::string &item, const std::string &summary)
{
    HEDDLE_TRY(OpenSession * open, session(id));
    HEDDLE_TRY(const std::optional<VerdictRow> verdict, m_store->verdict(candidate, {}, open->taskDigest));
    if (!verdict)
        return Error(Code::InvalidInput, "this candidate was never judged for this text of the task",
                     candidate, "judge it first");
    HEDDLE_TRY(const std::optional<HeadRow> head, m_store->head(open->taskPath));
    const std::string proposal = "p-" + randomHex(6);
    HEDDLE_CHECK_OK(m_store->append(id, open->policy, "proposal_opened",
                                    {{"proposal", proposal},
                                     {"task_path", open->taskPath},
                                     {"candidate", candidate},
                                     {"base", head ? head->digest : std::string()},
                                     {"item", item},
                                     {"summary", summary}}));
    return proposal;
}

Result<FileTree> LocalWorkbench::treeOrEmpty(const std::string &digest)
{
    if (digest.empty())
        return FileTree();
    return m_store->tree(digest);
}

} // namespace heddle
