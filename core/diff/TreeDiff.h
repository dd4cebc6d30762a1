// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/diff/TextDiff.h"

#include <string>
#include <utility>
#include <vector>

namespace heddle {

enum class FileChange { Modified, Added, Removed };

/// A file that differs between two trees. A file that is added or removed is one hunk with index 0, even
/// when it is empty.
struct FileDiff {
    std::string name;
    FileChange change = FileChange::Modified;
    bool isBinary = false; ///< has a NUL byte: not for reading
    std::vector<Hunk> hunks;
};

/// The files that differ, by name.
std::vector<FileDiff> diffTrees(const FileTree &before, const FileTree &after);

/// What of a diff to take: whole files, and single hunks as (file, index). Both empty: everything.
struct TreeSelection {
    std::vector<std::string> files;
    std::vector<std::pair<std::string, int>> hunks;
};

/// `before` with the selected part of diffTrees(before, after). Error InvalidInput for a file that doesn't
/// differ or a hunk that isn't there.
Result<FileTree> applySelection(const FileTree &before, const FileTree &after,
                                const TreeSelection &selection);

} // namespace heddle
