// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"

#include <string>
#include <vector>

namespace heddle {

/// What a hostile program would try first, given what only the other side knows.
struct WallTargets {
    std::vector<std::string> secretFiles;   ///< outside; must not be readable
    std::vector<std::string> closedFolders; ///< outside; must be neither listed nor written
    std::vector<std::string>
        visible;            ///< what the sandbox does show; not counted when a closed folder is listed
    int processOutside = 0; ///< the oracle's pid as seen from outside
    std::string marker;     ///< in the oracle's environment; must be found in no process's
    std::string listener;   ///< a Unix socket outside that everybody may connect to
    std::string scratch;    ///< must be writable, as the control of the attempts above
};

/// Tries each for real in this process and gives [{"attempt", "held", "detail"}]; `held` is true when the wall stood. The
/// control (writing into scratch) is held when it works. Not destructive: files that it could make it removes.
Json tryWalls(const WallTargets &targets);

} // namespace heddle
