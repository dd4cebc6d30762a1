// SPDX-License-Identifier: Apache-2.0
#include "core/session/Migrations.h"

#include "core/session/Connection.h"
#include "core/session/Projections.h"

namespace heddle {

namespace {

/// "HDDL", so that file(1) and we can tell the database from another program's.
constexpr int ApplicationId = 0x4844444C;

int intPragma(SQLite::Database &database, const std::string &name)
{
    return database.execAndGet("PRAGMA " + name).getInt();
}

} // namespace

const std::vector<std::string> &migrations()
{
    static const std::vector<std::string> steps = {
        std::string(R"sql(
CREATE TABLE events(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL, time TEXT NOT NULL, actor TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL);
CREATE INDEX events_by_session ON events(session, id);
CREATE TABLE leases(
    session TEXT PRIMARY KEY, token TEXT NOT NULL, pid INTEGER NOT NULL, start_time INTEGER NOT NULL,
    boot_id TEXT NOT NULL, program TEXT NOT NULL, taken_at TEXT NOT NULL);
)sql") + std::string(projectionSchema()),
    };
    return steps;
}

Result<void> checkIsOurs(SQLite::Database &database, const std::filesystem::path &file)
{
    const int tables = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt();
    if (tables > 0 && intPragma(database, "application_id") != ApplicationId)
        return Error(Code::InvalidInput, "this database was not made by Heddle", file.string(),
                     "move it elsewhere");
    const int version = intPragma(database, "user_version");
    const int newest = static_cast<int>(migrations().size());
    if (version > newest)
        return Error(Code::InvalidInput,
                     "this workspace was written by a newer Heddle (database version "
                         + std::to_string(version) + ", this program knows up to " + std::to_string(newest)
                         + ')',
                     file.string(), "update Heddle");
    return {};
}

Result<void> migrate(SQLite::Database &database, const std::filesystem::path &file,
                     const std::vector<std::string> &steps)
{
    if (intPragma(database, "user_version") == static_cast<int>(steps.size()))
        return {};
    WriteTransaction transaction(database);
    // Another process may have done it, or a newer one more than it, while this one waited.
    const auto version = static_cast<std::size_t>(intPragma(database, "user_version"));
    if (version > steps.size())
        return checkIsOurs(database, file);
    for (std::size_t step = version; step < steps.size(); ++step)
        database.exec(steps[step]);
    if (version > 0 && version < steps.size())
        HEDDLE_CHECK_OK(rebuildProjections(database, database));
    database.exec("PRAGMA application_id=" + std::to_string(ApplicationId));
    database.exec("PRAGMA user_version=" + std::to_string(steps.size()));
    transaction.commit();
    return {};
}

} // namespace heddle
