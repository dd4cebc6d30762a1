// SPDX-License-Identifier: Apache-2.0
#include "core/diff/TreeDiff.h"
#include "core/diff/TreeMerge.h"
#include "core/workbench/LocalWorkbench.h"

#include <algorithm>

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// What is on screen where it is open, else what is on disk.
Result<FileTree> presentFiles(const fs::path &folder, const FileTree &openBuffers)
{
    FileTree present;
    std::error_code code;
    if (fs::is_directory(folder, code)) {
        HEDDLE_TRY(present, readTree(folder));
    }
    for (const auto &[name, text] : openBuffers)
        present[name] = text;
    return present;
}

/// Makes the folder hold exactly the wanted files where they differ from what is there now.
Result<void> writeDifference(const fs::path &folder, const FileTree &present, const FileTree &wanted)
{
    FileTree changed;
    for (const auto &[name, text] : wanted) {
        const auto old = present.find(name);
        if (old == present.end() || old->second != text)
            changed[name] = text;
    }
    HEDDLE_CHECK_OK(makeFolder(folder));
    HEDDLE_CHECK_OK(writeTree(folder, changed));
    for (const auto &[name, text] : present) {
        std::error_code code;
        if (wanted.count(name) == 0)
            fs::remove(folder / name, code);
    }
    return {};
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
    HEDDLE_CHECK_OK(m_store->append(
        session, actor, "landed",
        {{"proposal", ""}, {"task_path", taskPath}, {"revision", own}, {"previous", digest}}));
    return own;
}

fs::path LocalWorkbench::headFolder(const std::string &taskPath) const
{
    const fs::path task(taskPath);
    const fs::path file = task.is_absolute() ? task : m_store->workspace() / task;
    return file.parent_path() / (file.stem().string() + ".heddle");
}

Result<Json> LocalWorkbench::accept(const std::string &id, const Selection &selection,
                                    const std::string &actor, const FileTree &openBuffers)
{
    HEDDLE_TRY(const std::optional<ProposalRow> proposal, m_store->proposal(id));
    if (!proposal)
        return Error(Code::NotFound, "there is no such proposal", id, "see heddle-cli proposals list");
    if (proposal->state != "open")
        return Error(Code::Conflict,
                     "this proposal is " + proposal->state + ", only an open one can be accepted", id);
    HEDDLE_TRY(const FileTree base, treeOrEmpty(proposal->base));
    HEDDLE_TRY(const FileTree proposed, m_store->tree(proposal->candidate));
    const bool isPart = !selection.files.empty() || !selection.hunks.empty();
    HEDDLE_TRY(const FileTree wanted, applySelection(base, proposed, {selection.files, selection.hunks}));
    const fs::path folder = headFolder(proposal->taskPath);
    HEDDLE_TRY(const FileTree present, presentFiles(folder, openBuffers));
    TreeMerge merged = mergeTrees(base, present, wanted);
    if (!merged.isClean()) {
        HEDDLE_CHECK_OK(m_store->append(
            proposal->session, actor, "proposal_state_changed",
            {{"proposal", id}, {"state", "stale"}, {"reason", merged.conflicts.front().reason}}));
        return conflictError(merged.conflicts);
    }
    HEDDLE_TRY(const std::string previous,
               keepOwnEdits(proposal->taskPath, proposal->session, present, actor));
    HEDDLE_TRY(const std::string revision, m_store->putTree(merged.tree));
    Json hunks = Json::array();
    for (const std::string &file : selection.files)
        hunks.push_back({{"file", file}});
    for (const auto &[file, index] : selection.hunks)
        hunks.push_back({{"file", file}, {"index", index}});
    HEDDLE_TRY(const Event decision,
               m_store->append(
                   proposal->session, actor, "decided",
                   {{"proposal", id}, {"decision", isPart ? "accept_in_part" : "accept"}, {"hunks", hunks}}));
    // The files first: an event must never claim what the disk does not hold.
    HEDDLE_CHECK_OK(writeDifference(folder, present, merged.tree));
    HEDDLE_CHECK_OK(m_store->append(proposal->session, actor, "landed",
                                    {{"proposal", id},
                                     {"task_path", proposal->taskPath},
                                     {"revision", revision},
                                     {"previous", previous},
                                     {"decision", decision.id}}));
    HEDDLE_TRY(const std::optional<VerdictRow> verdict, m_store->verdict(revision));
    return Json{{"decision", decision.id},
                {"revision", revision},
                {"files", merged.tree},
                {"folder", folder.string()},
                {"judged", verdict.has_value()}};
}

Result<Json> LocalWorkbench::reject(const std::string &id, const std::string &reason,
                                    const std::string &comment, const std::string &actor)
{
    HEDDLE_TRY(const std::optional<ProposalRow> proposal, m_store->proposal(id));
    if (!proposal)
        return Error(Code::NotFound, "there is no such proposal", id, "see heddle-cli proposals list");
    HEDDLE_TRY(const Event decision,
               m_store->append(
                   proposal->session, actor, "decided",
                   {{"proposal", id}, {"decision", "reject"}, {"reason", reason}, {"comment", comment}}));
    return Json{{"decision", decision.id}};
}

Result<Json> LocalWorkbench::undo(std::int64_t id, const std::string &actor, const FileTree &openBuffers)
{
    HEDDLE_TRY(const std::vector<DecisionRow> decisions, m_store->decisions());
    const DecisionRow *found = nullptr;
    for (const DecisionRow &row : decisions) {
        const bool isMeant = id != 0 ? row.event == id : row.undoneBy == 0;
        if (isMeant)
            found = &row;
    }
    if (found == nullptr)
        return Error(Code::NotFound, id == 0 ? "there is no decision to undo" : "there is no such decision",
                     std::to_string(id));
    if (found->undoneBy != 0)
        return Error(Code::Conflict, "this decision was undone before", std::to_string(found->event));
    HEDDLE_TRY(const std::optional<ProposalRow> proposal, m_store->proposal(found->proposal));
    const std::string taskPath = proposal ? proposal->taskPath : std::string();
    if (found->revision.empty()) {
        HEDDLE_TRY(
            const Event event,
            m_store->append(
                found->session, actor, "undone",
                {{"decision", found->event}, {"task_path", taskPath}, {"revision", ""}, {"previous", ""}}));
        return Json{{"event", event.id}, {"files", Json::object()}};
    }
    // Later typing is kept: from what landed, one side went on by hand, the other goes back.
    HEDDLE_TRY(const FileTree landed, m_store->tree(found->revision));
    HEDDLE_TRY(const FileTree before, treeOrEmpty(found->previousHead));
    const fs::path folder = headFolder(taskPath);
    HEDDLE_TRY(const FileTree present, presentFiles(folder, openBuffers));
    const TreeMerge merged = mergeTrees(landed, present, before);
    if (!merged.isClean())
        return conflictError(merged.conflicts);
    HEDDLE_TRY(const std::optional<HeadRow> head, m_store->head(taskPath));
    HEDDLE_TRY(const std::string revision, m_store->putTree(merged.tree));
    HEDDLE_CHECK_OK(writeDifference(folder, present, merged.tree));
    HEDDLE_TRY(const Event event,
               m_store->append(found->session, actor, "undone",
                               {{"decision", found->event},
                                {"task_path", taskPath},
                                {"revision", merged.tree.empty() ? std::string() : revision},
                                {"previous", treeOf(head)}}));
    return Json{{"event", event.id}, {"files", merged.tree}, {"folder", folder.string()}};
}

Result<void> LocalWorkbench::comment(const std::string &proposal, const std::string &file, int line, int hunk,
                                     const std::string &text, const std::string &actor)
{
    HEDDLE_TRY(const std::optional<ProposalRow> row, m_store->proposal(proposal));
    if (!row)
        return Error(Code::NotFound, "there is no such proposal", proposal, "see heddle-cli proposals list");
    HEDDLE_CHECK_OK(m_store->append(
        row->session, actor, "commented",
        {{"proposal", proposal}, {"file", file}, {"line", line}, {"hunk", hunk}, {"text", text}}));
    return {};
}

Result<Json> LocalWorkbench::restore(const std::string &taskPath, const std::string &revision,
                                     const std::string &actor)
{
    HEDDLE_TRY(const FileTree wanted, m_store->tree(revision));
    const fs::path folder = headFolder(taskPath);
    HEDDLE_TRY(const FileTree present, presentFiles(folder, {}));
    // What is there now is kept as a revision, so that the restore can itself be taken back.
    HEDDLE_TRY(const std::string previous, keepOwnEdits(taskPath, {}, present, actor));
    HEDDLE_CHECK_OK(writeDifference(folder, present, wanted));
    HEDDLE_TRY(
        const Event event,
        m_store->append(
            {}, actor, "landed",
            {{"proposal", ""}, {"task_path", taskPath}, {"revision", revision}, {"previous", previous}}));
    return Json{{"event", event.id}, {"files", wanted}, {"folder", folder.string()}};
}

} // namespace heddle
