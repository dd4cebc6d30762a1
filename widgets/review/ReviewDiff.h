// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/File.h"

#include <QString>

#include <utility>
#include <vector>

namespace heddle {

/// One line of a diff as it is shown.
struct ReviewLine {
    enum class Kind { Context, Removed, Added };
    Kind kind = Kind::Context;
    int oldNumber = 0;                        ///< from 1; 0: not in the old text
    int newNumber = 0;                        ///< from 1; 0: not in the new text
    QString text;                             ///< without its line end
    std::vector<std::pair<int, int>> changed; ///< start and length of what differs from the line it replaces
};

struct ReviewHunk {
    QString file;
    int index = 0; ///< its number in the file's diff, as core/workbench Selection counts
    std::vector<ReviewLine> lines;
    int added = 0;
    int removed = 0;
};

struct ReviewFile {
    QString name;
    bool isNew = false;
    bool isDeleted = false;
    std::vector<ReviewHunk> hunks;
};

/// The diff of two trees in the order of names, with three lines of context; equal files are left out.
std::vector<ReviewFile> reviewDiff(const FileTree &base, const FileTree &proposed);

} // namespace heddle
