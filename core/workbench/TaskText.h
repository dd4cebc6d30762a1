// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/json/Json.h"

#include <filesystem>
#include <optional>
#include <string>

namespace heddle {

/// What a verdict is about: the text of a task, with the Python files beside it that it imports.
struct TaskText {
    std::filesystem::path file; ///< absolute
    std::string path;           ///< its key in the store, see taskPathOf()
    std::string source;
    Json siblings = Json::object(); ///< name → text

    /// Two texts with the same digest are one task. `mode` as in Environment.
    std::string digest(const std::string &mode) const;
};

/// The key of a task file in the store of a workspace: relative to it with '/' between parts, or absolute where it lies
/// outside; links and ".." resolved, so that a file has one key. A relative `task` counts from the current folder.
std::string taskPathOf(const std::filesystem::path &workspace, const std::filesystem::path &task);
/// The file that such a key means.
std::filesystem::path taskFileOf(const std::filesystem::path &workspace, const std::string &taskPath);

/// Reads a task; `source` replaces the file's text (unsaved edits). Blocking. Errors: NotFound, Io, InvalidInput (too long).
Result<TaskText> readTask(const std::filesystem::path &workspace, const std::filesystem::path &task,
                          const std::optional<std::string> &source = {});
/// Digest of the task as it is on disk now. Blocking; errors as of readTask().
Result<std::string> presentTaskDigest(const std::filesystem::path &workspace, const std::string &taskPath,
                                      const std::string &mode);

} // namespace heddle
