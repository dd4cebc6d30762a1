// SPDX-License-Identifier: Apache-2.0
#include "core/settings/SettingsFile.h"

#include "core/base/File.h"

#include <algorithm>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t LargestFile = 1u << 20;

/// The line, from 1, of each key of the outermost object of valid JSON.
std::map<std::string, int> linesOfKeys(std::string_view text)
{
    std::map<std::string, int> lines;
    int depth = 0;
    int line = 1;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        line += c == '\n' ? 1 : 0;
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        if (c != '"')
            continue;
        const std::size_t start = i++;
        while (i < text.size() && text[i] != '"')
            i += text[i] == '\\' ? 2 : 1;
        const std::size_t next = text.find_first_not_of(" \t\r\n", i + 1);
        if (depth != 1 || next == std::string_view::npos || text[next] != ':')
            continue;
        const auto key = parseJson(text.substr(start, i + 1 - start), "key");
        if (key && key->is_string())
            lines[key->get<std::string>()] = line;
    }
    return lines;
}

Result<Json> parseFile(const std::string &text, const fs::path &path)
{
    HEDDLE_TRY(Json content, parseJson(text, path.string()));
    if (!content.is_object())
        return Error(Code::InvalidInput, "the settings must be a JSON object, as in {\"theme\": \"dark\"}",
                     path.string() + ":1");
    return content;
}

/// The file's object; an empty one where there is no file.
Result<Json> readObject(const fs::path &path, std::string *text = nullptr)
{
    auto bytes = readFile(path, LargestFile);
    if (!bytes && bytes.error().code() == Code::NotFound)
        return Json::object();
    if (!bytes)
        return std::move(bytes).error();
    if (text != nullptr)
        *text = *bytes;
    return parseFile(*bytes, path);
}

} // namespace

SettingsFile readSettingsFile(const fs::path &path, SettingOrigin origin)
{
    SettingsFile file;
    std::string text;
    auto content = readObject(path, &text);
    if (!content) {
        file.problems.push_back(content.error());
        return file;
    }
    const auto lines = linesOfKeys(text);
    for (const auto &[name, value] : content->items()) {
        const auto known = lines.find(name);
        const int line = known == lines.end() ? 1 : known->second;
        if (auto checked = validateSetting(name, value, origin); !checked) {
            const Error &error = checked.error();
            file.problems.emplace_back(error.code(), error.where() + ": " + error.message(),
                                       path.string() + ':' + std::to_string(line), error.next());
            continue;
        }
        file.entries[name] = {value, line};
    }
    // By line, the longer number being the larger: JSON gives the keys in alphabetical order.
    std::stable_sort(file.problems.begin(), file.problems.end(), [](const Error &a, const Error &b) {
        return a.where().size() != b.where().size() ? a.where().size() < b.where().size()
                                                    : a.where() < b.where();
    });
    return file;
}

Result<void> writeSetting(const fs::path &path, SettingOrigin origin, const std::string &name,
                          const Json &value)
{
    if (findSettingKey(name) == nullptr || !value.is_null())
        HEDDLE_CHECK_OK(validateSetting(name, value, origin));
    const fs::path folder = path.parent_path();
    std::error_code code;
    if (fs::is_symlink(fs::symlink_status(folder, code)) && origin == SettingOrigin::Workspace)
        return Error(Code::InvalidInput, "this is a link; Heddle keeps its data in a real folder",
                     folder.string(), "remove or rename it");
    auto content = readObject(path);
    if (!content)
        return content.error().wrapped("the settings can't be changed while the file is broken",
                                       path.string());
    if (value.is_null())
        content->erase(name);
    else
        (*content)[name] = value;
    HEDDLE_CHECK_OK(makeFolder(folder));
    return writeFileAtomically(path, prettyText(*content) + '\n');
}

} // namespace heddle
