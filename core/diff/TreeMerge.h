// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/diff/Merge.h"

#include <string>
#include <vector>

namespace heddle {

/// A file that could not be merged. `conflicts` is empty when one side removed what the other changed, or
/// both added it differently.
struct FileConflict {
    std::string name;
    std::string reason; ///< a sentence for a person
    std::vector<MergeConflict> conflicts;
};

struct TreeMerge {
    FileTree tree; ///< complete only when there is no conflict
    std::vector<FileConflict> conflicts;
    bool isClean() const { return conflicts.empty(); }
};

/// mergeText() for each file that any of the three has.
TreeMerge mergeTrees(const FileTree &base, const FileTree &mine, const FileTree &theirs);

} // namespace heddle
