// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/Print.h"

#include "core/base/Places.h"
#include "core/compile/Diagnostic.h"
#include "core/verify/Words.h"
#include "core/workbench/Comparison.h"

#include <algorithm>
#include <cstdio>

namespace heddle::cli {

namespace {

constexpr const char *baselinesTitle = "baselines  (median [its 95 % interval]; undisturbed: without what "
                                       "other programs took, ratios are of these)\n";

std::string padded(std::string text, std::size_t width)
{
    // Count characters, not bytes: "µ" and "×" are two bytes each.
    const auto characters = static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
    if (characters < width)
        text.append(width - characters, ' ');
    return text;
}

std::string millisecondsText(const Json &row)
{
    std::string text = timeText(numberOr(row, "median_ms", -1.0) / 1e3);
    const Json &interval = memberOr(row, "ci_ms");
    if (interval.is_array() && interval.size() == 2 && interval[0].is_number() && interval[1].is_number())
        text += "  [" + timeText(interval[0].get<double>() / 1e3) + ", "
            + timeText(interval[1].get<double>() / 1e3) + "]";
    // See docs/decisions/0013.
    if (memberOr(row, "undisturbed_ms").is_number())
        text += "  undisturbed " + timeText(numberOr(row, "undisturbed_ms", 0.0) / 1e3);
    return text;
}

std::string mark(const std::string &status)
{
    return status == "passed" ? "✓" : status == "failed" ? "✗" : "–";
}

/// `source`: the report, with "baselines" and, for those that were not measured, "skipped".
void addBaselines(std::string &out, const Json &source)
{
    const Json &baselines = memberOr(source, "baselines");
    for (const char *name : {"eager", "compile", "strongest"}) {
        const Json &row = memberOr(baselines, name);
        // Other modes are skipped for what the task is; this one only for what went wrong.
        if (const std::string why = stringOr(memberOr(source, "skipped"), name);
            !row.is_object() && !why.empty())
            out += "  " + padded(name, 26) + "not measured: " + why + '\n';
        if (!row.is_object())
            continue;
        const std::string label =
            stringOr(row, "name").empty() ? name : std::string(name) + " (" + stringOr(row, "name") + ")";
        out += "  " + padded(label, 26) + millisecondsText(row) + '\n';
    }
}

void addRoof(std::string &out, const Json &roof)
{
    if (!roof.is_object())
        return;
    out += "  " + padded("roof (" + stringOr(roof, "bound", "memory") + ")", 26)
        + timeText(numberOr(roof, "ms", -1.0) / 1e3);
    if (const double share = numberOr(roof, "share", -1.0); share >= 0.0)
        out += "  reached: " + std::to_string(static_cast<int>(share * 100.0 + 0.5)) + " %"
            + (share < 1.005 ? "" : " (the roof itself was measured at a busier moment)");
    out += '\n';
}

void addSpeedups(std::string &out, const Json &speedups, const char *title)
{
    if (!speedups.is_object())
        return;
    out += std::string(title) + '\n';
    for (const char *name : {"eager", "compile", "strongest"}) {
        if (memberOr(speedups, name).is_object())
            out += "  " + padded(std::string("vs ") + name, 26) + ratioText(speedups[name]) + '\n';
    }
}

} // namespace

std::string lintText(const Json &lint)
{
    if (!lint.is_array() || lint.empty())
        return "lint: nothing found\n";
    std::string out = "lint\n";
    for (const Json &finding : lint)
        out += "  " + padded(stringOr(finding, "severity"), 9) + padded(stringOr(finding, "id"), 22)
            + stringOr(finding, "message") + '\n';
    return out;
}

std::string baselineText(const Json &baseline)
{
    std::string out = baselinesTitle;
    addBaselines(out, baseline);
    addRoof(out, memberOr(baseline, "roof"));
    const Json &operators = memberOr(baseline, "operators");
    if (operators.is_array() && !operators.empty()) {
        out += "operators by time\n";
        for (const Json &row : operators) {
            const int share = static_cast<int>(numberOr(row, "share", 0.0) * 100.0 + 0.5);
            out += "  " + padded(stringOr(row, "name"), 40)
                + padded(timeText(numberOr(row, "self_ms", 0.0) / 1e3), 12) + std::to_string(share) + " %\n";
        }
    }
    return out;
}

std::string reportText(const Json &report, bool verbose)
{
    std::string out;
    const Json &task = memberOr(report, "task");
    if (task.is_object())
        out += "task  " + stringOr(task, "name") + "  (" + stringOr(task, "path") + ")\n";
    const Json &candidate = memberOr(report, "candidate");
    if (!candidate.is_object())
        return out + "no candidate (" + stringOr(report, "reason", "none was made") + ")"
            + (stringOr(report, "message").empty() ? std::string() : ": " + stringOr(report, "message"))
            + '\n';
    out += baselinesTitle;
    addBaselines(out, report);
    if (memberOr(candidate, "median_ms").is_number())
        out += "  " + padded("candidate", 26) + millisecondsText(candidate) + '\n';
    addRoof(out, memberOr(report, "roof"));
    const Json &speedup = memberOr(report, "speedup");
    addSpeedups(out, memberOr(speedup, "deployed"), "speedup as deployed (the export, timed in PyTorch)");
    addSpeedups(out, memberOr(speedup, "runner"), "speedup in the runner (before it is exported)");
    if (const Json &against = memberOr(report, "against"); against.is_object()) {
        const Json &ratio = memberOr(against, "speedup");
        out += "  " + padded("vs the other candidate", 26)
            + (ratio.is_object() ? ratioText(ratio) : "no ratio: " + stringOr(against, "message")) + '\n';
    }
    for (const Json &row : memberOr(report, "diagnostics"))
        out += "  " + placeText(row) + stringOr(row, "severity") + ": " + stringOr(row, "message") + '\n';
    const Json &verdict = memberOr(report, "verdict");
    out += "verdict  " + classText(stringOr(verdict, "class")) + "  (" + stringOr(report, "stage") + ", "
        + rewardText(memberOr(report, "reward")) + toleranceText(report) + ")\n";
    // After the first failure the other checks are not reached: one line says so for all of them.
    int unreached = 0;
    for (const Json &row : memberOr(verdict, "evidence")) {
        const std::string status = stringOr(row, "status");
        const std::string message = stringOr(row, "message");
        if (!verbose && message.rfind("not reached", 0) == 0)
            ++unreached;
        else if (verbose || status != "passed")
            out += "  " + mark(status) + ' ' + padded(stringOr(row, "id"), 20) + message + '\n';
    }
    if (unreached > 0)
        out += "  – " + std::to_string(unreached) + " more checks were not reached (--verbose lists them)\n";
    return out;
}

std::string toleranceText(const Json &report)
{
    const Json &tolerance = memberOr(memberOr(report, "flags"), "tolerance");
    return tolerance.is_number() ? ", tolerance " + compactText(tolerance) : std::string();
}

std::string reasonInEvidence(const Result<std::vector<Event>> &events)
{
    if (!events)
        return {};
    const Json *report = nullptr;
    for (const Event &event : *events) {
        if (event.type != "judged")
            continue;
        const bool isConfirmed = stringOr(event.data, "stage") == "confirmed";
        const bool hasConfirmed = report != nullptr && stringOr(*report, "stage") == "confirmed";
        if (isConfirmed || !hasConfirmed)
            report = &memberOr(event.data, "report");
    }
    if (report == nullptr)
        return {};
    const std::string verdict = stringOr(memberOr(*report, "verdict"), "class");
    if (verdict != "clean")
        return "its last candidate: " + classText(verdict) + '\n';
    const std::string reason = reasonNotTimed(*report);
    if (reason.empty())
        return {};
    return "its last candidate is right, but its times do not count: " + reason
        + "\n  next: let other programs end, see " + commandLineName()
        + " doctor --noise, and run it again\n";
}

std::string doctorText(const Json &doctor)
{
    std::string out;
    for (const Json &row : memberOr(doctor, "rows")) {
        const bool isThere = !stringOr(row, "found").empty();
        const bool isOk = boolOr(row, "ok", false);
        out += "  "
            + mark(!isOk         ? "failed"
                       : isThere ? "passed"
                                 : "not run")
            + ' ' + padded(stringOr(row, "id"), 20) + stringOr(row, isThere ? "found" : "missing") + '\n';
        if (!(isOk && isThere) && !stringOr(row, "next").empty())
            out += "      next: " + stringOr(row, "next") + '\n';
    }
    return out;
}

} // namespace heddle::cli
