// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <string>
#include <vector>

namespace heddle {

/// A program of ours or of the system (never a candidate: those go through core/sandbox). Descriptors are borrowed.
struct ProcessStart {
    std::vector<std::string> arguments;        ///< the program first: a path, or a name to look up in $PATH
    std::vector<std::string> environment = {}; ///< "NAME=value", instead of ours of that name
    int input = -1;                            ///< becomes stdin; -1: /dev/null, as for the two below
    int output = -1;
    int error = -1;
    bool outlivesUs =
        false; ///< in a session of its own, away from our terminal; else only away from its Ctrl-C
};

/// Starts it with no signal blocked and SIGPIPE as usual, whatever this thread blocks or ignores, and reaps it from a thread
/// that sleeps until then. Errors: Environment with the system's reason and the program as its place.
Result<void> startProcess(const ProcessStart &start);

} // namespace heddle
