// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace heddle {

/// Unsaved text that a crash left behind.
struct JournalEntry {
    std::string file;       ///< absolute path of the document
    std::string text;       ///< what was on screen, UTF-8
    std::string diskDigest; ///< SHA-256 of the file when the text was loaded from it
};

/// Keeps the unsaved buffers of one workspace in a folder of the state folder: one file a document,
/// replaced atomically. Plain blocking calls for an io job; not thread-safe, one job at a time.
class BufferJournal {
public:
    /// `folder` is made on the first write.
    explicit BufferJournal(std::filesystem::path folder) : m_folder(std::move(folder)) {}

    Result<void> write(const JournalEntry &entry);
    /// Forgets a document: it was saved or closed on purpose. Missing is fine.
    Result<void> remove(const std::string &file);
    /// Everything that was not removed. A damaged entry is left out and left where it is.
    std::vector<JournalEntry> entries() const;

private:
    std::filesystem::path pathOf(const std::string &file) const;

    std::filesystem::path m_folder;
};

} // namespace heddle
