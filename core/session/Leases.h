// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/Connection.h"

#include <memory>
#include <string>

namespace heddle {

/// Writes the caller into the table of leases, or returns Conflict with the living holder's name. The lease
/// keeps the connection open and removes its row on destruction, unless somebody else took it over.
Result<std::unique_ptr<Lease>> takeLease(const std::shared_ptr<Connection> &connection,
                                         const std::string &session);

} // namespace heddle
