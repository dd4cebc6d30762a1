// SPDX-License-Identifier: Apache-2.0
#include "core/base/Places.h"
#include "core/diff/TreeDiff.h"
#include "core/diff/TreeMerge.h"
#include "core/workbench/LocalWorkbench.h"
#include "core/workbench/ReviewLock.h"

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// The decision that was taken but never landed: whoever took it was stopped in between.
Result<std::optional<DecisionRow>> unlandedAccept(Store &store, const ProposalRow &proposal)
{
    HEDDLE_TRY(const std::vector<DecisionRow> decisions, store.decisions(proposal.taskPath));
    std::optional<DecisionRow> found;
    for (const DecisionRow &row : decisions) {
        const bool isAccept = row.decision == "accept" || row.decision == "accept_in_part";
        if (row.proposal == proposal.id && isAccept && row.revision.empty() && row.undoneBy == 0)
            found = row;
    }
    return found;
}

/// What a decision's event chose, as accept() wrote it.
Selection selectionOf(const Json &hunks)
{
    Selection selection;
    for (const Json &hunk : hunks) {
        const std::string file = stringOr(hunk, "file");
        if (memberOr(hunk, "index").is_number_integer())
            selection.hunks.emplace_back(file, static_cast<int>(integerOr(hunk, "index", 0)));
        else
            selection.files.push_back(file);
    }
    return selection;
}

/// The person's text where a landing was stopped half way: of the files that the proposal changes, those that are
/// already as they should become go back to what the head had.
FileTree withoutLanded(const std::vector<FileDiff> &proposed, const FileTree &before, const FileTree &present,
                       const FileTree &wanted)
{
    const auto textIn = [](const FileTree &tree, const std::string &name) {
        const auto found = tree.find(name);
        return found == tree.end() ? std::optional<std::string>() : found->second;
    };
    FileTree own = present;
    for (const FileDiff &file : proposed) {
        if (textIn(present, file.name) != textIn(wanted, file.name))
            continue;
        if (const auto old = textIn(before, file.name))
            own[file.name] = *old;
        else
            own.erase(file.name);
    }
    return own;
}

Json hunksJson(const Selection &selection)
{
    Json hunks = Json::array();
    for (const std::string &file : selection.files)
        hunks.push_back({{"file", file}});
    for (const auto &[file, index] : selection.hunks)
        hunks.push_back({{"file", file}, {"index", index}});
    return hunks;
}

Result<Event> eventOf(Store &store, std::int64_t id)
{
    HEDDLE_TRY(const std::vector<Event> events, store.eventsAfter(id - 1, {}, 1));
    if (events.empty() || events.front().id != id)
        return Error(Code::NotFound, "there is no such event in this workspace", std::to_string(id));
    return events.front();
}

/// The decision of that number; for 0 the last one that stands. Revisions that keep the person's own text are no
/// decisions that "the last" means.
Result<DecisionRow> decisionToUndo(Store &store, std::int64_t id)
{
    HEDDLE_TRY(const std::vector<DecisionRow> decisions, store.decisions());
    for (auto row = decisions.rbegin(); row != decisions.rend(); ++row) {
        if (id != 0 ? row->event != id : row->undoneBy != 0)
            continue;
        if (id == 0 && row->proposal.empty()) {
            HEDDLE_TRY(const Event event, eventOf(store, row->event));
            if (boolOr(event.data, "own_edits", false))
                continue;
        }
        if (row->undoneBy != 0)
            return Error(Code::Conflict, "this decision was undone before", std::to_string(row->event));
        return *row;
    }
    if (id == 0)
        return Error(Code::NotFound, "there is no decision to undo", store.workspace().string());
    return Error(Code::NotFound, "there is no such decision", std::to_string(id),
                 "leave the number out to undo the last decision; " + commandLineName()
                     + " proposals list shows what stands");
}

Json conflictsJson(const std::vector<FileConflict> &conflicts)
{
    Json out = Json::array();
    for (const FileConflict &conflict : conflicts)
        out.push_back(
            {{"file", conflict.name}, {"reason", conflict.reason}, {"places", conflict.conflicts.size()}});
    return out;
}

Error conflictError(const std::vector<FileConflict> &conflicts)
{
    return Error(Code::Conflict, conflicts.front().reason, conflicts.front().name,
                 "merge it by hand: nothing was written. " + compactText(conflictsJson(conflicts)));
}

std::string treeOf(const std::optional<HeadRow> &head) { return head ? head->digest : std::string(); }

} // namespace

Result<std::string> LocalWorkbench::keepOwnEdits(const std::string &taskPath, const std::string &session,
                                                 const FileTree &present, const std::string &actor)
{
    HEDDLE_TRY(const std::optional<HeadRow> head, m_store->head(taskPath));
    const std::string digest = treeOf(head);
    HEDDLE_TRY(const FileTree known, treeOrEmpty(digest));
    if (known == present)
        return digest;
    HEDDLE_TRY(const std::string own, m_store->putTree(present));
    HEDDLE_CHECK_OK(m_store->append(session, actor, "landed",
                                    {{"proposal", ""},
                                     {"task_path", taskPath},
                                     {"revision", own},
                                     {"previous", digest},
                                     {"own_edits", true}}));
    return own;
}

fs::path LocalWorkbench::headFolder(const std::string &taskPath) const
{
    const fs::path file = taskFileOf(m_store->workspace(), taskPath);
    return file.parent_path() / (file.stem().string() + ".heddle");
}

Result<Json> LocalWorkbench::accept(const std::string &id, const Selection &selection,
                                    const std::string &actor, const FileTree &openBuffers)
{
    HEDDLE_TRY(const ReviewLock lock, ReviewLock::take(m_store->folder()));
    HEDDLE_TRY(const std::optional<ProposalRow> proposal, m_store->proposal(id));
    if (!proposal)
        return Error(Code::NotFound, "there is no such proposal", id,
                     "see " + commandLineName() + " proposals list");
    HEDDLE_TRY(const std::optional<DecisionRow> unlanded, unlandedAccept(*m_store, *proposal));
    if (unlanded) {
        HEDDLE_TRY(Json landed, finishLanding(*proposal, *unlanded, actor, openBuffers));
        if (unlanded->decision == "accept")
            return landed;
    }
    if (proposal->state != "open" && proposal->state != "accepted_in_part")
        return Error(Code::Conflict,
                     "this proposal is " + proposal->state + ", only an open one can be accepted", id);
    HEDDLE_TRY(const HeadFiles head, HeadFiles::read(headFolder(proposal->taskPath), openBuffers));
    HEDDLE_TRY(const TreeMerge merged, mergeSelection(*proposal, selection, head.present));
    if (!merged.isClean()) {
        HEDDLE_CHECK_OK(m_store->append(
            proposal->session, actor, "proposal_state_changed",
            {{"proposal", id}, {"state", "stale"}, {"reason", merged.conflicts.front().reason}}));
        return conflictError(merged.conflicts);
    }
    const bool isPart = !selection.files.empty() || !selection.hunks.empty();
    HEDDLE_TRY(const Event decision,
               m_store->append(proposal->session, actor, "decided",
                               {{"proposal", id},
                                {"decision", isPart ? "accept_in_part" : "accept"},
                                {"hunks", hunksJson(selection)}}));
    auto landed = land(*proposal, decision.id, head, head.present, merged.tree, actor);
    if (landed || landed.error().code() != Code::Conflict)
        return landed;
    // Somebody saved in between: merged anew with that text.
    HEDDLE_TRY(const std::optional<DecisionRow> pending, unlandedAccept(*m_store, *proposal));
    if (!pending)
        return landed;
    return finishLanding(*proposal, *pending, actor, openBuffers);
}

Result<TreeMerge> LocalWorkbench::mergeSelection(const ProposalRow &proposal, const Selection &selection,
                                                 const FileTree &present)
{
    HEDDLE_TRY(const FileTree base, treeOrEmpty(proposal.base));
    HEDDLE_TRY(const FileTree proposed, m_store->tree(proposal.candidate));
    HEDDLE_TRY(const FileTree wanted, applySelection(base, proposed, {selection.files, selection.hunks}));
    return mergeTrees(base, present, wanted);
}

Result<Json> LocalWorkbench::finishLanding(const ProposalRow &proposal, const DecisionRow &decision,
                                           const std::string &actor, const FileTree &openBuffers)
{
    HEDDLE_TRY(const Event event, eventOf(*m_store, decision.event));
    HEDDLE_TRY(const HeadFiles files, HeadFiles::read(headFolder(proposal.taskPath), openBuffers));
    HEDDLE_TRY(const TreeMerge merged,
               mergeSelection(proposal, selectionOf(memberOr(event.data, "hunks")), files.present));
    if (!merged.isClean())
        return conflictError(merged.conflicts);
    HEDDLE_TRY(const std::optional<HeadRow> head, m_store->head(proposal.taskPath));
    HEDDLE_TRY(const FileTree before, treeOrEmpty(treeOf(head)));
    HEDDLE_TRY(const FileTree base, treeOrEmpty(proposal.base));
    HEDDLE_TRY(const FileTree proposed, m_store->tree(proposal.candidate));
    const FileTree own = withoutLanded(diffTrees(base, proposed), before, files.present, merged.tree);
    return land(proposal, decision.event, files, own, merged.tree, actor);
}

Result<Json> LocalWorkbench::land(const ProposalRow &proposal, std::int64_t decision, const HeadFiles &files,
                                  const FileTree &own, const FileTree &tree, const std::string &actor)
{
    HEDDLE_TRY(const std::string previous, keepOwnEdits(proposal.taskPath, proposal.session, own, actor));
    HEDDLE_TRY(const std::string revision, m_store->putTree(tree));
    // The files first: an event must never claim what the disk does not hold.
    HEDDLE_CHECK_OK(files.replaceBy(tree));
    HEDDLE_CHECK_OK(m_store->append(proposal.session, actor, "landed",
                                    {{"proposal", proposal.id},
                                     {"task_path", proposal.taskPath},
                                     {"revision", revision},
                                     {"previous", previous},
                                     {"decision", decision}}));
    // A task that can't be read now has no verdict either; that it landed is true all the same.
    const auto present = presentTaskDigest(m_store->workspace(), proposal.taskPath, m_environment.mode);
    std::optional<VerdictRow> verdict;
    if (present) {
        HEDDLE_TRY(verdict, m_store->verdict(revision, {}, *present));
    }
    return Json{{"decision", decision},
                {"revision", revision},
                {"files", tree},
                {"folder", files.folder.string()},
                {"judged", verdict.has_value()},
                {"verdict", verdict ? Json(verdict->verdictClass) : Json()}};
}

Result<Json> LocalWorkbench::reject(const std::string &id, const std::string &reason,
                                    const std::string &comment, const std::string &actor,
                                    const Selection &selection)
{
    HEDDLE_TRY(const std::optional<ProposalRow> proposal, m_store->proposal(id));
    if (!proposal)
        return Error(Code::NotFound, "there is no such proposal", id,
                     "see " + commandLineName() + " proposals list");
    Json decided{{"proposal", id}, {"decision", "reject"}, {"reason", reason}, {"comment", comment}};
    if (Json hunks = hunksJson(selection); !hunks.empty())
        decided["hunks"] = std::move(hunks);
    HEDDLE_TRY(const Event decision, m_store->append(proposal->session, actor, "decided", decided));
    return Json{{"decision", decision.id}};
}

Result<Json> LocalWorkbench::undo(std::int64_t id, const std::string &actor, const FileTree &openBuffers)
{
    HEDDLE_TRY(const ReviewLock lock, ReviewLock::take(m_store->folder()));
    HEDDLE_TRY(DecisionRow found, decisionToUndo(*m_store, id));
    HEDDLE_TRY(const std::optional<ProposalRow> proposal, m_store->proposal(found.proposal));
    std::string taskPath = proposal ? proposal->taskPath : std::string();
    if (!proposal) {
        // A restore: only its own event says which task it is about.
        HEDDLE_TRY(const Event event, eventOf(*m_store, found.event));
        taskPath = stringOr(event.data, "task_path");
    }
    const bool isAccept = found.decision == "accept" || found.decision == "accept_in_part";
    if (found.revision.empty() && isAccept && proposal) {
        // Stopped half way, some of its files may be there already: land it whole, then take the whole back.
        if (finishLanding(*proposal, found, actor, openBuffers)) {
            HEDDLE_TRY(found, decisionToUndo(*m_store, found.event));
        }
    }
    if (found.revision.empty()) {
        HEDDLE_TRY(
            const Event event,
            m_store->append(
                found.session, actor, "undone",
                {{"decision", found.event}, {"task_path", taskPath}, {"revision", ""}, {"previous", ""}}));
        return Json{{"event", event.id}, {"files", Json::object()}};
    }
    // Later typing is kept: from what landed, one side went on by hand, the other goes back.
    HEDDLE_TRY(const FileTree landed, m_store->tree(found.revision));
    HEDDLE_TRY(const FileTree before, treeOrEmpty(found.previousHead));
    HEDDLE_TRY(const HeadFiles files, HeadFiles::read(headFolder(taskPath), openBuffers));
    const TreeMerge merged = mergeTrees(landed, files.present, before);
    if (!merged.isClean())
        return conflictError(merged.conflicts);
    HEDDLE_TRY(const std::optional<HeadRow> head, m_store->head(taskPath));
    HEDDLE_TRY(const std::string revision, m_store->putTree(merged.tree));
    HEDDLE_CHECK_OK(files.replaceBy(merged.tree));
    HEDDLE_TRY(const Event event,
               m_store->append(found.session, actor, "undone",
                               {{"decision", found.event},
                                {"task_path", taskPath},
                                {"revision", merged.tree.empty() ? std::string() : revision},
                                {"previous", treeOf(head)}}));
    return Json{{"event", event.id}, {"files", merged.tree}, {"folder", files.folder.string()}};
}

Result<void> LocalWorkbench::comment(const std::string &proposal, const std::string &file, int line, int hunk,
                                     const std::string &text, const std::string &actor)
{
    HEDDLE_TRY(const std::optional<ProposalRow> row, m_store->proposal(proposal));
    if (!row)
        return Error(Code::NotFound, "there is no such proposal", proposal,
                     "see " + commandLineName() + " proposals list");
    HEDDLE_CHECK_OK(m_store->append(
        row->session, actor, "commented",
        {{"proposal", proposal}, {"file", file}, {"line", line}, {"hunk", hunk}, {"text", text}}));
    return {};
}

Result<Json> LocalWorkbench::restore(const std::string &task, const std::string &revision,
                                     const std::string &actor, const FileTree &openBuffers)
{
    const fs::path file = taskFileOf(m_store->workspace(), task);
    std::error_code code;
    if (!fs::is_regular_file(file, code))
        return Error(Code::NotFound, "there is no such task file", file.string(),
                     "name the task whose head it is to be: " + commandLineName()
                         + " proposals list shows them");
    // One key for each file, as sessions have it, however the file is named here.
    const std::string taskPath = taskPathOf(m_store->workspace(), file);
    HEDDLE_TRY(const FileTree wanted, m_store->tree(revision));
    HEDDLE_TRY(const ReviewLock lock, ReviewLock::take(m_store->folder()));
    HEDDLE_TRY(const HeadFiles files, HeadFiles::read(headFolder(taskPath), openBuffers));
    // What is there now is kept as a revision, so that the restore can itself be taken back.
    HEDDLE_TRY(const std::string previous, keepOwnEdits(taskPath, {}, files.present, actor));
    HEDDLE_CHECK_OK(files.replaceBy(wanted));
    HEDDLE_TRY(
        const Event event,
        m_store->append(
            {}, actor, "landed",
            {{"proposal", ""}, {"task_path", taskPath}, {"revision", revision}, {"previous", previous}}));
    return Json{{"event", event.id}, {"files", wanted}, {"folder", files.folder.string()}};
}

} // namespace heddle
