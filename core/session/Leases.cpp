// SPDX-License-Identifier: Apache-2.0
#include "core/session/Leases.h"

#include "core/base/Digest.h"
#include "core/base/Places.h"
#include "core/session/ProcessIdentity.h"
#include "core/session/Rows.h"
#include "core/session/UtcTime.h"

#include <utility>

namespace heddle {

namespace {

class TableLease final : public Lease {
public:
    TableLease(std::shared_ptr<Connection> connection, std::string session, std::string token)
        : m_connection(std::move(connection)), m_session(std::move(session)), m_token(std::move(token))
    {
    }
    ~TableLease() override
    {
        // A failure leaves a row whose holder is soon dead, which the next taker replaces.
        const auto released = guarded(*m_connection, [&](SQLite::Database &database) -> Result<void> {
            execute(database, "DELETE FROM leases WHERE session=? AND token=?", m_session, m_token);
            return {};
        });
        static_cast<void>(released);
    }

private:
    const std::shared_ptr<Connection> m_connection;
    const std::string m_session;
    const std::string m_token;
};

} // namespace

Result<std::unique_ptr<Lease>> takeLease(const std::shared_ptr<Connection> &connection,
                                         const std::string &session)
{
    HEDDLE_TRY(const ProcessIdentity self, ProcessIdentity::self());
    const std::string token = randomHex(16);
    const auto take = [&](SQLite::Database &database) -> Result<void> {
        WriteTransaction transaction(database);
        if (!sessionById(database, session))
            return Error(Code::NotFound, "there is no such session in this workspace", session.substr(0, 80),
                         "list them with: " + commandLineName() + " sessions list");
        SQLite::Statement query(
            database, "SELECT pid, start_time, boot_id, program, taken_at FROM leases WHERE session=?");
        query.bind(1, session);
        if (query.executeStep()) {
            const ProcessIdentity holder{query.getColumn(0).getInt64(), query.getColumn(1).getInt64(),
                                         query.getColumn(2).getString(), query.getColumn(3).getString()};
            if (holder.isAlive())
                return Error(Code::Conflict,
                             "process " + std::to_string(holder.pid) + " (" + holder.program
                                 + ") has been working on this session since "
                                 + query.getColumn(4).getString(),
                             session, "wait for it, cancel it, or start a new session");
        }
        execute(database, "INSERT OR REPLACE INTO leases VALUES(?,?,?,?,?,?,?)", session, token, self.pid,
                self.startTime, self.bootId, self.program, utcNow());
        query.reset();
        transaction.commit();
        return {};
    };
    HEDDLE_CHECK_OK(guarded(*connection, take));
    return std::unique_ptr<Lease>(std::make_unique<TableLease>(connection, session, token));
}

} // namespace heddle
