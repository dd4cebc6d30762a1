// SPDX-License-Identifier: Apache-2.0
#include "core/session/Store.h"

#include "core/session/BlobStore.h"
#include "core/session/Connection.h"
#include "core/session/EventTypes.h"
#include "core/session/Leases.h"
#include "core/session/Projections.h"
#include "core/session/ProposalRules.h"
#include "core/session/Rows.h"
#include "core/session/StoreFolder.h"
#include "core/session/UtcTime.h"

#include <system_error>
#include <utility>

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// Larger things belong into a blob; the log is read often.
constexpr std::size_t MaxEventBytes = 64u << 20;

bool isDecision(const std::string &type) { return type == "decided" || type == "undone" || type == "landed"; }

/// Text as it comes back from JSON: what is no UTF-8 replaced.
std::string cleanText(const std::string &text)
{
    const auto back = parseJson(compactText(Json(text)), "text");
    return back ? back->get<std::string>() : std::string();
}

/// The database's durability is that of the transaction to come; it can't change inside one.
class FullySynchronous {
public:
    FullySynchronous(SQLite::Database &database, bool isWanted) : m_database(database), m_isWanted(isWanted)
    {
        if (m_isWanted)
            m_database.exec("PRAGMA synchronous=FULL");
    }
    FullySynchronous(const FullySynchronous &) = delete;
    FullySynchronous &operator=(const FullySynchronous &) = delete;
    ~FullySynchronous()
    {
        if (m_isWanted)
            m_database.tryExec("PRAGMA synchronous=NORMAL");
    }

private:
    SQLite::Database &m_database;
    const bool m_isWanted;
};

/// Inside a transaction: checks, writes and projects one event, and gives it its id.
Result<void> insertEvent(SQLite::Database &database, Event &event, const std::string &text)
{
    HEDDLE_CHECK_OK(checkAllowed(database, event));
    execute(database, "INSERT INTO events(session, time, actor, type, data) VALUES(?,?,?,?,?)", event.session,
            event.time, event.actor, event.type, text);
    event.id = database.getLastInsertRowid();
    project(database, event);
    return {};
}

Result<void> supersedeOlder(SQLite::Database &database, const Event &opened)
{
    const auto proposal = proposalById(database, stringOr(opened.data, "proposal"));
    if (!proposal)
        return Error(Code::Internal, "the proposal just opened is missing");
    for (const std::string &older : otherOpen(database, *proposal)) {
        Event event{
            0,
            opened.session,
            opened.time,
            "system",
            "proposal_state_changed",
            {{"proposal", older}, {"state", "superseded"}, {"reason", "superseded by " + proposal->id}}};
        HEDDLE_CHECK_OK(insertEvent(database, event, compactText(event.data)));
    }
    return {};
}

class SqliteStore final : public Store {
public:
    SqliteStore(fs::path workspace, fs::path folder, std::shared_ptr<Connection> connection)
        : m_workspace(std::move(workspace)),
          m_folder(std::move(folder)),
          m_connection(std::move(connection)),
          m_blobs(m_folder)
    {
    }

    const fs::path &workspace() const override { return m_workspace; }
    const fs::path &folder() const override { return m_folder; }

    Result<Event> append(const std::string &session, const std::string &actor, const std::string &type,
                         const Json &data) override
    {
        HEDDLE_CHECK_OK(validateEvent(session, type, data));
        const std::string text = compactText(data);
        if (text.size() > MaxEventBytes)
            return Error(Code::InvalidInput,
                         "the event's data are larger than " + std::to_string(MaxEventBytes >> 20) + " MiB",
                         "event " + type, "store them as a blob and name its digest");
        // What is projected is what a replay will read: the text, not the value that came in.
        HEDDLE_TRY(Json stored, parseJson(text, "event " + type));
        HEDDLE_CHECK_OK(validateEvent(session, type, stored));
        Event event{0, cleanText(session), {}, cleanText(actor), type, std::move(stored)};
        return guarded(*m_connection, [&](SQLite::Database &database) -> Result<Event> {
            const FullySynchronous durable(database, isDecision(type));
            WriteTransaction transaction(database);
            event.time = utcNow();
            HEDDLE_CHECK_OK(insertEvent(database, event, text));
            if (type == "proposal_opened")
                HEDDLE_CHECK_OK(supersedeOlder(database, event));
            transaction.commit();
            ++m_connection->commits;
            return std::move(event);
        });
    }

    Result<std::vector<Event>> eventsAfter(std::int64_t id, const std::string &session, int limit) override
    {
        return guarded(*m_connection, [&](SQLite::Database &database) -> Result<std::vector<Event>> {
            SQLite::Statement query(database,
                                    std::string("SELECT id, session, time, actor, type, data FROM events "
                                                "WHERE id>?1")
                                        + (session.empty() ? "" : " AND session=?3")
                                        + " ORDER BY id LIMIT ?2");
            query.bind(1, id);
            query.bind(2, limit);
            if (!session.empty())
                query.bind(3, session);
            std::vector<Event> events;
            while (query.executeStep()) {
                HEDDLE_TRY(Event event, eventFromRow(query));
                events.push_back(std::move(event));
            }
            return events;
        });
    }

    Result<std::int64_t> lastEventId() override
    {
        return guarded(*m_connection, [](SQLite::Database &database) -> Result<std::int64_t> {
            return database.execAndGet("SELECT coalesce(max(id), 0) FROM events").getInt64();
        });
    }

    Result<std::int64_t> changeCounter() override
    {
        return guarded(*m_connection, [&](SQLite::Database &database) -> Result<std::int64_t> {
            // data_version counts other connections' commits and never falls; ours are counted here.
            return database.execAndGet("PRAGMA data_version").getInt64() + m_connection->commits;
        });
    }

    Result<std::vector<SessionRow>> sessions(const std::string &taskPath) override
    {
        return read<std::vector<SessionRow>>(sessionRows, taskPath);
    }
    Result<std::optional<SessionRow>> session(const std::string &id) override
    {
        return read<std::optional<SessionRow>>(sessionById, id);
    }
    Result<std::vector<CandidateRow>> candidates(const std::string &session) override
    {
        return read<std::vector<CandidateRow>>(candidateRows, session);
    }
    Result<std::optional<VerdictRow>> verdict(const std::string &candidate, const std::string &stage,
                                              const std::string &taskDigest) override
    {
        return guarded(*m_connection, [&](SQLite::Database &database) {
            return newestVerdict(database, candidate, stage, taskDigest);
        });
    }
    Result<std::vector<ProposalRow>> proposals(const std::string &taskPath) override
    {
        return read<std::vector<ProposalRow>>(proposalRows, taskPath);
    }
    Result<std::optional<ProposalRow>> proposal(const std::string &id) override
    {
        return read<std::optional<ProposalRow>>(proposalById, id);
    }
    Result<std::vector<DecisionRow>> decisions(const std::string &taskPath) override
    {
        return read<std::vector<DecisionRow>>(decisionRows, taskPath);
    }
    Result<std::optional<HeadRow>> head(const std::string &taskPath) override
    {
        return read<std::optional<HeadRow>>(headOf, taskPath);
    }
    Result<std::vector<PlanItemRow>> planItems(const std::string &session) override
    {
        return read<std::vector<PlanItemRow>>(planItemRows, session);
    }

    Result<std::string> putBlob(std::string_view bytes) override { return m_blobs.putBlob(bytes); }
    Result<std::string> blob(const std::string &digest) override { return m_blobs.blob(digest); }
    Result<std::string> putTree(const FileTree &tree) override { return m_blobs.putTree(tree); }
    Result<FileTree> tree(const std::string &digest) override { return m_blobs.tree(digest); }

    Result<std::unique_ptr<Lease>> takeLease(const std::string &session) override
    {
        return heddle::takeLease(m_connection, session);
    }

    Result<void> checkProjections() override
    {
        return guarded(*m_connection, [](SQLite::Database &database) -> Result<void> {
            const std::string health = database.execAndGet("PRAGMA integrity_check(1)").getString();
            if (health != "ok")
                return Error(Code::Io, "the workspace's database is damaged: " + health,
                             database.getFilename(),
                             "copy the folder, then run sqlite3's .recover on the copy");
            SQLite::Database rebuilt("", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
            rebuilt.exec(std::string(projectionSchema()));
            // One read transaction, so that a writer between the two passes makes no difference.
            SQLite::Statement begin(database, "BEGIN");
            begin.exec();
            const auto outcome = [&]() -> Result<void> {
                rebuilt.exec("BEGIN");
                HEDDLE_CHECK_OK(rebuildProjections(database, rebuilt));
                rebuilt.exec("COMMIT");
                return compareProjections(rebuilt, database);
            };
            try {
                auto result = outcome();
                database.tryExec("ROLLBACK");
                return result;
            } catch (const SQLite::Exception &) {
                database.tryExec("ROLLBACK");
                throw;
            }
        });
    }

private:
    template<typename Rows>
    Result<Rows> read(Rows (*query)(SQLite::Database &, const std::string &), const std::string &key)
    {
        return guarded(*m_connection,
                       [&](SQLite::Database &database) -> Result<Rows> { return query(database, key); });
    }

    const fs::path m_workspace;
    const fs::path m_folder;
    const std::shared_ptr<Connection> m_connection;
    const BlobStore m_blobs;
};

} // namespace

Result<std::unique_ptr<Store>> Store::open(const fs::path &workspace, const StoreOptions &options)
{
    std::error_code code;
    const fs::path canonical = fs::canonical(workspace, code);
    if (code || !fs::is_directory(canonical, code))
        return Error(Code::NotFound, "there is no such folder", workspace.string(),
                     "name an existing folder");
    HEDDLE_TRY(fs::path folder, prepareStoreFolder(canonical));
    HEDDLE_TRY(std::shared_ptr<Connection> connection, openConnection(folder / "workspace.db", options));
    return std::unique_ptr<Store>(
        std::make_unique<SqliteStore>(canonical, std::move(folder), std::move(connection)));
}

} // namespace heddle
