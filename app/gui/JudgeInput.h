// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/File.h"
#include "core/base/Result.h"

#include <filesystem>
#include <string>

namespace heddle {

/// Text on screen by absolute path.
using OpenTexts = std::map<std::string, std::string>;

/// What *Judge* judges: a candidate and the task that it replaces.
struct JudgeInput {
    std::string taskPath; ///< relative to the workspace
    FileTree files;
};

/// The task whose head folder (`<stem>.heddle/`) holds the file; empty: none.
std::string taskOfHeadFile(const std::filesystem::path &workspace, const std::filesystem::path &file);

/// Gathers the candidate that `file` belongs to, with what is on screen in place of what is on disk: the head
/// of a task, or a lone `ModelNew` file (judged against `selectedTask`). Blocking; for an io job.
/// Errors: NotFound when there is nothing to judge, with what to do.
Result<JudgeInput> judgeInput(const std::filesystem::path &workspace, const std::filesystem::path &file,
                              const std::string &selectedTask, const OpenTexts &openTexts);

} // namespace heddle
