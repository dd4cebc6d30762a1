// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/editor/BufferJournal.h"

#include "core/base/Digest.h"
#include "core/base/File.h"
#include "core/json/Json.h"

#include <algorithm>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

Result<void> BufferJournal::write(const JournalEntry &entry)
{
    HEDDLE_CHECK_OK(makeFolder(m_folder));
    const Json record{{"file", entry.file},
                      {"text", entry.text},
                      {"disk_digest", entry.diskDigest},
                      {"text_digest", sha256Hex(entry.text)}};
    return writeFileAtomically(pathOf(entry.file), compactText(record));
}

Result<void> BufferJournal::remove(const std::string &file)
{
    std::error_code code;
    fs::remove(pathOf(file), code);
    if (code)
        return Error(Code::Io, "cannot remove the copy of unsaved text: " + code.message(),
                     pathOf(file).string());
    return {};
}

std::vector<JournalEntry> BufferJournal::entries() const
{
    std::vector<JournalEntry> found;
    std::error_code code;
    for (fs::directory_iterator file(m_folder, code), end; !code && file != end; file.increment(code)) {
        if (file->path().extension() != ".json")
            continue;
        const Result<std::string> bytes = readFile(file->path(), 64u << 20);
        if (!bytes)
            continue;
        const Result<Json> record = parseJson(*bytes, file->path().string());
        if (!record)
            continue;
        JournalEntry entry{stringOr(*record, "file"), stringOr(*record, "text"),
                           stringOr(*record, "disk_digest")};
        if (!entry.file.empty() && sha256Hex(entry.text) == stringOr(*record, "text_digest"))
            found.push_back(std::move(entry));
    }
    std::sort(found.begin(), found.end(), [](const auto &a, const auto &b) { return a.file < b.file; });
    return found;
}

fs::path BufferJournal::pathOf(const std::string &file) const
{
    return m_folder / (sha256Hex(file).substr(0, 32) + ".json");
}

} // namespace heddle
