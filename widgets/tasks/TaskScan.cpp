// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/TaskScan.h"

#include "core/base/File.h"

#include <algorithm>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largestTask = 1u << 20;
constexpr int mostFiles = 5000;
constexpr int deepest = 6;

bool isNameByte(char byte)
{
    return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z')
        || (byte >= 'A' && byte <= 'Z');
}

std::vector<std::string> headFilesOf(const fs::path &folder, const fs::path &task)
{
    std::vector<std::string> files;
    fs::path head = task.parent_path() / task.stem();
    head += ".heddle";
    std::error_code code;
    for (fs::directory_iterator entry(head, code), end; !code && entry != end; entry.increment(code)) {
        const std::string name = entry->path().filename().string();
        if (entry->is_regular_file(code) && !name.empty() && name.front() != '.')
            files.push_back(entry->path().lexically_relative(folder).generic_string());
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

bool isTaskSource(std::string_view text)
{
    constexpr std::string_view head = "class Model";
    for (std::size_t at = text.find(head); at != std::string_view::npos; at = text.find(head, at + 1)) {
        const bool isLineStart = at == 0 || text[at - 1] == '\n';
        const std::size_t after = at + head.size();
        if (isLineStart && (after == text.size() || !isNameByte(text[after])))
            return true;
    }
    return false;
}

TaskFile loneTask(const fs::path &folder, const fs::path &file)
{
    return {file.lexically_relative(folder).generic_string(), headFilesOf(folder, file)};
}

Result<std::vector<TaskFile>> scanTasks(const fs::path &folder, const CancelToken &cancel)
{
    std::vector<TaskFile> tasks;
    std::error_code code;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, code);
    if (code)
        return Error(Code::NotFound, "cannot list the folder: " + code.message(), folder.string());
    int files = 0;
    for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
        if (cancel.stop_requested())
            return Error(Code::Cancelled, "the search for tasks was stopped", folder.string());
        const fs::path &path = entry->path();
        const std::string name = path.filename().string();
        std::error_code ignored;
        if (entry->is_directory(ignored)) {
            if (name.starts_with('.') || name.ends_with(".heddle") || name == "__pycache__"
                || entry.depth() >= deepest)
                entry.disable_recursion_pending();
            continue;
        }
        if (path.extension() != ".py" || name.starts_with('.') || !entry->is_regular_file(ignored))
            continue;
        if (++files > mostFiles)
            break;
        const Result<std::string> text = readFile(path, largestTask);
        if (text && isTaskSource(*text))
            tasks.push_back(loneTask(folder, path));
    }
    std::sort(tasks.begin(), tasks.end(),
              [](const TaskFile &a, const TaskFile &b) { return a.path < b.path; });
    return tasks;
}

} // namespace heddle
