// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <cstdint>
#include <string>

namespace heddle {

/// A process that no later one can be mistaken for: a pid alone is used again.
struct ProcessIdentity {
    std::int64_t pid = 0;
    std::int64_t startTime = 0; ///< clock ticks after boot, field 22 of /proc/PID/stat
    std::string bootId;
    std::string program; ///< its short name, for sentences

    /// The calling process. Error Environment without /proc.
    static Result<ProcessIdentity> self();
    /// Still there, and neither a zombie nor another process with the same pid.
    bool isAlive() const;
};

} // namespace heddle
