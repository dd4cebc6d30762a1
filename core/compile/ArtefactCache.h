// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// Bytes by a content address (64 hex digits), one file each: `<folder>/ab/abcd….bin`. A file holds the digest of its
/// bytes, so that one which was cut or changed is not believed. Thread-safe and safe between processes: files are written
/// beside their place and renamed; two that make the same entry both do it and one wins.
class ArtefactCache {
public:
    explicit ArtefactCache(std::filesystem::path folder) : m_folder(std::move(folder)) {}

    /// The entry, or nothing where there is none or it is damaged (then it is removed).
    std::optional<std::string> load(const std::string &key) const;
    /// Errors: Io.
    Result<void> store(const std::string &key, std::string_view bytes) const;
    std::filesystem::path pathOf(const std::string &key) const;

private:
    std::filesystem::path m_folder;
};

} // namespace heddle
