// SPDX-License-Identifier: Apache-2.0
#include "core/session/Connection.h"

#include "core/session/FileSystemKind.h"
#include "core/session/Migrations.h"

#include <sqlite3.h>

#include <map>
#include <string>
#include <thread>

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// Switching to WAL needs the file alone for a moment and doesn't wait by itself.
void switchToWal(SQLite::Database &database, std::chrono::milliseconds patience)
{
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        try {
            const std::string mode = database.execAndGet("PRAGMA journal_mode=WAL").getString();
            if (mode != "wal")
                throw SQLite::Exception("write-ahead logging is not possible here", SQLITE_CANTOPEN);
            return;
        } catch (const SQLite::Exception &failure) {
            if (failure.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline)
                throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

Result<std::shared_ptr<Connection>> openNew(const fs::path &file, const StoreOptions &options,
                                            std::string_view remote)
{
    try {
        auto connection = std::make_shared<Connection>(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        SQLite::Database &database = connection->database;
        database.setBusyTimeout(static_cast<int>(options.busyTimeout.count()));
        // The folder may come from anybody: its schema must not call functions with side effects.
        database.exec("PRAGMA trusted_schema=OFF");
        if (!remote.empty())
            database.exec("PRAGMA locking_mode=EXCLUSIVE");
        HEDDLE_CHECK_OK(checkIsOurs(database, file));
        switchToWal(database, options.busyTimeout);
        database.exec("PRAGMA synchronous=NORMAL");
        HEDDLE_CHECK_OK(migrate(database, file, migrations()));
        return connection;
    } catch (const SQLite::Exception &failure) {
        if (!remote.empty() && failure.getErrorCode() == SQLITE_BUSY)
            return Error(Code::Conflict,
                         "this workspace is on a file system that is not local (" + std::string(remote)
                             + "), where only one Heddle process can use it, and another one does",
                         file.string(), "close the other one, or copy the workspace to a local disk");
        return databaseError(failure, file);
    }
}

/// The shared connections of this process, by file.
struct SharedConnections {
    std::mutex mutex; ///< guards byFile
    std::map<std::string, std::weak_ptr<Connection>> byFile;
};

SharedConnections &sharedConnections()
{
    static SharedConnections shared;
    return shared;
}

} // namespace

Result<std::shared_ptr<Connection>> openConnection(const fs::path &file, const StoreOptions &options)
{
    const std::string remote = options.remoteFileSystem.empty()
        ? std::string(remoteFileSystemName(file.parent_path()))
        : options.remoteFileSystem;
    if (remote.empty())
        return openNew(file, options, remote);
    SharedConnections &shared = sharedConnections();
    const std::lock_guard lock(shared.mutex);
    std::weak_ptr<Connection> &known = shared.byFile[file.string()];
    if (auto connection = known.lock())
        return connection;
    HEDDLE_TRY(std::shared_ptr<Connection> connection, openNew(file, options, remote));
    known = connection;
    return connection;
}

Error databaseError(const SQLite::Exception &failure, const fs::path &file)
{
    const std::string where = file.string();
    const std::string text = failure.getErrorStr();
    switch (failure.getErrorCode() & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return Error(Code::Conflict, "another process kept the workspace's database locked for too long",
                     where, "try again; if it stays so, close the other Heddle");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return Error(Code::Io, "the workspace's database is damaged (" + text + "); nothing was changed",
                     where,
                     "copy the folder, then try: sqlite3 " + file.filename().string()
                         + " .recover | sqlite3 recovered.db");
    case SQLITE_FULL:
        return Error(Code::Io, "the disk is full; nothing was written", where, "free some disk space");
    case SQLITE_TOOBIG:
        return Error(Code::InvalidInput, "this is too large for the database", where,
                     "store it as a blob and name its digest");
    case SQLITE_CONSTRAINT: return Error(Code::Internal, "a row breaks a rule of the schema: " + text, where);
    default: return Error(Code::Io, "the workspace's database can't be used: " + text, where);
    }
}

WriteTransaction::WriteTransaction(SQLite::Database &database) : m_database(database)
{
    m_database.exec("BEGIN IMMEDIATE");
}

WriteTransaction::~WriteTransaction()
{
    if (m_isOpen)
        m_database.tryExec("ROLLBACK");
}

void WriteTransaction::commit()
{
    m_database.exec("COMMIT");
    m_isOpen = false;
}

} // namespace heddle
