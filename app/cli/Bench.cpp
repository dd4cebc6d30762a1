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

Json taskRow(const std::string &name, const Json &report, double seconds)
{
    Json row{
        {"task", name}, {"seconds", seconds}, {"class", nullptr}, {"reason", stringOr(report, "reason")}};
    if (!memberOr(report, "candidate").is_object())
        return row;
    row["class"] = stringOr(memberOr(report, "verdict"), "class");
    row["speedup"] = memberOr(memberOr(report, "speedup"), "deployed");
    row["roof_share"] = memberOr(memberOr(report, "roof"), "share");
    return row;
}

std::string rowText(const Json &row)
{
    std::array<char, 320> line{};
    const Json &speedup = memberOr(row, "speedup");
    const bool isJudged = speedup.is_object();
    std::snprintf(
        line.data(), line.size(), "%-28s %-14s %-24s %-24s %-24s %5.1f s\n", stringOr(row, "task").c_str(),
        isJudged ? stringOr(row, "class").c_str() : stringOr(row, "reason").c_str(),
        isJudged ? ratioText(memberOr(speedup, "eager")).c_str() : "",
        isJudged ? ratioText(memberOr(speedup, "compile")).c_str() : "",
        isJudged ? ratioText(memberOr(speedup, "strongest")).c_str() : "", numberOr(row, "seconds", 0.0));
    return line.data();
}

} // namespace

int benchLatency(Context &context)
{
    auto measured = latency(context);
    if (!measured)
        return context.fail(measured.error(), "bench latency");
    const Json &own = memberOr(*measured, "verdict_seconds");
    std::printf("saved source to quick verdict: median %s (min %s, max %s)\nload_inline of the same kernel: "
                "%s\n%.0f times faster\n",
                timeText(numberOr(own, "median", 0)).c_str(), timeText(numberOr(own, "min", 0)).c_str(),
                timeText(numberOr(own, "max", 0)).c_str(),
                timeText(numberOr(*measured, "load_inline_seconds", 0)).c_str(),
                numberOr(*measured, "times_faster", 0));
    const bool isFast = numberOr(*measured, "times_faster", 0) >= 20.0;
    const int written = context.writeJson(std::move(*measured), "bench latency");
    return written != Done ? written : isFast ? Done : NotClean;
}

int benchTasks(Context &context, const fs::path &given, double budgetSeconds)
{
    const fs::path folder = given.empty() ? context.environment().resources / "tasks" : given;
    std::vector<fs::path> tasks;
    std::error_code code;
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
    std::printf("%-28s %-14s %-24s %-24s %-24s\n", "task", "verdict", "vs eager", "vs compile",
                "vs strongest");
    Json rows = Json::array();
    std::vector<double> gains;
    for (const fs::path &task : tasks) {
        const auto start = Clock::now();
        OptimizeOptions options;
        options.budgetSeconds = budgetSeconds;
        auto session = (*workbench)->startSession(task, "builtin");
        if (!session)
            return context.fail(session.error(), "bench tasks");
        auto report = (*workbench)->optimize(*session, options, context.cancel(), context.progress());
        context.clearProgress();
        if (!report)
            return context.fail(report.error(), "bench tasks");
        (void)(*workbench)->endSession(*session, "done", {}).has_value();
        rows.push_back(taskRow(task.stem().string(), *report, secondsSince(start)));
        const double gain = numberOr(memberOr(memberOr(rows.back(), "speedup"), "compile"), "value", 0.0);
        if (gain > 0.0)
            gains.push_back(gain);
        std::fputs(rowText(rows.back()).c_str(), stdout);
        std::fflush(stdout);
    }
    std::printf("geometric mean vs compile over %zu tasks: %.2f×\n", gains.size(), geometricMean(gains));
    return context.writeJson(Json{{"tasks", rows}, {"geomean_vs_compile", geometricMean(gains)}},
                             "bench tasks");
}

} // namespace heddle::cli
