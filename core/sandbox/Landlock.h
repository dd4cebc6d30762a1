// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <string>
#include <vector>

namespace heddle {

/// The kernel's Landlock version; 0 where there is none.
int landlockAbi();

/// What a thread and its later children keep. Paths that do not exist are left out.
struct LandlockRules {
    bool confinesReads = true;          ///< false: only writes are confined, reads stay as they are
    std::vector<std::string> readOnly;  ///< read and execute, with all below
    std::vector<std::string> readWrite; ///< everything, with all below
    std::vector<std::string>
        writeExisting;         ///< files below may be written and truncated, none made or removed
    bool scopesSignals = true; ///< signals and abstract sockets stay inside (version 6)
};

/// Confines the calling thread for ever: files as above, no TCP (version 4). Sets no_new_privs. Returns the version
/// used. Errors: Environment.
Result<int> enterLandlock(const LandlockRules &rules);

/// Opens /proc/self and leaves it open for as long as the process lives (across exec where `staysOverExec`). A rule is
/// tied to the inode that a path has now, and the kernel gives this folder another one once its cache entry has gone,
/// after which the rule says nothing any more; an open descriptor keeps the entry. Errors: Environment.
Result<void> holdOwnProcFolder(bool staysOverExec);

} // namespace heddle
