// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// The rungs of the sandbox ladder, strongest first.
enum class Rung {
    Bubblewrap, ///< own namespaces by bubblewrap, then Landlock and seccomp
    Landlock,   ///< another user where we are root, own namespaces where possible, Landlock and seccomp
    None,       ///< nothing holds: children are refused, unless the person asked to go without (Spawner.h)
};

/// "bubblewrap", "landlock" or "none".
std::string_view rungName(Rung rung);

/// Which rung holds here, and why the stronger ones do not.
struct RungReport {
    Rung rung = Rung::None;
    int landlockAbi = 0;              ///< 0: the kernel has no Landlock
    std::vector<std::string> reasons; ///< one sentence for each rung above the one that holds
};

/// Tries each rung for real (starts /bin/true in it); takes some 20 ms, keep the answer. HEDDLE_SANDBOX=landlock
/// leaves bubblewrap out, for tests and for machines where it misbehaves; it can never pick `None`.
RungReport probeRung();

} // namespace heddle
