// SPDX-License-Identifier: Apache-2.0
#include "core/session/Projections.h"

#include "core/session/ProposalRules.h"
#include "core/session/Rows.h"

namespace heddle {

namespace {

constexpr std::string_view Schema = R"sql(
CREATE TABLE sessions(
    id TEXT PRIMARY KEY, task_path TEXT NOT NULL, task_digest TEXT NOT NULL, target TEXT NOT NULL,
    policy TEXT NOT NULL, state TEXT NOT NULL, started_at TEXT NOT NULL, ended_at TEXT NOT NULL,
    event INTEGER NOT NULL);
CREATE TABLE candidates(
    digest TEXT NOT NULL, session TEXT NOT NULL, parent TEXT NOT NULL, format TEXT NOT NULL,
    policy TEXT NOT NULL, plan_item TEXT NOT NULL, event INTEGER NOT NULL, PRIMARY KEY(session, digest));
CREATE TABLE verdicts(
    event INTEGER PRIMARY KEY, candidate TEXT NOT NULL, session TEXT NOT NULL, stage TEXT NOT NULL,
    class TEXT NOT NULL, task_digest TEXT NOT NULL);
CREATE INDEX verdicts_by_candidate ON verdicts(candidate, event);
CREATE TABLE proposals(
    id TEXT PRIMARY KEY, session TEXT NOT NULL, task_path TEXT NOT NULL, candidate TEXT NOT NULL,
    base TEXT NOT NULL, item TEXT NOT NULL, policy TEXT NOT NULL, summary TEXT NOT NULL,
    state TEXT NOT NULL, event INTEGER NOT NULL);
CREATE INDEX proposals_by_item ON proposals(session, policy, item, state);
CREATE TABLE decisions(
    event INTEGER PRIMARY KEY, proposal TEXT NOT NULL, session TEXT NOT NULL, task_path TEXT NOT NULL,
    actor TEXT NOT NULL, decision TEXT NOT NULL, reason TEXT NOT NULL, covers_all INTEGER NOT NULL,
    landed INTEGER NOT NULL, revision TEXT NOT NULL, previous TEXT NOT NULL, undone_by INTEGER NOT NULL);
CREATE INDEX decisions_by_proposal ON decisions(proposal, event);
CREATE TABLE heads(task_path TEXT PRIMARY KEY, digest TEXT NOT NULL, event INTEGER NOT NULL);
CREATE TABLE plan_items(
    session TEXT NOT NULL, id TEXT NOT NULL, position INTEGER NOT NULL, title TEXT NOT NULL,
    boundary TEXT NOT NULL, expected TEXT NOT NULL, state TEXT NOT NULL, note TEXT NOT NULL,
    event INTEGER NOT NULL, PRIMARY KEY(session, id));
)sql";

struct Table {
    const char *name;
    const char *order;
};
constexpr Table Tables[] = {
    {"sessions", "id"},
    {"candidates", "session, digest"},
    {"verdicts", "event"},
    {"proposals", "id"},
    {"decisions", "event"},
    {"heads", "task_path"},
    {"plan_items", "session, id"},
};

void sessionStarted(SQLite::Database &database, const Event &event)
{
    const Json &task = memberOr(event.data, "task");
    execute(database, "INSERT INTO sessions VALUES(?,?,?,?,?,'running',?,'',?)", event.session,
            stringOr(task, "path"), stringOr(task, "digest"), stringOr(event.data, "target"),
            stringOr(event.data, "policy"), event.time, event.id);
}

void sessionEnded(SQLite::Database &database, const Event &event)
{
    execute(database, "UPDATE sessions SET state=?, ended_at=? WHERE id=?", stringOr(event.data, "reason"),
            event.time, event.session);
}

void candidateCreated(SQLite::Database &database, const Event &event)
{
    // The same tree proposed twice in a session is one candidate; its first parent stays.
    execute(database, "INSERT OR IGNORE INTO candidates VALUES(?,?,?,?,?,?,?)",
            stringOr(event.data, "candidate"), event.session, stringOr(event.data, "parent"),
            stringOr(event.data, "format"), policyOf(database, event), stringOr(event.data, "plan_item"),
            event.id);
}

void judged(SQLite::Database &database, const Event &event)
{
    const Json &verdict = memberOr(memberOr(event.data, "report"), "verdict");
    execute(database, "INSERT INTO verdicts VALUES(?,?,?,?,?,?)", event.id, stringOr(event.data, "candidate"),
            event.session, stringOr(event.data, "stage"), stringOr(verdict, "class"),
            stringOr(event.data, "task_digest"));
}

void planWritten(SQLite::Database &database, const Event &event)
{
    execute(database, "DELETE FROM plan_items WHERE session=?", event.session);
    std::int64_t position = 0;
    for (const Json &item : memberOr(event.data, "items"))
        execute(database, "INSERT OR REPLACE INTO plan_items VALUES(?,?,?,?,?,?,?,'',?)", event.session,
                stringOr(item, "id"), position++, stringOr(item, "title"), stringOr(item, "boundary"),
                stringOr(item, "expected"), stringOr(item, "state", "open"), event.id);
}

void planItemChanged(SQLite::Database &database, const Event &event)
{
    execute(database, "UPDATE plan_items SET state=?, note=?, event=? WHERE session=? AND id=?",
            stringOr(event.data, "state"), stringOr(event.data, "note"), event.id, event.session,
            stringOr(event.data, "id"));
}

void proposalOpened(SQLite::Database &database, const Event &event)
{
    execute(database, "INSERT INTO proposals VALUES(?,?,?,?,?,?,?,?,'open',?)",
            stringOr(event.data, "proposal"), event.session, stringOr(event.data, "task_path"),
            stringOr(event.data, "candidate"), stringOr(event.data, "base"), stringOr(event.data, "item"),
            policyOf(database, event), stringOr(event.data, "summary"), event.id);
}

void decided(SQLite::Database &database, const Event &event)
{
    const std::string id = stringOr(event.data, "proposal");
    const auto proposal = proposalById(database, id);
    const bool coversAll = memberOr(event.data, "hunks").empty();
    execute(database, "INSERT INTO decisions VALUES(?,?,?,?,?,?,?,?,0,'','',0)", event.id, id,
            event.session.empty() && proposal ? proposal->session : event.session,
            proposal ? proposal->taskPath : std::string(), event.actor, stringOr(event.data, "decision"),
            stringOr(event.data, "reason"), std::int64_t{coversAll});
    execute(database, "UPDATE proposals SET state=? WHERE id=?", stateFromDecisions(database, id), id);
}

void setHead(SQLite::Database &database, const Event &event)
{
    execute(database, "INSERT OR REPLACE INTO heads VALUES(?,?,?)", stringOr(event.data, "task_path"),
            stringOr(event.data, "revision"), event.id);
}

void landed(SQLite::Database &database, const Event &event)
{
    const std::int64_t decision = integerOr(event.data, "decision", 0);
    const std::string revision = stringOr(event.data, "revision");
    const std::string previous = stringOr(event.data, "previous");
    if (decision == 0)
        execute(database, "INSERT INTO decisions VALUES(?,?,?,?,?,'restore','',1,1,?,?,0)", event.id,
                stringOr(event.data, "proposal"), event.session, stringOr(event.data, "task_path"),
                event.actor, revision, previous);
    else
        execute(database, "UPDATE decisions SET landed=1, revision=?, previous=? WHERE event=?", revision,
                previous, decision);
    setHead(database, event);
}

void undone(SQLite::Database &database, const Event &event)
{
    const std::int64_t id = integerOr(event.data, "decision", 0);
    const auto decision = decisionByEvent(database, id);
    if (!decision)
        return;
    execute(database, "UPDATE decisions SET undone_by=? WHERE event=?", event.id, id);
    if (decision->hasLanded)
        setHead(database, event);
    const auto proposal = proposalById(database, decision->row.proposal);
    if (!proposal || proposal->state == "withdrawn" || decision->row.decision == "restore")
        return;
    std::string state = stateFromDecisions(database, proposal->id);
    if (state == "open" && hasOtherOpen(database, *proposal))
        state = "superseded";
    execute(database, "UPDATE proposals SET state=? WHERE id=?", state, proposal->id);
}

void proposalStateChanged(SQLite::Database &database, const Event &event)
{
    const std::string id = stringOr(event.data, "proposal");
    std::string state = stringOr(event.data, "state");
    // Opened again, it is where its decisions had left it.
    if (state == "open")
        state = stateFromDecisions(database, id);
    execute(database, "UPDATE proposals SET state=? WHERE id=?", state, id);
}

std::string cellText(const SQLite::Column &cell)
{
    return cell.isNull() ? "null" : cell.getString().substr(0, 200);
}

Result<void> compareTable(SQLite::Database &expected, SQLite::Database &actual, const Table &table)
{
    const std::string query = std::string("SELECT * FROM ") + table.name + " ORDER BY " + table.order;
    SQLite::Statement left(expected, query);
    SQLite::Statement right(actual, query);
    for (std::int64_t row = 1;; ++row) {
        const bool hasLeft = left.executeStep();
        const bool hasRight = right.executeStep();
        const std::string where = std::string(table.name) + " row " + std::to_string(row);
        if (hasLeft != hasRight)
            return Error(Code::Internal,
                         hasLeft
                             ? "the events make a row that the table lacks: " + cellText(left.getColumn(0))
                             : "the table has a row that no event makes: " + cellText(right.getColumn(0)),
                         where);
        if (!hasLeft)
            return {};
        for (int column = 0; column < left.getColumnCount(); ++column) {
            const SQLite::Column a = left.getColumn(column);
            const SQLite::Column b = right.getColumn(column);
            if (a.getType() != b.getType() || a.getString() != b.getString())
                return Error(Code::Internal,
                             "the events give \"" + cellText(a) + "\", the table has \"" + cellText(b) + '"',
                             where + ", column " + left.getColumnName(column));
        }
    }
}

} // namespace

std::string_view projectionSchema() { return Schema; }

std::string policyOf(SQLite::Database &database, const Event &event)
{
    const std::string named = stringOr(event.data, "policy");
    if (!named.empty())
        return named;
    if (event.actor != "system")
        return event.actor;
    SQLite::Statement query(database, "SELECT policy FROM sessions WHERE id=?");
    query.bind(1, event.session);
    return query.executeStep() ? query.getColumn(0).getString() : std::string();
}

void project(SQLite::Database &database, const Event &event)
{
    struct Handler {
        std::string_view type;
        void (*run)(SQLite::Database &, const Event &);
    };
    static constexpr Handler handlers[] = {
        {"session_started", sessionStarted},
        {"session_ended", sessionEnded},
        {"candidate_created", candidateCreated},
        {"judged", judged},
        {"plan_written", planWritten},
        {"plan_item_changed", planItemChanged},
        {"proposal_opened", proposalOpened},
        {"proposal_state_changed", proposalStateChanged},
        {"decided", decided},
        {"landed", landed},
        {"undone", undone},
    };
    for (const Handler &handler : handlers)
        if (handler.type == event.type)
            handler.run(database, event);
}

Result<void> rebuildProjections(SQLite::Database &source, SQLite::Database &target)
{
    for (const Table &table : Tables)
        target.exec(std::string("DELETE FROM ") + table.name);
    SQLite::Statement query(source, "SELECT id, session, time, actor, type, data FROM events ORDER BY id");
    while (query.executeStep()) {
        HEDDLE_TRY(const Event event, eventFromRow(query));
        project(target, event);
    }
    return {};
}

Result<void> compareProjections(SQLite::Database &expected, SQLite::Database &actual)
{
    for (const Table &table : Tables)
        HEDDLE_CHECK_OK(compareTable(expected, actual, table));
    return {};
}

} // namespace heddle
