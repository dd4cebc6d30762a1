// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/BuiltinOptimizer.h"

#include "core/optimizer/KernelNames.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace heddle {

namespace {

constexpr const char *itemId = "item-1";
constexpr const char *tuneId = "item-2";
/// Within this share of the roof there is nothing left that tuning could show.
constexpr double roofShare = 0.95;
/// What is left below this share of a roof that was timed beside it is no more than the errors of the two.
constexpr double confirmedRoofShare = 0.9;
constexpr double mostBelievable = 1.25;
/// Seconds that confirming the best candidate may need; tuning stops before them.
constexpr double reserveSeconds = 20.0;
constexpr int mostVariants = 8;
/// Verifying times the kernels in the runner, whose footing is not that of PyTorch's own processes. A candidate
/// that looks up to this much slower than the best baseline is confirmed before it is given up.
constexpr double mostDoubt = 2.0;

std::string number(double value, int digits = 3)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    return text.data();
}

std::string mebibytes(double bytes) { return number(bytes / 1048576.0) + " MiB"; }

Json figure(const std::string &text, double value, const std::string &unit, const Json &event)
{
    return {{"text", text}, {"value", value}, {"unit", unit}, {"event", event}};
}

double medianOf(const Json &timing) { return numberOr(timing, "median_ms", 0.0); }

/// What ratios are formed of (docs/decisions/0013).
double undisturbedOf(const Json &timing) { return numberOr(timing, "undisturbed_ms", medianOf(timing)); }

Result<void> stopIfAsked(Tools &tools)
{
    if (tools.cancel().stop_requested())
        return Error(Code::Cancelled, "The optimiser was asked to stop.", {}, "Start it again to go on.");
    return {};
}

std::string boundaryOf(const FusionPlan &plan)
{
    std::string text;
    for (const Kernel &kernel : plan.kernels)
        text += (text.empty() ? "" : "; ") + operatorList(kernel);
    return text;
}

std::string firstDiagnostic(const Json &compiled)
{
    for (const Json &each : memberOr(compiled, "diagnostics")) {
        if (stringOr(each, "severity") == "error")
            return stringOr(each, "file") + ":" + std::to_string(integerOr(each, "line", 0)) + ": "
                + stringOr(each, "message");
    }
    return "the compiler gave no diagnostic";
}

std::string firstFailure(const Json &report)
{
    for (const Json &row : memberOr(memberOr(report, "verdict"), "evidence")) {
        if (stringOr(row, "status") == "failed")
            return stringOr(row, "id") + ": " + stringOr(row, "message");
    }
    return "no evidence row says why";
}

/// Whether `ms` is at least this share of the roof.
bool reaches(double share, double roofMs, double ms)
{
    if (roofMs <= 0.0 || ms <= 0.0)
        return false;
    // Far above its own roof nothing is: then the roof was measured badly, and stopping there would be wrong.
    return roofMs / ms >= share && roofMs / ms <= mostBelievable;
}

} // namespace

bool BuiltinOptimizer::isAtRoof(double ms) const { return reaches(roofShare, m_baseline.roofMs, ms); }

Result<void> BuiltinOptimizer::readBaseline(Tools &tools)
{
    HEDDLE_TRY(const Json profile, tools.profileBaseline());
    m_baseline.event = memberOr(profile, "event");
    m_baseline.roofMs = numberOr(memberOr(profile, "roof"), "ms", 0.0);
    m_baseline.eagerBytes =
        numberOr(memberOr(profile, "roof"), "bytes_eager", numberOr(profile, "bytes_eager", 0.0));
    Json figures = Json::array();
    std::string text = "Baselines:";
    const Json &baselines = memberOr(profile, "baselines");
    if (baselines.is_object()) {
        for (const auto &[name, timing] : baselines.items()) {
            const double median = medianOf(timing);
            if (median <= 0.0)
                continue;
            text += std::string(figures.empty() ? " " : ", ") + name + " " + number(median) + " ms";
            figures.push_back(figure(name + " " + number(median) + " ms", median, "ms", m_baseline.event));
            if (m_baseline.bestMs <= 0.0 || median < m_baseline.bestMs) {
                m_baseline.bestMs = median;
                m_baseline.bestName = name;
            }
        }
    }
    if (m_baseline.roofMs > 0.0) {
        text += "; the roof of this machine is " + number(m_baseline.roofMs) + " ms";
        figures.push_back(
            figure("roof " + number(m_baseline.roofMs) + " ms", m_baseline.roofMs, "ms", m_baseline.event));
    }
    return tools.note(text + ".", figures);
}

Result<void> BuiltinOptimizer::writePlan(Tools &tools, const FusionPlan &plan)
{
    const auto minimal = static_cast<double>(plan.minimalBytes());
    const auto planned = static_cast<double>(plan.plannedBytes());
    std::string expected =
        "The kernels move " + mebibytes(planned) + "; each tensor once is " + mebibytes(minimal) + ".";
    if (m_baseline.eagerBytes > 0.0)
        expected += " Eager moves " + mebibytes(m_baseline.eagerBytes) + ", "
            + number(m_baseline.eagerBytes / std::max(planned, 1.0), 2) + " times as much.";
    if (m_baseline.roofMs > 0.0 && m_baseline.bestMs > 0.0)
        expected += " At the roof that takes " + number(m_baseline.roofMs) + " ms, against "
            + number(m_baseline.bestMs) + " ms of " + m_baseline.bestName + ": at most "
            + number(m_baseline.bestMs / m_baseline.roofMs, 2) + " times faster.";
    const std::string kernels =
        plan.kernels.size() == 1 ? "one kernel" : std::to_string(plan.kernels.size()) + " kernels";
    std::vector<PlanItem> items{
        {itemId, "Fuse everything into " + kernels, boundaryOf(plan), expected, "working"},
        {tuneId, "Tune chunk, tile and threads", boundaryOf(plan),
         "Only timing tells; kept where the intervals do not overlap.", "open"}};
    HEDDLE_CHECK_OK(tools.writePlan(items));
    Json figures = Json::array();
    figures.push_back(figure(mebibytes(minimal), minimal, "bytes", m_baseline.event));
    return tools.note("Fusion plan:\n" + plan.summary(), figures);
}

Result<std::optional<BuiltinOptimizer::Verified>> BuiltinOptimizer::attempt(Tools &tools,
                                                                            WrittenCandidate candidate,
                                                                            const std::string &parent)
{
    HEDDLE_CHECK_OK(stopIfAsked(tools));
    HEDDLE_TRY(const std::string digest, tools.proposeEdit(candidate.files, parent, itemId));
    HEDDLE_TRY(const Json compiled, tools.compile(digest));
    if (!boolOr(compiled, "ok", false)) {
        HEDDLE_CHECK_OK(tools.note("The candidate does not compile: " + firstDiagnostic(compiled) + "."));
        return std::optional<Verified>();
    }
    HEDDLE_CHECK_OK(stopIfAsked(tools));
    HEDDLE_TRY(const Json report, tools.verify(digest));
    const std::string verdict = stringOr(memberOr(report, "verdict"), "class", "not_judged");
    if (verdict == "not_judged")
        return Error(Code::Environment, "The candidate could not be judged: " + firstFailure(report) + ".",
                     digest, "See `heddle-cli doctor`, then start the optimiser again.");
    if (verdict != "clean") {
        HEDDLE_CHECK_OK(tools.note("The verdict is '" + verdict + "': " + firstFailure(report) + "."));
        return std::optional<Verified>();
    }
    m_bestMs = medianOf(memberOr(report, "candidate"));
    m_bestCi = memberOr(memberOr(report, "candidate"), "ci_ms");
    m_bestEvent = memberOr(report, "event");
    return std::optional(Verified{digest, std::move(candidate), report});
}

/// Tries one tunable after the other, each from the best setting so far. A choice replaces the best only
/// where its interval lies below the best's: two equal variants are not told apart by luck.
Result<void> BuiltinOptimizer::tune(Tools &tools, Verified &best)
{
    std::map<std::string, std::int64_t> chosen;
    for (const auto &[name, tunable] : best.written.tunables)
        chosen[name] = tunable.fallback;
    const auto toJson = [](const std::map<std::string, std::int64_t> &values) {
        Json json = Json::object();
        for (const auto &[name, value] : values)
            json[name] = value;
        return json;
    };
    HEDDLE_TRY(const Json start, tools.benchmark(best.digest, toJson(chosen)));
    double bestMs = medianOf(start);
    Json bestCi = memberOr(start, "ci_ms");
    const double startMs = bestMs;
    const Json startEvent = memberOr(start, "event");
    Json bestEvent = startEvent;
    int tried = 0;
    bool isChanged = false;
    for (const auto &[name, tunable] : best.written.tunables) {
        for (const std::int64_t choice : tunable.choices) {
            if (choice == tunable.fallback || tried >= mostVariants || isAtRoof(bestMs))
                continue;
            HEDDLE_CHECK_OK(stopIfAsked(tools));
            if (tools.secondsLeft() < reserveSeconds) {
                m_ranOutOfTime = true;
                break;
            }
            auto variant = chosen;
            variant[name] = choice;
            HEDDLE_TRY(const Json timing, tools.benchmark(best.digest, toJson(variant)));
            ++tried;
            const Json &interval = memberOr(timing, "ci_ms");
            const bool isFaster = interval.is_array() && bestCi.is_array() && interval.size() == 2
                && bestCi.size() == 2 && interval[1].is_number() && bestCi[0].is_number()
                && interval[1].get<double>() < bestCi[0].get<double>();
            if (!isFaster)
                continue;
            chosen = std::move(variant);
            bestMs = medianOf(timing);
            bestCi = interval;
            bestEvent = memberOr(timing, "event");
            isChanged = true;
        }
    }
    Json figures = Json::array();
    figures.push_back(figure(number(startMs) + " ms", startMs, "ms", startEvent));
    if (!isChanged) {
        const std::string untried = isAtRoof(startMs) ? number(startMs) + " ms is at the roof"
            : m_ranOutOfTime                          ? "the time is up"
                                                      : "this kernel has none";
        HEDDLE_CHECK_OK(tools.note(tried == 0 ? "Tuning: no other setting was tried: " + untried + "."
                                              : "Tuning: none of " + std::to_string(tried)
                                           + " other settings is faster than " + number(startMs)
                                           + " ms beyond the noise.",
                                   figures));
        return tools.updatePlanItem(tuneId, "done", "The defaults stay.");
    }
    std::string settings;
    for (const auto &[name, value] : chosen)
        settings += (settings.empty() ? "" : ", ") + name + " = " + std::to_string(value);
    figures.push_back(figure(number(bestMs) + " ms", bestMs, "ms", bestEvent));
    HEDDLE_CHECK_OK(tools.note("Tuning: " + settings + " takes " + number(bestMs) + " ms instead of "
                                   + number(startMs) + " ms.",
                               figures));
    WrittenCandidate tuned = best.written;
    tuned.files = withDefaults(best.written, chosen);
    for (auto &[name, tunable] : tuned.tunables)
        tunable.fallback = chosen[name];
    HEDDLE_TRY(auto verified, attempt(tools, std::move(tuned), best.digest));
    if (!verified)
        return tools.updatePlanItem(tuneId, "dropped", "The tuned candidate is not clean.");
    best = std::move(*verified);
    return tools.updatePlanItem(tuneId, "done", settings);
}

/// Ends without a proposal; `figures` are those that `message` states.
Result<PolicyOutcome> BuiltinOptimizer::giveUp(Tools &tools, const std::string &reason,
                                               const std::string &message, const Json &figures)
{
    HEDDLE_CHECK_OK(tools.note(message, figures));
    HEDDLE_CHECK_OK(tools.updatePlanItem(itemId, "dropped", message));
    return PolicyOutcome{{}, {}, reason, message};
}

/// What the confirmed report of a candidate that was not proposed says.
Result<PolicyOutcome> BuiltinOptimizer::explainRefusal(Tools &tools, const Json &submitted)
{
    const Json &report = memberOr(submitted, "report");
    const Json &event = memberOr(submitted, "event");
    const std::string verdict = stringOr(memberOr(report, "verdict"), "class", "not_judged");
    if (verdict != "clean")
        return giveUp(tools, "no_candidate",
                      "Confirming the candidate ended with the verdict '" + verdict
                          + "': " + firstFailure(report) + ".",
                      Json::array());
    const double candidateMs = undisturbedOf(memberOr(report, "candidate"));
    const double baselineMs = undisturbedOf(memberOr(memberOr(report, "baselines"), "strongest"));
    Json figures = Json::array();
    std::string text = "Confirmed in PyTorch, the candidate is not faster than the strongest baseline";
    if (candidateMs > 0.0 && baselineMs > 0.0) {
        text += ": " + number(candidateMs) + " ms against " + number(baselineMs) + " ms";
        figures.push_back(figure(number(candidateMs) + " ms", candidateMs, "ms", event));
        figures.push_back(figure(number(baselineMs) + " ms", baselineMs, "ms", event));
    }
    const double roofMs = numberOr(memberOr(report, "roof"), "ms", 0.0);
    if (!reaches(confirmedRoofShare, roofMs, baselineMs))
        return giveUp(tools, "no_candidate", text + "; nothing is proposed.", figures);
    figures.push_back(figure(number(roofMs) + " ms", roofMs, "ms", event));
    return giveUp(tools, "at_roof",
                  text + ". That baseline is at the roof of " + number(roofMs) + " ms: nothing to gain.",
                  figures);
}

Result<PolicyOutcome> BuiltinOptimizer::finish(Tools &tools, const Verified &best)
{
    Json figures = Json::array();
    figures.push_back(figure(number(m_bestMs) + " ms", m_bestMs, "ms", m_bestEvent));
    if (m_baseline.bestMs > 0.0 && m_bestMs > mostDoubt * m_baseline.bestMs) {
        figures.push_back(
            figure(number(m_baseline.bestMs) + " ms", m_baseline.bestMs, "ms", m_baseline.event));
        return giveUp(tools, "no_candidate",
                      "The best candidate takes " + number(m_bestMs) + " ms, " + m_baseline.bestName + " "
                          + number(m_baseline.bestMs) + " ms: nothing is proposed.",
                      figures);
    }
    // No times in these words: they would be of the quick stage, and stand beside those of the confirmed report.
    const std::string summary = "Fuses " + boundaryOf(best.written.plan) + ".";
    HEDDLE_TRY(const Json submitted, tools.submit(best.digest, summary));
    PolicyOutcome outcome;
    outcome.candidate = best.digest;
    outcome.proposal = stringOr(submitted, "proposal", stringOr(submitted, "id"));
    if (outcome.proposal.empty())
        return explainRefusal(tools, submitted);
    outcome.reason = isAtRoof(m_bestMs) ? "at_roof" : m_ranOutOfTime ? "budget" : "done";
    outcome.message = summary;
    HEDDLE_CHECK_OK(tools.updatePlanItem(itemId, "done", summary));
    return outcome;
}

Result<PolicyOutcome> BuiltinOptimizer::run(Tools &tools)
{
    HEDDLE_CHECK_OK(readBaseline(tools));
    if (isAtRoof(m_baseline.bestMs)) {
        const std::string message = m_baseline.bestName + " is at "
            + number(100.0 * m_baseline.roofMs / m_baseline.bestMs) + " % of the roof: nothing to gain.";
        Json figures = Json::array();
        figures.push_back(
            figure(number(m_baseline.bestMs) + " ms", m_baseline.bestMs, "ms", m_baseline.event));
        HEDDLE_CHECK_OK(tools.note(message, figures));
        return PolicyOutcome{{}, {}, "at_roof", message};
    }
    HEDDLE_TRY(const Json graph, tools.graph());
    auto written = candidateForGraph(graph);
    if (!written) {
        HEDDLE_CHECK_OK(tools.note(written.error().message()));
        return written.error();
    }
    HEDDLE_CHECK_OK(writePlan(tools, written->plan));
    HEDDLE_TRY(auto best, attempt(tools, std::move(*written), {}));
    if (!best) {
        HEDDLE_CHECK_OK(
            tools.note("Falling back: each reduction in a kernel of its own, nothing fused across them."));
        HEDDLE_TRY(auto separate, candidateForGraph(graph, FusionMode::Separate));
        HEDDLE_TRY(best, attempt(tools, std::move(separate), {}));
    }
    if (!best) {
        const std::string message = "No candidate of the built-in optimiser is clean.";
        HEDDLE_CHECK_OK(tools.updatePlanItem(itemId, "dropped", message));
        return PolicyOutcome{{}, {}, "no_candidate", message};
    }
    if (isAtRoof(m_bestMs) || best->written.tunables.empty()) {
        HEDDLE_CHECK_OK(tools.updatePlanItem(
            tuneId, "dropped", isAtRoof(m_bestMs) ? "Already at the roof." : "Nothing to tune."));
    } else {
        HEDDLE_CHECK_OK(tune(tools, *best));
    }
    return finish(tools, *best);
}

} // namespace heddle
