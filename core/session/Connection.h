// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/session/Store.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

namespace heddle {

/// One open database. On a local file system each Store has its own. On a remote one SQLite locks the
/// file exclusively, so the Stores of a process share one, and `mutex` keeps their threads apart.
struct Connection {
    Connection(std::filesystem::path file, int flags) : path(std::move(file)), database(path.string(), flags)
    {
    }
    const std::filesystem::path path;
    std::recursive_mutex mutex; ///< guards everything below
    SQLite::Database database;
    std::int64_t commits = 0; ///< made through this connection; PRAGMA data_version skips them
};

/// Opens, checks, and brings the schema up to date. Errors as Store::open().
Result<std::shared_ptr<Connection>> openConnection(const std::filesystem::path &file,
                                                   const StoreOptions &options);

/// An SQLite failure as an Error with a next step.
Error databaseError(const SQLite::Exception &failure, const std::filesystem::path &file);

/// Calls `work(database)` under the lock and turns what SQLiteCpp throws into an Error.
template<typename Work>
auto guarded(Connection &connection, Work &&work) -> decltype(work(connection.database))
{
    const std::lock_guard lock(connection.mutex);
    try {
        return work(connection.database);
    } catch (const SQLite::Exception &failure) {
        return databaseError(failure, connection.path);
    }
}

/// BEGIN IMMEDIATE, rolled back on destruction unless committed. Throws SQLite::Exception.
class WriteTransaction {
public:
    explicit WriteTransaction(SQLite::Database &database);
    WriteTransaction(const WriteTransaction &) = delete;
    WriteTransaction &operator=(const WriteTransaction &) = delete;
    ~WriteTransaction();
    void commit();

private:
    SQLite::Database &m_database;
    bool m_isOpen = true;
};

} // namespace heddle
