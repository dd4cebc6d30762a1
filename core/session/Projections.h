// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/Store.h"

#include <SQLiteCpp/Database.h>

#include <string_view>

namespace heddle {

/// The tables that can be made again from the events. Everything here may throw SQLite::Exception; callers
/// hold the connection's lock.
std::string_view projectionSchema();

/// Changes the projections as this event demands. Depends on the event and the projections alone, so that
/// a replay gives the same rows.
void project(SQLite::Database &database, const Event &event);

/// Empties the projections of `target` and replays the events of `source` into them. They may be the same.
Result<void> rebuildProjections(SQLite::Database &source, SQLite::Database &target);

/// The first row that differs, as Internal.
Result<void> compareProjections(SQLite::Database &expected, SQLite::Database &actual);

/// The policy behind an event: its `policy` member, else the actor, and for "system" the session's.
std::string policyOf(SQLite::Database &database, const Event &event);

} // namespace heddle
