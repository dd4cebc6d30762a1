// SPDX-License-Identifier: Apache-2.0
#include "core/compile/ArtefactCache.h"

#include "core/base/Digest.h"
#include "core/base/File.h"

#include <system_error>

namespace heddle {

namespace {

constexpr std::size_t digestLength = 64;

} // namespace

std::filesystem::path ArtefactCache::pathOf(const std::string &key) const
{
    return m_folder / key.substr(0, 2) / (key + ".bin");
}

std::optional<std::string> ArtefactCache::load(const std::string &key) const
{
    const auto file = readFile(pathOf(key));
    if (!file)
        return std::nullopt;
    if (file->size() > digestLength + 1 && (*file)[digestLength] == '\n') {
        std::string bytes = file->substr(digestLength + 1);
        if (sha256Hex(bytes) == file->substr(0, digestLength))
            return bytes;
    }
    std::error_code code;
    std::filesystem::remove(pathOf(key), code);
    return std::nullopt;
}

Result<void> ArtefactCache::store(const std::string &key, std::string_view bytes) const
{
    HEDDLE_CHECK_OK(makeFolder(pathOf(key).parent_path()));
    return writeFileAtomically(pathOf(key), sha256Hex(bytes) + '\n' + std::string(bytes));
}

} // namespace heddle
