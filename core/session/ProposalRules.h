// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/Store.h"

#include <SQLiteCpp/Database.h>

#include <string>
#include <vector>

namespace heddle {

/// What the present state of the workspace allows (docs/architecture/events.md, "Proposals, decisions,
/// head"). Called inside the transaction that appends. Throws SQLite::Exception.
/// Errors: NotFound, Conflict, InvalidInput.
Result<void> checkAllowed(SQLite::Database &database, const Event &event);

/// The state that a proposal's decisions give it, those undone left out: "open", "accepted",
/// "accepted_in_part" or "rejected".
std::string stateFromDecisions(SQLite::Database &database, const std::string &proposal);

/// Other open proposals of the same session, policy and item.
std::vector<std::string> otherOpen(SQLite::Database &database, const ProposalRow &proposal);
inline bool hasOtherOpen(SQLite::Database &database, const ProposalRow &proposal)
{
    return !otherOpen(database, proposal).empty();
}

} // namespace heddle
