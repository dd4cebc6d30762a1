// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/Commands.h"
#include "app/cli/Print.h"

#include "core/stats/Interval.h"
#include "core/verify/Evidence.h"
#include "core/verify/Words.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The shipped plan with another constant in a comment: as if the person had just saved it.
FileTree savedAgain(FileTree files, int turn)
{
    for (auto &[name, text] : files) {
        if (name.ends_with(".cpp"))
            text += "// saved " + std::to_string(turn) + " at "
                + std::to_string(Clock::now().time_since_epoch().count()) + '\n';
    }
    return files;
}

/// Seconds that torch.utils.cpp_extension.load_inline takes for the same kernel, in a warm Python process.
Result<double> loadInlineSeconds(const Environment &environment, const fs::path &kernel)
{
    const std::string python = environment.python.empty() ? "python3" : environment.python.string();
    const std::string script = (environment.package / "bench_load_inline.py").string();
    const std::string command = '"' + python + "\" \"" + script + "\" \"" + kernel.string() + "\" \""
        + (environment.resources / "include").string() + '"';
    FILE *pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr)
        return Error(Code::Environment, "Python could not be started", python);
    std::array<char, 256> line{};
    std::string text;
    while (std::fgets(line.data(), line.size(), pipe) != nullptr)
        text += line.data();
    if (::pclose(pipe) != 0)
        return Error(Code::Environment, "load_inline failed", script, "run it by hand to see why");
    HEDDLE_TRY(const Json said, parseJson(text, script));
    return numberOr(said, "seconds", 0.0);
}

Result<Json> latency(Context &context)
{
    HEDDLE_CHECK_OK(context.loadSettings({}));
    const Environment environment = context.environment();
    const fs::path plan = environment.resources / "plans" / "bias_gelu";
    HEDDLE_TRY(const FileTree files, readCandidate(plan / "cpu"));
    HEDDLE_TRY(const TempFolder workspace, TempFolder::create("heddle-bench-"));
    HEDDLE_TRY(std::unique_ptr<Workbench> workbench,
               Workbench::create(environment, workspace.path(), context.target()));
    std::error_code code;
    fs::copy_file(plan / "task.py", workspace.path() / "task.py", code);
    HEDDLE_TRY(const std::string session, workbench->startSession(workspace.path() / "task.py", "person"));
    std::vector<double> seconds;
    constexpr int turns = 11;
    for (int turn = 0; turn < turns; ++turn) {
        const FileTree saved = savedAgain(files, turn);
        const auto start = Clock::now();
        HEDDLE_TRY(const Json report, workbench->judge(session, saved, {}, context.cancel(), {}));
        const double took = secondsSince(start);
        const EvidenceSheet sheet =
            EvidenceSheet::fromJson(memberOr(memberOr(report, "verdict"), "evidence"));
        if (const auto missing = sheet.missing("quick"); !missing.empty())
            return Error(Code::Internal, "the verdict lacks the row " + missing.front(), "bench latency");
        if (sheet.verdict() != VerdictClass::Clean)
            return Error(Code::Internal,
                         "the benchmark's own candidate is not clean: " + compactText(sheet.toJson()),
                         "bench latency");
        // The first pays for baselines and for starting everything.
        if (turn > 0)
            seconds.push_back(took);
    }
    HEDDLE_CHECK_OK(workbench->endSession(session, "done"));
    HEDDLE_TRY(const double inlineSeconds, loadInlineSeconds(environment, plan / "cpu" / "kernel.cpp"));
    const double own = median(seconds);
    return Json{{"turns", seconds.size()},
                {"verdict_seconds",
                 {{"median", own}, {"min", quantile(seconds, 0.0)}, {"max", quantile(seconds, 1.0)}}},
                {"load_inline_seconds", inlineSeconds},
                {"times_faster", inlineSeconds / own}};
}

Json taskRow(const std::string &name, const Result<Json> &outcome, double seconds)
{
    Json row{{"task", name}, {"seconds", seconds}, {"class", nullptr}, {"reason", "error"}};
    if (!outcome) {
        row["error"] = toJson(outcome.error());
        return row;
    }
    const Json &report = *outcome;
    row["reason"] = stringOr(report, "reason");
    if (!memberOr(report, "candidate").is_object())
        return row;
    row["class"] = stringOr(memberOr(report, "verdict"), "class");
    row["speedup"] = memberOr(memberOr(report, "speedup"), "deployed");
    row["roof_share"] = memberOr(memberOr(report, "roof"), "share");
    return row;
}

std::string fixedText(double value, int digits)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

/// The columns of the table but the last, which is the time.
std::string lineText(const std::array<std::string, 5> &columns)
{
    std::array<char, 320> line{};
    std::snprintf(line.data(), line.size(), "%-28s %-14s %-24s %-24s %-24s", columns[0].c_str(),
                  columns[1].c_str(), columns[2].c_str(), columns[3].c_str(), columns[4].c_str());
    return line.data();
}

std::string rowText(const Json &row)
{
    const Json &speedup = memberOr(row, "speedup");
    const auto ratio = [&](const char *side) {
        return speedup.is_object() ? ratioText(memberOr(speedup, side)) : std::string();
    };
    std::string text =
        lineText({stringOr(row, "task"), stringOr(row, speedup.is_object() ? "class" : "reason"),
                  ratio("eager"), ratio("compile"), ratio("strongest")})
        + ' ' + fixedText(numberOr(row, "seconds", 0.0), 1) + " s\n";
    if (memberOr(row, "error").is_object()) {
        std::string why = errorFromJson(row["error"]).text();
        for (std::size_t at = why.find('\n'); at != std::string::npos; at = why.find('\n', at + 5))
            why.replace(at, 1, "\n    ");
        text += "    " + why + '\n';
    }
    return text;
}

/// One task from its session's start to its end. A task that errs is its own row, not the end of the table.
Result<Json> benchTask(Context &context, Workbench &workbench, const fs::path &task, double budgetSeconds)
{
    OptimizeOptions options;
    options.budgetSeconds = budgetSeconds;
    HEDDLE_TRY(const std::string session, workbench.startSession(task, "builtin"));
    auto report = workbench.optimize(session, options, context.cancel(), context.progress());
    context.clearProgress();
    const std::string reason = report ? "done" : context.cancel().stop_requested() ? "cancelled" : "failed";
    HEDDLE_CHECK_OK(workbench.endSession(session, reason, report ? std::string() : report.error().text()));
    return report;
}

} // namespace

int benchLatency(Context &context)
{
    auto measured = latency(context);
    if (!measured)
        return context.fail(measured.error(), "bench latency");
    const Json &own = memberOr(*measured, "verdict_seconds");
    const auto seconds = [](const Json &object, const char *key) {
        return timeText(numberOr(object, key, 0));
    };
    context.say("saved source to quick verdict: median " + seconds(own, "median") + " (min "
                + seconds(own, "min") + ", max " + seconds(own, "max")
                + ")\nload_inline of the same kernel: " + seconds(*measured, "load_inline_seconds") + '\n'
                + fixedText(numberOr(*measured, "times_faster", 0), 0) + " times faster\n");
    const bool isFast = numberOr(*measured, "times_faster", 0) >= 20.0;
    const int written = context.writeJson(std::move(*measured), "bench latency");
    return written != Done ? written : isFast ? Done : NotClean;
}

int benchTasks(Context &context, const fs::path &given, double budgetSeconds)
{
    const fs::path folder = given.empty() ? context.environment().resources / "tasks" : given;
    std::vector<fs::path> tasks;
    std::error_code code;
    if (!fs::is_directory(folder, code))
        return context.fail(Error(Code::NotFound, "there is no such folder", folder.string(),
                                  "give a folder of tasks, or none for the shipped ones"),
                            "bench tasks");
    for (const fs::directory_entry &entry : fs::directory_iterator(folder, code)) {
        if (entry.path().extension() == ".py")
            tasks.push_back(entry.path());
    }
    if (tasks.empty())
        return context.fail(Error(Code::InvalidInput, "the folder holds no task", folder.string()),
                            "bench tasks");
    std::sort(tasks.begin(), tasks.end());
    if (auto loaded = context.loadSettings({}); !loaded)
        return context.fail(loaded.error(), "bench tasks");
    auto workspace = TempFolder::create("heddle-bench-");
    if (!workspace)
        return context.fail(workspace.error(), "bench tasks");
    auto workbench = Workbench::create(context.environment(), workspace->path(), context.target());
    if (!workbench)
        return context.fail(workbench.error(), "bench tasks");
    context.say(lineText({"task", "verdict", "vs eager", "vs compile", "vs strongest"}) + '\n');
    Json rows = Json::array();
    std::vector<double> gains;
    int failures = 0;
    for (const fs::path &task : tasks) {
        const auto start = Clock::now();
        const auto report = benchTask(context, **workbench, task, budgetSeconds);
        if (!report && context.cancel().stop_requested())
            return context.fail(report.error(), "bench tasks");
        failures += report ? 0 : 1;
        rows.push_back(taskRow(task.stem().string(), report, secondsSince(start)));
        const double gain = numberOr(memberOr(memberOr(rows.back(), "speedup"), "compile"), "value", 0.0);
        if (gain > 0.0)
            gains.push_back(gain);
        context.say(rowText(rows.back()));
    }
    Json report{{"tasks", rows}, {"geomean_vs_compile", nullptr}, {"failures", failures}};
    if (!gains.empty()) {
        report["geomean_vs_compile"] = geometricMean(gains);
        context.say("geometric mean vs compile over " + std::to_string(gains.size())
                    + " tasks: " + fixedText(geometricMean(gains), 2) + "×\n");
    }
    if (failures > 0)
        context.say(std::to_string(failures) + " of " + std::to_string(tasks.size())
                    + " tasks ended with an error\n");
    const int written = context.writeJson(std::move(report), "bench tasks");
    return written != Done ? written : failures > 0 ? EnvironmentFailed : Done;
}

} // namespace heddle::cli
