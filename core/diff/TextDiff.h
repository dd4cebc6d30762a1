// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/diff/SequenceDiff.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Equal lines shown round a change. Changes with at most twice as many between them share a hunk.
constexpr int ContextLines = 3;

enum class DiffLineKind { Context, Removed, Added };

struct DiffLine {
    DiffLineKind kind = DiffLineKind::Context;
    int beforeLine = -1;      ///< zero-based, -1 for an added line
    int afterLine = -1;       ///< zero-based, -1 for a removed line
    std::string text;         ///< with its line end, if it has one
    std::vector<Range> marks; ///< bytes that differ from the line it replaces; may be empty
};

/// What a person decides at once. `index` counts from 0 in the order of the text and depends on the two
/// texts alone.
struct Hunk {
    int index = 0;
    Change range;                ///< with its context
    std::vector<Change> changes; ///< without
    std::vector<DiffLine> lines;
};

/// The hunks that turn `before` into `after`; none when they are equal, byte for byte.
std::vector<Hunk> diffText(std::string_view before, std::string_view after);

/// `before` with the hunks of diffText(before, after) that `indices` names. None gives `before`, all give
/// `after`, exactly. Error InvalidInput for an index that isn't there.
Result<std::string> applyHunks(std::string_view before, std::string_view after,
                               const std::vector<int> &indices);

/// In the unified format, for terminals and goldens: "@@ -1,4 +1,5 @@" and lines with ' ', '-' or '+'.
std::string unifiedText(const std::vector<Hunk> &hunks);

} // namespace heddle
