// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/ProgressLines.h"

#include "core/settings/Settings.h"
#include "core/workbench/Workbench.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace heddle::cli {

/// Exit codes of the command-line contract (docs/architecture/overview.md).
enum ExitCode { Done = 0, EnvironmentFailed = 1, BadInput = 2, NotClean = 3, NoCandidate = 4 };

/// The options that every command takes.
struct Options {
    std::filesystem::path json;
    std::filesystem::path workspace;
    bool quiet = false;
    bool verbose = false;
    std::map<std::string, std::string> settings; ///< flags that are settings (core/settings), as typed
};

/// What a command needs: the options, a workbench made on demand, progress on stderr, Ctrl-C.
class Context {
public:
    explicit Context(Options options) : m_options(std::move(options)) {}

    const Options &options() const { return m_options; }
    /// Reads the settings that count for `workspace`: flags over files over defaults. Errors: InvalidInput for a flag.
    Result<void> loadSettings(const std::filesystem::path &workspace);
    const Settings &settings() const { return m_settings; }
    Environment environment() const;
    std::string target() const { return m_settings.text("target"); }
    /// The workbench of the workspace that `task` belongs to; without a task, of the current folder. A folder that
    /// --workspace names is made. Errors: NotFound or InvalidInput where there is no such task.
    Result<Workbench *> workbench(const std::filesystem::path &task = {});
    /// The workbench of a workspace in which something was done before: looking at one makes nothing on disk.
    /// Errors: NotFound.
    Result<Workbench *> existingWorkbench();
    const CancelToken &cancel() const;
    /// On a terminal one line that is written over, else plain lines now and then; nothing with --quiet.
    ProgressSink progress();
    void clearProgress();

    /// Text for a person on standard output: nothing with --quiet, nor with "--json -", where the report has it alone.
    void say(const std::string &text) const;
    /// Prints the error and returns the exit code that fits it: for what failed after something was done.
    int tell(const Error &error, std::string_view command);
    /// tell(), for a command that did nothing: --json is the error.
    int fail(const Error &error, std::string_view command);
    /// Writes --json if given. Returns Done or EnvironmentFailed.
    int writeJson(Json report, std::string_view command);

private:
    Result<std::filesystem::path> workspaceOf(const std::filesystem::path &task) const;
    Result<Workbench *> open(const std::filesystem::path &workspace);

    Options m_options;
    Settings m_settings;
    std::unique_ptr<Workbench> m_workbench;
    bool m_progressShown = false;
    std::unique_ptr<ProgressLines> m_lines; ///< made where stderr is no terminal
};

/// A candidate on disk: a native or work folder, or a ModelNew file.
Result<FileTree> readCandidate(const std::filesystem::path &path);

} // namespace heddle::cli
