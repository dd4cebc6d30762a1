// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace heddle {

/// Immutable files by the SHA-256 of their bytes, `blobs/ab/cdef…`, and trees as JSON of name → blob,
/// `trees/ab/cdef…`. A name appears only with its whole content, flushed to the disk. Thread-safe: the
/// only state is on the disk.
class BlobStore {
public:
    explicit BlobStore(std::filesystem::path folder) : m_folder(std::move(folder)) {}

    /// Returns the digest. Error Io.
    Result<std::string> putBlob(std::string_view bytes) const;
    /// Errors: NotFound; InvalidInput for a malformed digest; Io where the file no longer matches.
    Result<std::string> blob(const std::string &digest) const;

    /// Returns treeDigest(tree). Error InvalidInput for a name that leaves its folder or isn't UTF-8 text.
    Result<std::string> putTree(const FileTree &tree) const;
    Result<FileTree> tree(const std::string &digest) const;

private:
    std::filesystem::path m_folder;
};

} // namespace heddle
