// SPDX-License-Identifier: Apache-2.0
#include "core/session/Rows.h"

namespace heddle {

namespace {

std::string text(SQLite::Statement &query, int column) { return query.getColumn(column).getString(); }

std::int64_t integer(SQLite::Statement &query, int column) { return query.getColumn(column).getInt64(); }

SessionRow sessionFromRow(SQLite::Statement &query)
{
    return {text(query, 0), text(query, 1), text(query, 2), text(query, 3),
            text(query, 4), text(query, 5), text(query, 6), text(query, 7)};
}

ProposalRow proposalFromRow(SQLite::Statement &query)
{
    return {text(query, 0), text(query, 1), text(query, 2), text(query, 3), text(query, 4),
            text(query, 5), text(query, 6), text(query, 7), text(query, 8), integer(query, 9)};
}

DecisionRow decisionFromRow(SQLite::Statement &query)
{
    return {integer(query, 0), text(query, 1), text(query, 2), text(query, 3),   text(query, 4),
            text(query, 5),    text(query, 6), text(query, 7), integer(query, 8)};
}

constexpr const char *DecisionColumns = "SELECT event, proposal, session, actor, decision, reason, revision, "
                                        "previous, undone_by, task_path, landed FROM decisions ";

/// The database may have come with a downloaded folder: its text need not be what we write.
Result<Json> parseData(const std::string &data, std::int64_t event)
{
    const std::string where = "event " + std::to_string(event);
    auto parsed = parseJson(data, where);
    if (parsed && parsed->is_object())
        return parsed;
    return Error(Code::Io, "an event of this workspace is damaged: its data are not a JSON object", where);
}

/// All rows of a query with one text parameter, or without when the parameter is empty.
template<typename Row>
std::vector<Row> rows(SQLite::Database &database, const std::string &select, const char *filter,
                      const std::string &value, Row (*read)(SQLite::Statement &))
{
    SQLite::Statement query(database, select + (value.empty() ? "" : filter) + " ORDER BY event");
    if (!value.empty())
        query.bind(1, value);
    std::vector<Row> out;
    while (query.executeStep())
        out.push_back(read(query));
    return out;
}

} // namespace

Result<Event> eventFromRow(SQLite::Statement &query)
{
    Event event;
    event.id = integer(query, 0);
    event.session = text(query, 1);
    event.time = text(query, 2);
    event.actor = text(query, 3);
    event.type = text(query, 4);
    HEDDLE_TRY(event.data, parseData(text(query, 5), event.id));
    return event;
}

std::optional<SessionRow> sessionById(SQLite::Database &database, const std::string &id)
{
    SQLite::Statement query(database, "SELECT * FROM sessions WHERE id=?");
    query.bind(1, id);
    if (!query.executeStep())
        return std::nullopt;
    return sessionFromRow(query);
}

std::optional<ProposalRow> proposalById(SQLite::Database &database, const std::string &id)
{
    SQLite::Statement query(database, "SELECT * FROM proposals WHERE id=?");
    query.bind(1, id);
    if (!query.executeStep())
        return std::nullopt;
    return proposalFromRow(query);
}

std::optional<StoredDecision> decisionByEvent(SQLite::Database &database, std::int64_t event)
{
    SQLite::Statement query(database, std::string(DecisionColumns) + "WHERE event=?");
    query.bind(1, event);
    if (!query.executeStep())
        return std::nullopt;
    return StoredDecision{decisionFromRow(query), text(query, 9), integer(query, 10) != 0};
}

std::optional<HeadRow> headOf(SQLite::Database &database, const std::string &taskPath)
{
    SQLite::Statement query(database, "SELECT task_path, digest, event FROM heads WHERE task_path=?");
    query.bind(1, taskPath);
    if (!query.executeStep())
        return std::nullopt;
    return HeadRow{text(query, 0), text(query, 1), integer(query, 2)};
}

std::vector<SessionRow> sessionRows(SQLite::Database &database, const std::string &taskPath)
{
    return rows<SessionRow>(database, "SELECT * FROM sessions", " WHERE task_path=?", taskPath,
                            sessionFromRow);
}

std::vector<CandidateRow> candidateRows(SQLite::Database &database, const std::string &session)
{
    SQLite::Statement query(database, "SELECT * FROM candidates WHERE session=? ORDER BY event");
    query.bind(1, session);
    std::vector<CandidateRow> out;
    while (query.executeStep())
        out.push_back({text(query, 0), text(query, 1), text(query, 2), text(query, 3), text(query, 4),
                       text(query, 5), integer(query, 6)});
    return out;
}

std::vector<ProposalRow> proposalRows(SQLite::Database &database, const std::string &taskPath)
{
    return rows<ProposalRow>(database, "SELECT * FROM proposals", " WHERE task_path=?", taskPath,
                             proposalFromRow);
}

std::vector<DecisionRow> decisionRows(SQLite::Database &database, const std::string &taskPath)
{
    return rows<DecisionRow>(database, DecisionColumns, " WHERE task_path=?", taskPath, decisionFromRow);
}

std::vector<PlanItemRow> planItemRows(SQLite::Database &database, const std::string &session)
{
    SQLite::Statement query(database,
                            "SELECT session, id, title, boundary, expected, state, note, event "
                            "FROM plan_items WHERE session=? ORDER BY position");
    query.bind(1, session);
    std::vector<PlanItemRow> out;
    while (query.executeStep())
        out.push_back({text(query, 0), text(query, 1), text(query, 2), text(query, 3), text(query, 4),
                       text(query, 5), text(query, 6), integer(query, 7)});
    return out;
}

Result<std::optional<VerdictRow>> newestVerdict(SQLite::Database &database, const std::string &candidate,
                                                const std::string &stage, const std::string &taskDigest)
{
    // The report stays in its event; the projection only says which one.
    SQLite::Statement query(database,
                            "SELECT v.candidate, v.session, v.stage, v.class, v.task_digest, e.data, v.event "
                            "FROM verdicts v JOIN events e ON e.id=v.event "
                            "WHERE v.candidate=?1 AND (?2='' OR v.stage=?2) AND (?3='' OR v.task_digest=?3) "
                            "ORDER BY v.event DESC LIMIT 1");
    query.bind(1, candidate);
    query.bind(2, stage);
    query.bind(3, taskDigest);
    if (!query.executeStep())
        return std::optional<VerdictRow>();
    VerdictRow row{text(query, 0), text(query, 1), text(query, 2),   text(query, 3),
                   text(query, 4), Json(),         integer(query, 6)};
    HEDDLE_TRY(const Json data, parseData(text(query, 5), row.event));
    row.report = memberOr(data, "report");
    return std::optional<VerdictRow>(std::move(row));
}

} // namespace heddle
