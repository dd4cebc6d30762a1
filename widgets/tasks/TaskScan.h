// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/Cancel.h"
#include "core/base/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace heddle {

/// A task as the tree shows it.
struct TaskFile {
    std::string path;                   ///< relative to the workspace, '/' between parts
    std::vector<std::string> headFiles; ///< relative to the workspace: what lies in `<stem>.heddle/`
    bool operator==(const TaskFile &) const = default;
};

/// True when the text defines `class Model` at the start of a line, as a task file must.
bool isTaskSource(std::string_view text);

/// The task files below `folder`, sorted; hidden folders, `*.heddle` and links are left out, and so is
/// anything after the first 5000 Python files. Blocking; for an io job. Runs nothing.
Result<std::vector<TaskFile>> scanTasks(const std::filesystem::path &folder, const CancelToken &cancel);
/// The one task of a lone file, with its head's files.
TaskFile loneTask(const std::filesystem::path &folder, const std::filesystem::path &file);

} // namespace heddle
