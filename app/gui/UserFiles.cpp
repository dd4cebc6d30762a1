// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/UserFiles.h"

#include "core/base/Digest.h"
#include "core/base/File.h"
#include "core/json/Json.h"

#include <algorithm>
#include <system_error>

namespace heddle::userFiles {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t mostRecent = 12;
constexpr std::uint64_t largestList = 64u << 10;

std::vector<std::string> readList(const fs::path &file)
{
    std::vector<std::string> list;
    const Result<std::string> text = readFile(file, largestList);
    if (!text)
        return list;
    const Result<Json> array = parseJson(*text, file.string());
    if (!array || !array->is_array())
        return list;
    for (const Json &entry : *array) {
        if (entry.is_string())
            list.push_back(entry.get<std::string>());
    }
    return list;
}

Result<void> writeList(const fs::path &file, const std::vector<std::string> &list)
{
    HEDDLE_CHECK_OK(makeFolder(file.parent_path()));
    return writeFileAtomically(file, prettyText(Json(list)) + '\n');
}

std::string canonicalText(const fs::path &path)
{
    std::error_code code;
    const fs::path canonical = fs::weakly_canonical(path, code);
    return (code ? path : canonical).string();
}

fs::path trustFile() { return configFolder() / "trusted-folders.json"; }

} // namespace

std::vector<std::string> recent() { return readList(stateFolder() / "recent.json"); }

Result<void> addRecent(const fs::path &path)
{
    std::vector<std::string> list = recent();
    const std::string name = canonicalText(path);
    std::erase(list, name);
    list.insert(list.begin(), name);
    list.resize(std::min(list.size(), mostRecent));
    return writeList(stateFolder() / "recent.json", list);
}

bool isTrusted(const fs::path &folder)
{
    const std::vector<std::string> list = readList(trustFile());
    return std::find(list.begin(), list.end(), canonicalText(folder)) != list.end();
}

Result<void> trust(const fs::path &folder)
{
    std::vector<std::string> list = readList(trustFile());
    const std::string name = canonicalText(folder);
    if (std::find(list.begin(), list.end(), name) != list.end())
        return {};
    list.push_back(name);
    return writeList(trustFile(), list);
}

fs::path journalFolder(const fs::path &workspace)
{
    return stateFolder() / "journal" / sha256Hex(canonicalText(workspace)).substr(0, 24);
}

Result<fs::path> sampleCopy(const fs::path &sample)
{
    const fs::path folder = stateFolder() / "samples" / sample.stem();
    const fs::path copy = folder / sample.filename();
    std::error_code code;
    if (fs::exists(copy, code))
        return copy;
    HEDDLE_TRY(const std::string text, readFile(sample, 1u << 20));
    HEDDLE_CHECK_OK(makeFolder(folder));
    HEDDLE_CHECK_OK(writeFileAtomically(copy, text));
    return copy;
}

} // namespace heddle::userFiles
