// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace heddle {

/// The whole file as bytes. Errors: NotFound, Io; InvalidInput above `maxBytes`.
Result<std::string> readFile(const std::filesystem::path &path, std::uint64_t maxBytes = 1ull << 30);

/// Replaces `path` by a temporary file beside it, fsync and rename: readers see old or new, never half.
Result<void> writeFileAtomically(const std::filesystem::path &path, std::string_view bytes);

/// Creates the folder and its parents. Errors: Io.
Result<void> makeFolder(const std::filesystem::path &path);

/// A candidate's or task's files: relative path with '/' → bytes. Ordered, so that its digest is stable.
using FileTree = std::map<std::string, std::string>;

/// All regular files below `folder`, hidden ones and links left out. Errors: NotFound, Io, InvalidInput
/// when more than `maxBytes` in all.
Result<FileTree> readTree(const std::filesystem::path &folder, std::uint64_t maxBytes = 64ull << 20);

/// Writes every file of the tree below `folder`. Refuses names that leave it (InvalidInput).
Result<void> writeTree(const std::filesystem::path &folder, const FileTree &tree);

/// True for a relative path that stays below its root: no "..", no leading '/', no empty part, no NUL.
bool isSafeRelativePath(std::string_view path);

/// A fresh private folder (mode 0700) under $TMPDIR, removed with its contents on destruction.
class TempFolder {
public:
    static Result<TempFolder> create(std::string_view prefix);
    TempFolder(TempFolder &&other) noexcept;
    TempFolder &operator=(TempFolder &&other) noexcept;
    TempFolder(const TempFolder &) = delete;
    TempFolder &operator=(const TempFolder &) = delete;
    ~TempFolder();
    const std::filesystem::path &path() const { return m_path; }

private:
    explicit TempFolder(std::filesystem::path path);
    std::filesystem::path m_path;
};

/// Where Heddle keeps things: XDG base folders with "heddle" appended, created on first use by the caller.
std::filesystem::path cacheFolder();   ///< $XDG_CACHE_HOME/heddle
std::filesystem::path stateFolder();   ///< $XDG_STATE_HOME/heddle
std::filesystem::path configFolder();  ///< $XDG_CONFIG_HOME/heddle
std::filesystem::path runtimeFolder(); ///< $XDG_RUNTIME_DIR/heddle, else /tmp/heddle-UID

} // namespace heddle
