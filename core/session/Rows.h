// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/Store.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <optional>
#include <string>

namespace heddle {

/// Reading and writing rows; throws SQLite::Exception.
inline void bindValue(SQLite::Statement &statement, int index, const std::string &value)
{
    statement.bind(index, value); // with its length: a NUL inside is kept
}
inline void bindValue(SQLite::Statement &statement, int index, std::int64_t value)
{
    statement.bind(index, value);
}

/// Runs one statement with its parameters in order.
template<typename... Values>
void execute(SQLite::Database &database, const char *sql, const Values &...values)
{
    SQLite::Statement statement(database, sql);
    int index = 0;
    (bindValue(statement, ++index, values), ...);
    statement.exec();
}

/// A decision with what the projection knows beyond DecisionRow.
struct StoredDecision {
    DecisionRow row;
    std::string taskPath;
    bool hasLanded = false;
};

/// From "id, session, time, actor, type, data". Error Io where data is not JSON.
Result<Event> eventFromRow(SQLite::Statement &query);
std::optional<SessionRow> sessionById(SQLite::Database &database, const std::string &id);
std::optional<ProposalRow> proposalById(SQLite::Database &database, const std::string &id);
std::optional<StoredDecision> decisionByEvent(SQLite::Database &database, std::int64_t event);
std::optional<HeadRow> headOf(SQLite::Database &database, const std::string &taskPath);

std::vector<SessionRow> sessionRows(SQLite::Database &database, const std::string &taskPath);
std::vector<CandidateRow> candidateRows(SQLite::Database &database, const std::string &session);
std::vector<ProposalRow> proposalRows(SQLite::Database &database, const std::string &taskPath);
std::vector<DecisionRow> decisionRows(SQLite::Database &database, const std::string &taskPath);
std::vector<PlanItemRow> planItemRows(SQLite::Database &database, const std::string &session);
Result<std::optional<VerdictRow>> newestVerdict(SQLite::Database &database, const std::string &candidate,
                                                const std::string &stage, const std::string &taskDigest);

} // namespace heddle
