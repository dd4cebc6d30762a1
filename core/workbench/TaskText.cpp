// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/TaskText.h"

#include "core/base/Digest.h"
#include "core/base/File.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largestTask = 16u << 20;
constexpr std::uint64_t largestSibling = 1u << 20;

/// Texts of the Python files beside `task` that `source` imports by name.
Json importedSiblings(const fs::path &task, const std::string &source)
{
    Json siblings = Json::object();
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string keyword;
        std::string module;
        words >> keyword >> module;
        if (keyword != "import" && keyword != "from")
            continue;
        const auto end = std::find_if(module.begin(), module.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_';
        });
        const std::string name = std::string(module.begin(), end) + ".py";
        if (name == ".py" || name == task.filename() || siblings.contains(name))
            continue;
        if (auto text = readFile(task.parent_path() / name, largestSibling))
            siblings[name] = std::move(*text);
    }
    return siblings;
}

fs::path resolved(const fs::path &path)
{
    std::error_code code;
    return fs::weakly_canonical(fs::absolute(path, code), code);
}

} // namespace

std::string TaskText::digest(const std::string &mode) const
{
    return sha256Hex(source + compactText(siblings) + mode);
}

std::string taskPathOf(const fs::path &workspace, const fs::path &task)
{
    const fs::path file = resolved(task);
    const fs::path relative = file.lexically_relative(resolved(workspace));
    const bool isInside = !relative.empty() && *relative.begin() != "..";
    return isInside ? relative.generic_string() : file.generic_string();
}

fs::path taskFileOf(const fs::path &workspace, const std::string &taskPath)
{
    const fs::path path(taskPath);
    return path.is_absolute() ? path : workspace / path;
}

Result<TaskText> readTask(const fs::path &workspace, const fs::path &task,
                          const std::optional<std::string> &source)
{
    TaskText text;
    text.file = resolved(task);
    auto onDisk = readFile(text.file, largestTask);
    if (!onDisk && onDisk.error().code() == Code::NotFound)
        return Error(Code::NotFound, "there is no such task file", text.file.string(),
                     "give the path of a Python file that defines Model, get_inputs and get_init_inputs");
    if (!onDisk)
        return std::move(onDisk).error();
    text.path = taskPathOf(workspace, text.file);
    text.source = source ? *source : *std::move(onDisk);
    text.siblings = importedSiblings(text.file, text.source);
    return text;
}

Result<std::string> presentTaskDigest(const fs::path &workspace, const std::string &taskPath,
                                      const std::string &mode)
{
    HEDDLE_TRY(const TaskText text, readTask(workspace, taskFileOf(workspace, taskPath)));
    return text.digest(mode);
}

} // namespace heddle
