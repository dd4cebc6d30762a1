// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <string>
#include <vector>

namespace heddle {

/// SQL by version: entry I brings a database of version I to I + 1 (`PRAGMA user_version`). Entries that are
/// released are never edited. One that changes a projection drops and creates its table; rows come from the
/// events, which migrate() replays.
const std::vector<std::string> &migrations();

/// Refuses another program's database and one that a newer Heddle made (InvalidInput). Writes nothing.
/// Throws SQLite::Exception.
Result<void> checkIsOurs(SQLite::Database &database, const std::filesystem::path &file);

/// Runs what is missing in one transaction, so that a killed migration leaves the old version.
/// Throws SQLite::Exception.
Result<void> migrate(SQLite::Database &database, const std::filesystem::path &file,
                     const std::vector<std::string> &steps);

} // namespace heddle
