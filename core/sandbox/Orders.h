// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"
#include "core/sandbox/Policy.h"
#include "core/sandbox/Rung.h"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace heddle {

/// Who starts a child: decides how it comes to be another user.
struct Launch {
    Rung rung = Rung::Bubblewrap;
    bool isRoot = false; ///< the worker is root
    uid_t user = 0;      ///< root only: the user (and group) that the child becomes
    pid_t parent = 0;    ///< the process whose death ends the child on the Landlock rung
};

/// What Spawner and heddle-launch agree on for one child: the JSON that heddle-launch obeys.
Json launchOrders(const SandboxPolicy &policy, const Launch &launch);

/// The arguments of bubblewrap up to and including "--": namespaces, mounts, capabilities. Root makes no user namespace,
/// since its child would stay user 0 outside it, whose processes the kernel does not count; heddle-launch keeps just the
/// capabilities that it needs to become another user, and drops them then.
std::vector<std::string> bubblewrapArguments(const SandboxPolicy &policy, bool isRoot,
                                             const std::filesystem::path &bubblewrap,
                                             const std::filesystem::path &launcher);

/// The whole environment of the child. On the rung `None` HEDDLE_UNSANDBOXED=1 tells the inner walls (Enter.h) that they
/// may be missing.
std::vector<std::string> childEnvironment(const SandboxPolicy &policy, Rung rung);

/// Checks paths before anything is started. Errors: InvalidInput naming the path.
Result<void> checkPolicy(const SandboxPolicy &policy);

} // namespace heddle
