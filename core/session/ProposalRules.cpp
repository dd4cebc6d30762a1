// SPDX-License-Identifier: Apache-2.0
#include "core/session/ProposalRules.h"

#include "core/base/Places.h"
#include "core/session/Rows.h"

namespace heddle {

namespace {

std::string shortName(const std::string &digest) { return digest.empty() ? "empty" : digest.substr(0, 12); }

Result<void> checkHead(SQLite::Database &database, const Event &event)
{
    const std::string task = stringOr(event.data, "task_path");
    const auto head = headOf(database, task);
    const std::string present = head ? head->digest : std::string();
    const std::string previous = stringOr(event.data, "previous");
    if (present == previous)
        return {};
    return Error(Code::Conflict,
                 "the head of the task changed meanwhile: it is " + shortName(present) + ", not "
                     + shortName(previous),
                 task, "look at the new head and decide again");
}

Result<ProposalRow> requireProposal(SQLite::Database &database, const Event &event)
{
    const std::string id = stringOr(event.data, "proposal");
    auto proposal = proposalById(database, id);
    if (!proposal)
        return Error(Code::NotFound, "there is no such proposal in this workspace", id.substr(0, 80),
                     "list them with: " + commandLineName() + " proposals list");
    return *std::move(proposal);
}

Error closedError(const ProposalRow &proposal)
{
    std::string word = proposal.state == "accepted_in_part" ? "accepted in part" : proposal.state;
    return Error(Code::Conflict, "this proposal is " + word + " and can't be changed that way", proposal.id,
                 proposal.state == "accepted" || proposal.state == "rejected" ? "undo its decision first"
                     : proposal.state == "stale" ? "reject it, or ask for a new one on the present head"
                                                 : "look at the newer proposal");
}

Result<void> checkOpened(SQLite::Database &database, const Event &event)
{
    const std::string id = stringOr(event.data, "proposal");
    if (proposalById(database, id))
        return Error(Code::Conflict, "there is a proposal with this id already", id.substr(0, 80));
    return {};
}

Result<void> checkStateChange(SQLite::Database &database, const Event &event)
{
    HEDDLE_TRY(const ProposalRow proposal, requireProposal(database, event));
    const std::string to = stringOr(event.data, "state");
    const std::string &from = proposal.state;
    if (from == to)
        return {};
    const bool isPending = from == "open" || from == "accepted_in_part";
    const bool isAllowed = (to == "withdrawn" && (isPending || from == "stale" || from == "superseded"))
        || (to == "stale" && isPending) || (to == "superseded" && from == "open")
        || (to == "open" && (from == "stale" || from == "superseded"));
    if (!isAllowed)
        return closedError(proposal);
    if (to == "open" && hasOtherOpen(database, proposal))
        return Error(Code::Conflict, "another proposal for the same item is open", proposal.id,
                     "decide or withdraw that one first");
    return {};
}

Result<void> checkDecided(SQLite::Database &database, const Event &event)
{
    HEDDLE_TRY(const ProposalRow proposal, requireProposal(database, event));
    const bool isPending = proposal.state == "open" || proposal.state == "accepted_in_part";
    const bool isStaleReject = proposal.state == "stale" && stringOr(event.data, "decision") == "reject"
        && memberOr(event.data, "hunks").empty();
    if (!isPending && !isStaleReject)
        return closedError(proposal);
    return {};
}

Result<StoredDecision> requireDecision(SQLite::Database &database, const Event &event)
{
    const std::int64_t id = integerOr(event.data, "decision", 0);
    auto decision = decisionByEvent(database, id);
    if (!decision)
        return Error(Code::NotFound, "there is no such decision in this workspace",
                     "decision " + std::to_string(id));
    if (decision->row.undoneBy != 0)
        return Error(Code::Conflict, "this decision was undone already", "decision " + std::to_string(id));
    return *std::move(decision);
}

Result<void> checkLanded(SQLite::Database &database, const Event &event)
{
    if (integerOr(event.data, "decision", 0) != 0) {
        HEDDLE_TRY(const StoredDecision decision, requireDecision(database, event));
        const std::string where = "decision " + std::to_string(decision.row.event);
        if (decision.hasLanded)
            return Error(Code::Conflict, "this decision has landed already", where);
        if (decision.row.decision == "reject")
            return Error(Code::InvalidInput, "a rejection can't land anything", where);
        if (decision.taskPath != stringOr(event.data, "task_path"))
            return Error(Code::InvalidInput, "this decision belongs to another task: " + decision.taskPath,
                         where);
    }
    return checkHead(database, event);
}

Result<void> checkUndone(SQLite::Database &database, const Event &event)
{
    HEDDLE_TRY(const StoredDecision decision, requireDecision(database, event));
    if (decision.taskPath != stringOr(event.data, "task_path"))
        return Error(Code::InvalidInput, "this decision belongs to another task: " + decision.taskPath,
                     "decision " + std::to_string(decision.row.event));
    return decision.hasLanded ? checkHead(database, event) : Result<void>();
}

Result<void> checkSession(SQLite::Database &database, const Event &event)
{
    const auto session = sessionById(database, event.session);
    if (event.type == "session_started") {
        if (session)
            return Error(Code::Conflict, "there is a session with this id already",
                         event.session.substr(0, 80));
        return {};
    }
    if (event.session.empty())
        return {};
    if (!session)
        return Error(Code::NotFound, "there is no such session in this workspace",
                     event.session.substr(0, 80), "list them with: " + commandLineName() + " sessions list");
    if (event.type == "session_ended" && session->state != "running")
        return Error(Code::Conflict, "this session has ended already (" + session->state + ')',
                     event.session);
    return {};
}

Result<void> checkPlanItem(SQLite::Database &database, const Event &event)
{
    SQLite::Statement query(database, "SELECT 1 FROM plan_items WHERE session=? AND id=?");
    query.bind(1, event.session);
    query.bind(2, stringOr(event.data, "id"));
    if (query.executeStep())
        return {};
    return Error(Code::NotFound, "the session's plan has no such item",
                 stringOr(event.data, "id").substr(0, 80));
}

} // namespace

Result<void> checkAllowed(SQLite::Database &database, const Event &event)
{
    HEDDLE_CHECK_OK(checkSession(database, event));
    if (event.type == "plan_item_changed")
        return checkPlanItem(database, event);
    if (event.type == "proposal_opened")
        return checkOpened(database, event);
    if (event.type == "proposal_state_changed")
        return checkStateChange(database, event);
    if (event.type == "decided")
        return checkDecided(database, event);
    if (event.type == "landed")
        return checkLanded(database, event);
    if (event.type == "undone")
        return checkUndone(database, event);
    if (event.type == "commented") {
        HEDDLE_TRY(const ProposalRow proposal, requireProposal(database, event));
        static_cast<void>(proposal);
    }
    return {};
}

std::string stateFromDecisions(SQLite::Database &database, const std::string &proposal)
{
    SQLite::Statement query(database,
                            "SELECT decision, covers_all FROM decisions "
                            "WHERE proposal=? AND undone_by=0 AND decision<>'restore' ORDER BY event");
    query.bind(1, proposal);
    std::string state = "open";
    while (query.executeStep()) {
        const std::string decision = query.getColumn(0).getString();
        const bool coversAll = query.getColumn(1).getInt() != 0;
        if (decision == "accept")
            state = "accepted";
        else if (decision == "accept_in_part" && state != "accepted")
            state = "accepted_in_part";
        else if (decision == "reject" && coversAll && state == "open")
            state = "rejected";
    }
    return state;
}

std::vector<std::string> otherOpen(SQLite::Database &database, const ProposalRow &proposal)
{
    SQLite::Statement query(database,
                            "SELECT id FROM proposals WHERE session=? AND policy=? AND item=? "
                            "AND state='open' AND id<>? ORDER BY event");
    query.bind(1, proposal.session);
    query.bind(2, proposal.policy);
    query.bind(3, proposal.item);
    query.bind(4, proposal.id);
    std::vector<std::string> ids;
    while (query.executeStep())
        ids.push_back(query.getColumn(0).getString());
    return ids;
}

} // namespace heddle
