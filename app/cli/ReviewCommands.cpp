// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/Commands.h"
#include "app/cli/InSession.h"
#include "app/cli/Print.h"

#include "core/base/Places.h"
#include "core/diff/TreeDiff.h"
#include "core/verify/Words.h"
#include "core/workbench/TaskText.h"

#include <charconv>
#include <optional>

namespace heddle::cli {

namespace {

/// Ends a command: prints the text, writes the report.
int finish(Context &context, const Result<Json> &result, const std::string &text, std::string_view command)
{
    context.clearProgress();
    if (!result)
        return context.fail(result.error(), command);
    context.say(text);
    return context.writeJson(*result, command);
}

Json proposalJson(const ProposalRow &row)
{
    return {{"proposal", row.id},         {"session", row.session}, {"task_path", row.taskPath},
            {"candidate", row.candidate}, {"base", row.base},       {"policy", row.policy},
            {"summary", row.summary},     {"state", row.state}};
}

/// The newest verdict on a proposal, for the task as it is on disk where there is one.
struct Judged {
    std::optional<VerdictRow> verdict;
    bool isOutdated = false; ///< it was for another text of the task, or for another --mode
};

Result<Judged> judgedOf(const Context &context, Store &store, const ProposalRow &row)
{
    const auto present = presentTaskDigest(store.workspace(), row.taskPath, context.environment().mode);
    if (present) {
        HEDDLE_TRY(std::optional<VerdictRow> verdict, store.verdict(row.candidate, {}, *present));
        if (verdict)
            return Judged{std::move(verdict), false};
    }
    HEDDLE_TRY(std::optional<VerdictRow> verdict, store.verdict(row.candidate));
    return Judged{std::move(verdict), true};
}

std::string badge(const Judged &judged)
{
    if (!judged.verdict)
        return "not judged";
    const Json &report = judged.verdict->report;
    std::string text = classText(judged.verdict->verdictClass) + ", " + judged.verdict->stage;
    if (judged.isOutdated)
        return text + ", for another version of the task";
    const Json &deployed = memberOr(memberOr(report, "speedup"), "deployed");
    if (deployed.is_object())
        text += ", " + ratioText(memberOr(deployed, "compile")) + " vs compile";
    return text + toleranceText(report);
}

/// "FILE" or "FILE:INDEX".
Selection selectionFrom(const std::vector<std::string> &words)
{
    Selection selection;
    for (const std::string &word : words) {
        const std::size_t colon = word.rfind(':');
        int index = 0;
        const char *end = word.data() + word.size();
        const bool isHunk = colon != std::string::npos
            && std::from_chars(word.data() + colon + 1, end, index).ptr == end && colon + 1 < word.size();
        if (isHunk)
            selection.hunks.emplace_back(word.substr(0, colon), index);
        else
            selection.files.push_back(word);
    }
    return selection;
}

/// What landed by halves, after editing or on another text of the task has no verdict yet: judge it at once.
Result<Json> judgeLanded(Context &context, Workbench &workbench, const std::string &taskPath,
                         const std::string &revision)
{
    HEDDLE_TRY(const FileTree files, workbench.store().tree(revision));
    return inSession(context, workbench, taskFileOf(workbench.store().workspace(), taskPath), "person",
                     [&](const std::string &session) {
                         JudgeOptions options;
                         options.stage = "confirmed";
                         options.tolerance = context.settings().numberIfSet("tolerance");
                         return workbench.judge(session, files, options, context.cancel(),
                                                context.progress());
                     });
}

} // namespace

int listProposals(Context &context)
{
    std::string text;
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(Workbench * workbench, context.existingWorkbench());
        HEDDLE_TRY(const std::vector<ProposalRow> rows, workbench->store().proposals());
        Json list = Json::array();
        for (const ProposalRow &row : rows) {
            HEDDLE_TRY(const Judged judged, judgedOf(context, workbench->store(), row));
            list.push_back(proposalJson(row));
            text += row.id + "  " + row.state + "  " + row.taskPath + "  " + row.summary + "  ["
                + badge(judged) + "]\n";
        }
        if (rows.empty())
            text = "no proposals yet in the workspace " + workbench->store().workspace().string()
                + "; another one is named by --workspace\n";
        return Json{{"proposals", list}};
    };
    return finish(context, run(), text, "proposals list");
}

int showProposal(Context &context, const std::string &id)
{
    std::string text;
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(Workbench * workbench, context.existingWorkbench());
        Store &store = workbench->store();
        HEDDLE_TRY(const std::optional<ProposalRow> row, store.proposal(id));
        if (!row)
            return Error(Code::NotFound, "there is no such proposal", id,
                         "see " + commandLineName() + " proposals list");
        FileTree base;
        if (!row->base.empty()) {
            HEDDLE_TRY(base, store.tree(row->base));
        }
        HEDDLE_TRY(const FileTree proposed, store.tree(row->candidate));
        HEDDLE_TRY(const Judged judged, judgedOf(context, store, *row));
        text = row->id + "  " + row->state + "  " + row->summary + "\n" + badge(judged) + "\n";
        Json files = Json::array();
        for (const FileDiff &file : diffTrees(base, proposed)) {
            text += "--- " + file.name + '\n' + unifiedText(file.hunks);
            files.push_back(
                {{"file", file.name}, {"hunks", file.hunks.size()}, {"diff", unifiedText(file.hunks)}});
        }
        Json out = proposalJson(*row);
        out["diff"] = files;
        if (judged.verdict)
            out[judged.isOutdated ? "report_of_another_version" : "report"] = judged.verdict->report;
        return out;
    };
    return finish(context, run(), text, "proposals show");
}

int acceptProposal(Context &context, const std::string &id, const std::vector<std::string> &hunks)
{
    Workbench *workbench = nullptr;
    std::string taskPath;
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(workbench, context.existingWorkbench());
        HEDDLE_TRY(const std::optional<ProposalRow> row, workbench->store().proposal(id));
        taskPath = row ? row->taskPath : std::string();
        return workbench->accept(id, selectionFrom(hunks), "person");
    };
    auto accepted = run();
    if (!accepted)
        return context.fail(accepted.error(), "proposals accept");
    Json landed = *std::move(accepted);
    landed.erase("files");
    // It has landed, whatever becomes of the rest: where, and how to take it back, comes first.
    const std::string revision = stringOr(landed, "revision");
    context.say("landed in " + stringOr(landed, "folder") + " as revision " + revision.substr(0, 12)
                + "; decision " + memberOr(landed, "decision").dump() + " (undo with: proposals undo)\n");
    std::string verdict = stringOr(landed, "verdict");
    landed.erase("verdict"); // at that place a report has a whole one
    if (!boolOr(landed, "judged", true)) {
        auto report = judgeLanded(context, *workbench, taskPath, revision);
        if (report) {
            verdict = stringOr(memberOr(*report, "verdict"), "class");
            context.say("what landed is a candidate of its own; its verdict: " + classText(verdict) + '\n');
            landed["report"] = *std::move(report);
        } else {
            landed["judge_error"] = toJson(report.error());
            context.tell(report.error().wrapped("it has landed, but could not be judged", taskPath),
                         "proposals accept");
        }
    }
    const int code = verdict == "clean" ? Done : NotClean;
    const int written = context.writeJson(std::move(landed), "proposals accept");
    return written != Done ? written : code;
}

int rejectProposal(Context &context, const std::string &id, const std::string &reason,
                   const std::string &comment)
{
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(Workbench * workbench, context.existingWorkbench());
        return workbench->reject(id, reason, comment, "person");
    };
    return finish(context, run(), "rejected (take it back with: proposals undo)\n", "proposals reject");
}

int undoDecision(Context &context, std::int64_t decision)
{
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(Workbench * workbench, context.existingWorkbench());
        return workbench->undo(decision, "person");
    };
    return finish(context, run(), "undone\n", "proposals undo");
}

int commentProposal(Context &context, const std::string &id, const std::string &file, int line,
                    const std::string &text)
{
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(Workbench * workbench, context.existingWorkbench());
        HEDDLE_CHECK_OK(workbench->comment(id, file, line, -1, text, "person"));
        return Json{{"proposal", id}};
    };
    return finish(context, run(), "noted\n", "proposals comment");
}

int restoreRevision(Context &context, const std::string &task, const std::string &revision)
{
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(Workbench * workbench, context.existingWorkbench());
        // As every other command names tasks; what `proposals list` prints counts from the workspace.
        std::error_code code;
        const std::filesystem::path here = std::filesystem::absolute(task, code);
        return workbench->restore(std::filesystem::exists(here, code) ? here.string() : task, revision,
                                  "person");
    };
    return finish(context, run(), "restored\n", "proposals restore");
}

int listSessions(Context &context)
{
    std::string text;
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(Workbench * workbench, context.existingWorkbench());
        HEDDLE_TRY(const std::vector<SessionRow> rows, workbench->store().sessions());
        Json list = Json::array();
        for (const SessionRow &row : rows) {
            list.push_back({{"session", row.id},
                            {"task_path", row.taskPath},
                            {"policy", row.policy},
                            {"target", row.target},
                            {"state", row.state},
                            {"started_at", row.startedAt},
                            {"ended_at", row.endedAt}});
            text += row.id + "  " + row.startedAt + "  " + row.state + "  " + row.policy + "  " + row.taskPath
                + '\n';
        }
        if (rows.empty())
            text = "no sessions yet in the workspace " + workbench->store().workspace().string()
                + "; another one is named by --workspace\n";
        return Json{{"sessions", list}};
    };
    return finish(context, run(), text, "sessions list");
}

int showSession(Context &context, const std::string &session)
{
    std::string text;
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(Workbench * workbench, context.existingWorkbench());
        HEDDLE_TRY(const std::vector<Event> events, workbench->store().eventsAfter(0, session));
        if (events.empty())
            return Error(Code::NotFound, "there is no such session in this workspace", session,
                         "see " + commandLineName() + " sessions list");
        Json list = Json::array();
        for (const Event &event : events) {
            list.push_back({{"id", event.id},
                            {"time", event.time},
                            {"actor", event.actor},
                            {"type", event.type},
                            {"data", event.data}});
            std::string data = compactText(event.data);
            if (data.size() > 160 && !context.options().verbose)
                data = data.substr(0, 157) + "...";
            text += std::to_string(event.id) + "  " + event.time + "  " + event.actor + "  " + event.type
                + "  " + data + '\n';
        }
        return Json{{"session", session}, {"events", list}};
    };
    return finish(context, run(), text, "sessions show");
}

int checkSessions(Context &context)
{
    std::string text;
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(Workbench * workbench, context.existingWorkbench());
        HEDDLE_CHECK_OK(workbench->store().checkProjections());
        HEDDLE_TRY(const std::int64_t last, workbench->store().lastEventId());
        text = "the views match the events (" + std::to_string(last) + ")\n";
        return Json{{"events", last}};
    };
    return finish(context, run(), text, "sessions check");
}

} // namespace heddle::cli
