// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>

namespace heddle {

/// Asks a long operation to stop. Copyable, thread-safe; a default one never fires.
using CancelToken = std::stop_token;
using CancelSource = std::stop_source;

/// One step of a long operation, as shown to a person.
struct Progress {
    std::string phase;      ///< "compiling", "checking correctness", ...
    double fraction = -1.0; ///< 0 to 1, or negative where unknown
    std::string detail;     ///< one short sentence, may be empty
};

/// Receives progress on the thread of the operation. May be empty.
using ProgressSink = std::function<void(const Progress &)>;

} // namespace heddle
