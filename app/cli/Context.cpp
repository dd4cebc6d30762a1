// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/Context.h"

#include "core/base/File.h"
#include "core/base/Places.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

/// The stop source of Ctrl-C. A signal handler may not call request_stop (it locks), so a thread waits
/// for the signal instead (see installInterrupt).
CancelSource &interruptSource()
{
    static CancelSource source;
    return source;
}

int exitCodeOf(Code code)
{
    switch (code) {
    case Code::InvalidInput:
    case Code::NotFound:
    case Code::TaskFailed:
    case Code::Conflict: return BadInput;
    case Code::NotCovered: return NoCandidate;
    case Code::CompileFailed: return NotClean;
    default: return EnvironmentFailed;
    }
}

/// The tasks of a folder as a remedy: "name one of …".
std::string tasksIn(const fs::path &folder)
{
    std::vector<std::string> names;
    std::error_code code;
    for (const auto &entry : fs::directory_iterator(folder, code))
        if (entry.path().extension() == ".py")
            names.push_back(entry.path().filename().string());
    if (names.empty())
        return "name a Python file that defines Model, get_inputs and get_init_inputs";
    std::sort(names.begin(), names.end());
    std::string text = "name one of its files:";
    for (std::size_t i = 0; i < names.size() && i < 6; ++i)
        text += (i == 0 ? " " : ", ") + names[i];
    return text + (names.size() > 6 ? ", …" : "");
}

/// Said before a workspace is made for it.
Result<void> checkTask(const fs::path &task)
{
    std::error_code code;
    if (fs::is_directory(task, code))
        return Error(Code::InvalidInput, "this is a folder; a task is one file", task.string(),
                     tasksIn(task));
    if (!fs::exists(task, code))
        return Error(Code::NotFound, "there is no such task file", fs::absolute(task, code).string(),
                     "give the path of a Python file that defines Model, get_inputs and get_init_inputs");
    return {};
}

} // namespace

void requestInterrupt() { interruptSource().request_stop(); }

Environment Context::environment() const
{
    Environment environment = Environment::fromProgram();
    if (const std::string python = m_settings.text("python"); !python.empty())
        environment.python = python;
    environment.compiler = m_settings.text("compiler");
    environment.unsandboxed = m_settings.isOn("unsandboxed");
    environment.mode = m_settings.text("mode");
    environment.seed = static_cast<std::uint64_t>(m_settings.integerIfSet("seed").value_or(0));
    return environment;
}

Result<void> Context::loadSettings(const fs::path &workspace)
{
    m_settings = Settings::load(workspace);
    for (const Error &problem : m_settings.problems())
        std::fprintf(stderr, "heddle-cli: %s\n", problem.text().c_str());
    for (const auto &[name, text] : m_options.settings)
        HEDDLE_CHECK_OK(m_settings.setFlag(name, text));
    return {};
}

Result<fs::path> Context::workspaceOf(const fs::path &task) const
{
    std::error_code code;
    if (!task.empty())
        HEDDLE_CHECK_OK(checkTask(task));
    if (!m_options.workspace.empty())
        return fs::absolute(m_options.workspace, code);
    return task.empty() ? fs::current_path(code) : fs::absolute(task, code).parent_path();
}

Result<Workbench *> Context::open(const fs::path &workspace)
{
    HEDDLE_CHECK_OK(loadSettings(workspace));
    HEDDLE_TRY(m_workbench, Workbench::create(environment(), workspace, target()));
    return m_workbench.get();
}

Result<Workbench *> Context::workbench(const fs::path &task)
{
    if (m_workbench)
        return m_workbench.get();
    HEDDLE_TRY(const fs::path workspace, workspaceOf(task));
    if (!m_options.workspace.empty())
        HEDDLE_CHECK_OK(makeFolder(workspace));
    return open(workspace);
}

Result<Workbench *> Context::existingWorkbench()
{
    if (m_workbench)
        return m_workbench.get();
    HEDDLE_TRY(const fs::path workspace, workspaceOf({}));
    std::error_code code;
    if (!fs::is_directory(workspace / ".heddle", code))
        return Error(Code::NotFound, "nothing was done with Heddle in this folder yet", workspace.string(),
                     "name the folder of the tasks by --workspace, or begin with " + commandLineName()
                         + " optimize TASK");
    return open(workspace);
}

const CancelToken &Context::cancel() const
{
    static const CancelToken token = interruptSource().get_token();
    return token;
}

ProgressSink Context::progress()
{
    if (m_options.quiet)
        return {};
    if (::isatty(STDERR_FILENO) == 0) {
        if (!m_lines)
            m_lines = std::make_unique<ProgressLines>(
                [](const std::string &line) { std::fprintf(stderr, "heddle-cli: %s", line.c_str()); });
        return [this](const Progress &step) { m_lines->show(step); };
    }
    return [this](const Progress &step) {
        std::fprintf(stderr, "\r\033[K%.110s", progressText(step).c_str());
        std::fflush(stderr);
        m_progressShown = true;
    };
}

void Context::clearProgress()
{
    if (m_lines)
        m_lines->drop();
    if (std::exchange(m_progressShown, false))
        std::fputs("\r\033[K", stderr);
}

void Context::say(const std::string &text) const
{
    if (m_options.quiet || m_options.json == "-")
        return;
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout); // a table grows by a row in minutes
}

int Context::tell(const Error &error, std::string_view command)
{
    clearProgress();
    std::fprintf(stderr, "heddle-cli %.*s: %s\n", static_cast<int>(command.size()), command.data(),
                 error.text().c_str());
    return exitCodeOf(error.code());
}

int Context::fail(const Error &error, std::string_view command)
{
    const int code = tell(error, command);
    if (!m_options.json.empty())
        writeJson(Json{{"error", toJson(error)}}, command);
    return code;
}

int Context::writeJson(Json report, std::string_view command)
{
    if (m_options.json.empty())
        return Done;
    report["schema"] = 1;
    report["command"] = command;
    if (!report.contains("environment"))
        report["environment"] = Json{{"heddle", HEDDLE_VERSION}};
    const std::string text = prettyText(report) + '\n';
    if (m_options.json == "-") {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return Done;
    }
    if (auto written = writeFileAtomically(m_options.json, text); !written) {
        std::fprintf(stderr, "heddle-cli: cannot write the report: %s\n", written.error().text().c_str());
        return EnvironmentFailed;
    }
    return Done;
}

Result<FileTree> readCandidate(const fs::path &path)
{
    std::error_code code;
    if (fs::is_directory(path, code)) {
        HEDDLE_TRY(FileTree tree, readTree(path));
        if (tree.count("plan.json") == 0 && tree.count("model_new.py") == 0)
            return Error(Code::InvalidInput, "the folder holds neither plan.json nor model_new.py",
                         path.string(),
                         "give a native folder (plan.json and sources), a work folder, or a ModelNew file");
        return tree;
    }
    if (!fs::exists(path, code))
        return Error(Code::NotFound, "there is no such candidate", path.string(),
                     "give a native folder (plan.json and sources), a work folder, or a ModelNew file");
    HEDDLE_TRY(std::string bytes, readFile(path, 16u << 20));
    return FileTree{{"model_new.py", std::move(bytes)}};
}

} // namespace heddle::cli
