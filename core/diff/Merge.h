// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diff/Lines.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Lines that both sides changed differently, in each of the three texts.
struct MergeConflict {
    Range base;
    Range mine;
    Range theirs;
    bool operator==(const MergeConflict &) const = default;
};

struct MergeResult {
    std::string text; ///< the merged text; empty when there are conflicts
    std::vector<MergeConflict> conflicts;
    bool isClean() const { return conflicts.empty(); }
};

/// Three-way merge by lines, as S. Khanna, K. Kunal and B. Pierce, "A Formal Investigation of Diff3" (2007).
/// Changes that overlap or touch and aren't the same are a conflict. `mine` decides on the line ends and the
/// byte-order mark where one side only changed them throughout: a file that the person turned to CRLF still
/// merges, and stays CRLF. Equal sides are returned byte for byte: merge(b, b, t) is t, merge(b, m, b) is m.
MergeResult mergeText(std::string_view base, std::string_view mine, std::string_view theirs);

} // namespace heddle
