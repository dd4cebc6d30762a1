// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/WorkspaceController.h"

#include "app/gui/UserFiles.h"
#include "core/session/EventFollower.h"
#include "core/workbench/TaskText.h"
#include "widgets/common/Text.h"

#include <chrono>
#include <deque>
#include <iterator>

using namespace Qt::StringLiterals;

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// A long history comes in parts, so that showing one takes milliseconds.
constexpr std::size_t eventsAtOnce = 50;

/// How often the tasks' files are read again: a verdict counts for one text only.
constexpr std::chrono::seconds taskInterval{1};

/// A folder below the workspace that does not exist yet. Blocking.
fs::path freeFolder(const fs::path &workspace, const std::string &taskPath)
{
    const std::string stem = fs::path(taskPath).stem().string() + "-export";
    fs::path folder = workspace / stem;
    std::error_code code;
    for (int number = 2; fs::exists(folder, code); ++number)
        folder = workspace / (stem + '-' + std::to_string(number));
    return folder;
}

} // namespace

/// The store as the io lane sees it: made, used and dropped on that lane's one thread.
struct WorkspaceController::Following {
    std::unique_ptr<Store> store;
    std::unique_ptr<EventFollower> follower;
    std::deque<Event> waiting;                      ///< read, and not yet handed to the window
    std::string mode;                               ///< how models are judged, a part of their digests
    std::map<std::string, std::string> taskDigests; ///< of each task with a session; empty: it can't be read
    std::chrono::steady_clock::time_point nextLook;

    Result<void> open(const fs::path &workspace)
    {
        if (store != nullptr)
            return {};
        HEDDLE_TRY(store, Store::open(workspace));
        follower = std::make_unique<EventFollower>(*store, 0);
        return {};
    }

    std::string digestOf(const fs::path &workspace, const std::string &taskPath) const
    {
        auto digest = presentTaskDigest(workspace, taskPath, mode);
        return digest ? *std::move(digest) : std::string();
    }

    /// True where a task became another text since the last look.
    bool lookAtTasks(const fs::path &workspace)
    {
        const auto now = std::chrono::steady_clock::now();
        if (now < nextLook)
            return false;
        nextLook = now + taskInterval;
        bool isOther = false;
        for (auto &[taskPath, known] : taskDigests) {
            std::string present = digestOf(workspace, taskPath);
            isOther = isOther || present != known;
            known = std::move(present);
        }
        return isOther;
    }

    /// Empty when nothing is new.
    Result<std::optional<StoreNews>> news(const fs::path &workspace)
    {
        HEDDLE_CHECK_OK(open(workspace));
        if (waiting.empty()) {
            HEDDLE_TRY(std::vector<Event> events, follower->poll());
            std::move(events.begin(), events.end(), std::back_inserter(waiting));
        }
        if (waiting.empty() && !lookAtTasks(workspace))
            return std::optional<StoreNews>();
        StoreNews news;
        while (!waiting.empty() && news.events.size() < eventsAtOnce) {
            news.events.push_back(std::move(waiting.front()));
            waiting.pop_front();
        }
        news.hasMore = !waiting.empty();
        HEDDLE_TRY(news.sessions, store->sessions());
        if (news.hasMore)
            return std::optional<StoreNews>(std::move(news));
        HEDDLE_TRY(news.proposals, store->proposals());
        HEDDLE_TRY(news.decisions, store->decisions());
        if (!news.events.empty()) {
            nextLook = {}; // a verdict may be about the text of this moment
            lookAtTasks(workspace);
        }
        for (const SessionRow &session : news.sessions) {
            if (taskDigests.count(session.taskPath) == 0)
                taskDigests[session.taskPath] = digestOf(workspace, session.taskPath);
        }
        news.taskDigests = taskDigests;
        return std::optional<StoreNews>(std::move(news));
    }

    Result<FileTree> tree(const std::string &digest)
    {
        if (digest.empty())
            return FileTree();
        return store->tree(digest);
    }
};

WorkspaceController::WorkspaceController(JobBridge &jobs, Environment environment, WorkbenchFactory factory,
                                         fs::path workspace, std::string target, QObject *parent)
    : QObject(parent),
      m_jobs(jobs),
      m_environment(std::move(environment)),
      m_factory(std::move(factory)),
      m_workspace(std::move(workspace)),
      m_target(std::move(target)),
      m_following(std::make_shared<Following>()),
      m_isTrusted(userFiles::isTrusted(m_workspace))
{
    m_following->mode = m_environment.mode;
    m_timer.setInterval(followInterval);
    connect(&m_timer, &QTimer::timeout, this, &WorkspaceController::poll);
}

WorkspaceController::~WorkspaceController()
{
    // The lane that opened the store also closes it.
    m_jobs.run<int>(
        Lane::io(), JobKind::Quiet, {}, nullptr,
        [following = std::move(m_following)](const CancelToken &, const ProgressSink &) {
            following->follower.reset();
            following->store.reset();
            return 0;
        },
        [](int) {});
}

void WorkspaceController::start()
{
    m_timer.start();
    poll();
}

fs::path WorkspaceController::headFolder(const std::string &taskPath) const
{
    const fs::path file = m_workspace / taskPath;
    return file.parent_path() / (file.stem().string() + ".heddle");
}

void WorkspaceController::poll()
{
    // One poll at a time: a slow disk must not pile them up.
    if (m_isPolling)
        return;
    m_isPolling = true;
    using News = Result<std::optional<StoreNews>>;
    m_jobs.run<News>(
        Lane::io(), JobKind::Quiet, {}, this,
        [following = m_following, workspace = m_workspace](const CancelToken &, const ProgressSink &) {
            return following->news(workspace);
        },
        [this](News news) {
            m_isPolling = false;
            if (!news) {
                // Said once; following goes on, and a later success is as good as before.
                if (!m_hasFollowFailed)
                    emit failed(news.error());
                m_hasFollowFailed = true;
                return;
            }
            m_hasFollowFailed = false;
            if (!news->has_value())
                return;
            const std::vector<Event> events = (*news)->events;
            m_isCatchingUp = (*news)->hasMore;
            m_mirror.apply(std::move(**news));
            emit newsArrived(events);
            if (m_isCatchingUp)
                poll();
        });
}

void WorkspaceController::trust()
{
    m_jobs.run<Result<void>>(
        Lane::io(), JobKind::Quiet, {}, this,
        [following = m_following, workspace = m_workspace](const CancelToken &,
                                                           const ProgressSink &) -> Result<void> {
            HEDDLE_CHECK_OK(userFiles::trust(workspace));
            HEDDLE_CHECK_OK(following->open(workspace));
            HEDDLE_CHECK_OK(
                following->store->append({}, "person", "trusted", {{"folder", workspace.string()}}));
            return {};
        },
        [this](Result<void> result) {
            if (!result) {
                emit failed(result.error());
                return;
            }
            m_isTrusted = true;
            emit trustChanged();
        });
}

void WorkspaceController::runOperation(const QString &action, const QString &name, const Lane &lane,
                                       Operation operation)
{
    m_jobs.run<Result<Json>>(
        lane, JobKind::Shown, name, this,
        [factory = m_factory, environment = m_environment, workspace = m_workspace, target = m_target,
         operation = std::move(operation)](const CancelToken &cancel,
                                           const ProgressSink &progress) -> Result<Json> {
            HEDDLE_TRY(const std::unique_ptr<Workbench> workbench, factory(environment, workspace, target));
            return operation(*workbench, cancel, progress);
        },
        [this, action](Result<Json> result) { operationDone(action, std::move(result)); });
}

void WorkspaceController::operationDone(const QString &action, Result<Json> result)
{
    poll();
    if (!result) {
        emit failed(result.error());
        return;
    }
    if (action == u"accept" || action == u"undo" || action == u"restore")
        judgeLanded(*result);
    emit actionDone(action, *result);
}

void WorkspaceController::runInSession(const QString &action, const QString &name, const Lane &lane,
                                       const TaskInput &task, const std::string &policy,
                                       SessionOperation operation)
{
    runOperation(action, name, lane,
                 [file = absolute(task.path), task, policy,
                  operation = std::move(operation)](Workbench &workbench, const CancelToken &cancel,
                                                    const ProgressSink &progress) -> Result<Json> {
                     HEDDLE_TRY(const std::string session, workbench.startSession(file, policy, task.source));
                     Result<Json> result = operation(workbench, session, cancel, progress);
                     const bool isCancelled =
                         cancel.stop_requested() || (!result && result.error().code() == Code::Cancelled);
                     std::string reason = result ? "done" : "failed";
                     if (isCancelled)
                         reason = "cancelled";
                     else if (result && policy != "person" && memberOr(*result, "candidate").is_null())
                         reason = stringOr(*result, "reason") == "at_roof" ? "at_roof" : "no_candidate";
                     const std::string message = result ? std::string() : result.error().message();
                     HEDDLE_CHECK_OK(workbench.endSession(session, reason, message));
                     return result;
                 });
}

void WorkspaceController::lint(const TaskInput &task)
{
    runInSession(u"lint"_s, tr("Lint %1").arg(toText(task.path)), task, "person",
                 [](Workbench &workbench, const std::string &session, const CancelToken &cancel,
                    const ProgressSink &progress) { return workbench.lint(session, cancel, progress); });
}

void WorkspaceController::baseline(const TaskInput &task)
{
    runInSession(u"baseline"_s, tr("Baseline of %1").arg(toText(task.path)), task, "person",
                 [](Workbench &workbench, const std::string &session, const CancelToken &cancel,
                    const ProgressSink &progress) { return workbench.baseline(session, cancel, progress); });
}

void WorkspaceController::optimize(const TaskInput &task)
{
    OptimizeOptions options;
    options.budgetSeconds = m_budgetSeconds;
    options.tolerance = m_tolerance;
    runInSession(u"optimise"_s, tr("Optimise %1").arg(toText(task.path)), task, "builtin",
                 [options](Workbench &workbench, const std::string &session, const CancelToken &cancel,
                           const ProgressSink &progress) {
                     return workbench.optimize(session, options, cancel, progress);
                 });
}

void WorkspaceController::judge(const TaskInput &task, const FileTree &files)
{
    JudgeOptions options;
    options.tolerance = m_tolerance;
    runInSession(u"judge"_s, tr("Judge %1").arg(toText(task.path)), task, "person",
                 [files, options](Workbench &workbench, const std::string &session, const CancelToken &cancel,
                                  const ProgressSink &progress) {
                     return workbench.judge(session, files, options, cancel, progress);
                 });
}

void WorkspaceController::previewExport(const TaskInput &task, const std::string &candidate,
                                        const std::string &as)
{
    runInSession(u"preview"_s, tr("Preview the export of %1").arg(toText(task.path)), task, "person",
                 [candidate, as, path = task.path, workspace = m_workspace](
                     Workbench &workbench, const std::string &session, const CancelToken &cancel,
                     const ProgressSink &progress) -> Result<Json> {
                     HEDDLE_TRY(Json preview,
                                workbench.previewExport(session, candidate, as, cancel, progress));
                     preview["candidate"] = candidate;
                     preview["task_path"] = path;
                     preview["folder"] = freeFolder(workspace, path).string();
                     return preview;
                 });
}

void WorkspaceController::writeExport(const TaskInput &task, const std::string &candidate,
                                      const Json &preview, const fs::path &folder)
{
    // Nothing is measured, so it doesn't wait for what is.
    runInSession(u"export"_s, tr("Export %1").arg(toText(task.path)), Lane::cpu(), task, "person",
                 [candidate, preview, folder,
                  path = task.path](Workbench &workbench, const std::string &session, const CancelToken &,
                                    const ProgressSink &) -> Result<Json> {
                     HEDDLE_TRY(Json written, workbench.writeExport(session, candidate, preview, folder));
                     written["candidate"] = candidate;
                     written["task_path"] = path;
                     return written;
                 });
}

void WorkspaceController::accept(const std::string &proposal, const Selection &selection,
                                 const std::vector<RefusedHunks> &refused, const FileTree &openBuffers)
{
    const auto row = m_mirror.proposal(proposal);
    m_landedTask = row ? row->taskPath : std::string();
    // Decisions don't wait for a measurement: they have the processor lane.
    runOperation(u"accept"_s, tr("Accept the proposal"), Lane::cpu(),
                 [proposal, selection, refused, openBuffers](Workbench &workbench, const CancelToken &,
                                                             const ProgressSink &) -> Result<Json> {
                     for (const RefusedHunks &one : refused)
                         HEDDLE_CHECK_OK(
                             workbench.reject(proposal, one.reason, one.comment, "person", one.hunks));
                     return workbench.accept(proposal, selection, "person", openBuffers);
                 });
}

void WorkspaceController::reject(const std::string &proposal, const std::string &reason,
                                 const std::string &comment, const std::vector<RefusedHunks> &refused)
{
    runOperation(u"reject"_s, tr("Reject the proposal"), Lane::cpu(),
                 [proposal, reason, comment, refused](Workbench &workbench, const CancelToken &,
                                                      const ProgressSink &) -> Result<Json> {
                     for (const RefusedHunks &one : refused)
                         HEDDLE_CHECK_OK(
                             workbench.reject(proposal, one.reason, one.comment, "person", one.hunks));
                     return workbench.reject(proposal, reason, comment, "person");
                 });
}

void WorkspaceController::restore(const std::string &taskPath, const std::string &revision,
                                  const FileTree &openBuffers)
{
    m_landedTask = taskPath;
    runOperation(
        u"restore"_s, tr("Restore the revision"), Lane::cpu(),
        [taskPath, revision, openBuffers](Workbench &workbench, const CancelToken &, const ProgressSink &) {
            return workbench.restore(taskPath, revision, "person", openBuffers);
        });
}

void WorkspaceController::undo(std::int64_t decision, const FileTree &openBuffers)
{
    runOperation(u"undo"_s, tr("Undo the decision"), Lane::cpu(),
                 [decision, openBuffers](Workbench &workbench, const CancelToken &, const ProgressSink &) {
                     return workbench.undo(decision, "person", openBuffers);
                 });
}

void WorkspaceController::comment(const std::string &proposal, const std::string &file, int line, int hunk,
                                  const std::string &text)
{
    runOperation(u"comment"_s, tr("Send the comment"), Lane::cpu(),
                 [=](Workbench &workbench, const CancelToken &, const ProgressSink &) -> Result<Json> {
                     HEDDLE_CHECK_OK(workbench.comment(proposal, file, line, hunk, text, "person"));
                     return Json::object();
                 });
}

void WorkspaceController::judgeLanded(const Json &result)
{
    const Json &files = memberOr(result, "files");
    const std::string folder = stringOr(result, "folder");
    if (!files.is_object() || folder.empty())
        return;
    FileTree tree;
    for (const auto &[name, text] : files.items()) {
        if (text.is_string())
            tree.emplace(name, text.get<std::string>());
    }
    emit filesLanded(toText(folder), tree);
    // What landed in part or was merged is a new candidate: it is judged at once, and until then it has no badge.
    if (!boolOr(result, "judged", true) && !m_landedTask.empty() && !tree.empty())
        judge({m_landedTask, std::nullopt}, tree);
}

void WorkspaceController::loadProposal(const std::string &proposal)
{
    using Trees = Result<ProposalTrees>;
    m_jobs.run<Trees>(
        Lane::io(), JobKind::Quiet, {}, this,
        [following = m_following, workspace = m_workspace, proposal](const CancelToken &,
                                                                     const ProgressSink &) -> Trees {
            HEDDLE_CHECK_OK(following->open(workspace));
            HEDDLE_TRY(const std::optional<ProposalRow> row, following->store->proposal(proposal));
            if (!row)
                return Error(Code::NotFound, "there is no such proposal", proposal);
            ProposalTrees trees{proposal, {}, {}};
            HEDDLE_TRY(trees.base, following->tree(row->base));
            HEDDLE_TRY(trees.proposed, following->tree(row->candidate));
            return trees;
        },
        [this](Trees trees) {
            if (trees)
                emit proposalLoaded(*trees);
            else
                emit failed(trees.error());
        });
}

void WorkspaceController::cancelAll() { m_jobs.cancelShown(); }

} // namespace heddle
