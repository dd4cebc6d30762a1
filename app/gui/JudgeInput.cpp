// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/JudgeInput.h"

#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largestCandidate = 16u << 20;

bool hasModelNew(std::string_view text)
{
    const std::size_t at = text.find("class ModelNew");
    return at != std::string_view::npos && (at == 0 || text[at - 1] == '\n');
}

fs::path headFolderOf(const fs::path &workspace, const std::string &taskPath)
{
    const fs::path file = workspace / taskPath;
    return file.parent_path() / (file.stem().string() + ".heddle");
}

Result<JudgeInput> headOf(const fs::path &workspace, const std::string &taskPath, const OpenTexts &openTexts)
{
    const fs::path folder = headFolderOf(workspace, taskPath);
    std::error_code code;
    if (!fs::is_directory(folder, code))
        return Error(Code::NotFound, "there is no candidate for this task yet", taskPath,
                     "run Optimise, accept a proposal, or open a file with class ModelNew");
    HEDDLE_TRY(FileTree files, readTree(folder, largestCandidate));
    for (const auto &[path, text] : openTexts) {
        const fs::path relative = fs::path(path).lexically_relative(folder);
        if (!relative.empty() && *relative.begin() != ".." && *relative.begin() != ".")
            files[relative.generic_string()] = text;
    }
    if (files.empty())
        return Error(Code::NotFound, "the candidate's folder is empty", folder.string(),
                     "run Optimise first");
    return JudgeInput{taskPath, std::move(files)};
}

} // namespace

std::string taskOfHeadFile(const fs::path &workspace, const fs::path &file)
{
    const fs::path relative = file.lexically_relative(workspace);
    fs::path folder;
    for (const fs::path &part : relative.parent_path()) {
        if (part == "..")
            return {};
        if (part.extension() == ".heddle")
            return (folder / part.stem()).generic_string() + ".py";
        folder /= part;
    }
    return {};
}

Result<JudgeInput> judgeInput(const fs::path &workspace, const fs::path &file,
                              const std::string &selectedTask, const OpenTexts &openTexts)
{
    if (const std::string task = taskOfHeadFile(workspace, file); !task.empty())
        return headOf(workspace, task, openTexts);
    if (file.extension() == ".py") {
        const auto open = openTexts.find(file.string());
        std::string text = open != openTexts.end() ? open->second : std::string();
        if (open == openTexts.end()) {
            HEDDLE_TRY(text, readFile(file, largestCandidate));
        }
        if (hasModelNew(text)) {
            if (selectedTask.empty())
                return Error(Code::NotFound, "this ModelNew has no task to be judged against", file.string(),
                             "select its task in the list at the left");
            return JudgeInput{selectedTask, {{"model_new.py", std::move(text)}}};
        }
    }
    if (selectedTask.empty())
        return Error(Code::NotFound, "no task is selected", {}, "select a task in the list at the left");
    return headOf(workspace, selectedTask, openTexts);
}

} // namespace heddle
