// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"

#include <filesystem>

namespace heddle {

/// A head folder as it was read once: what is merged and what is written over are the same reading. Blocking.
struct HeadFiles {
    std::filesystem::path folder;
    FileTree onDisk;  ///< empty where there is no such folder yet
    FileTree present; ///< what is on screen where it is open, else what is on disk

    /// `openBuffers`: text on screen by path below the folder. Errors as of readTree().
    static Result<HeadFiles> read(const std::filesystem::path &folder, const FileTree &openBuffers);

    /// Makes the folder hold exactly the wanted files. Compared with the disk, not with what is on screen: an unsaved edit
    /// that the merge kept must be written, too. Errors: Conflict, and nothing is written, where somebody saved since the
    /// reading, because what was merged does not know that text; Io.
    Result<void> replaceBy(const FileTree &wanted) const;
};

} // namespace heddle
