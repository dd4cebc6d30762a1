// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diff/Lines.h"

#include <span>
#include <vector>

namespace heddle {

/// `before` was replaced by `after`; either may be empty.
struct Change {
    Range before;
    Range after;
    bool operator==(const Change &) const = default;
};

/// The changes that turn `before` into `after`, in order, never touching one another.
///
/// Items that occur once on both sides are matched first (patience diff, B. Cohen); the gaps are compared
/// with the linear-space greedy algorithm of E. Myers, "An O(ND) Difference Algorithm and Its Variations"
/// (1986), which gives up optimality when a gap has more than a few hundred differences. So 20000 lines take
/// milliseconds, whatever is in them. The numbers are those of one Interner.
std::vector<Change> diffSequences(std::span<const int> before, std::span<const int> after);

} // namespace heddle
