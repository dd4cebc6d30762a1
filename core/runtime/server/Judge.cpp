// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Judge.h"

#include "core/base/Digest.h"
#include "core/compile/Diagnostic.h"
#include "core/plan/CandidateFormat.h"
#include "core/runtime/Quiet.h"
#include "core/runtime/server/Confirm.h"
#include "core/runtime/server/Correctness.h"
#include "core/runtime/server/RoofProbe.h"

#include <unistd.h>

#include <chrono>
#include <cmath>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

/// Differences of two fast calls under this, in seconds, are the doorbell's own scatter.
constexpr double shortestRoofLead = 20e-6;
/// The contestant that only moves the task's bytes.
constexpr const char *roofName = "roof";

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace

Json TaskRoof::toJson() const
{
    return {{"ms", seconds * 1e3},
            {"bound", computeSeconds > memorySeconds ? "compute" : "memory"},
            {"memory_ms", memorySeconds * 1e3},
            {"compute_ms", computeSeconds * 1e3},
            {"page_fault_share", pageFaultShare}};
}

namespace {

/// One judgement under way; see judge().
class Judgement {
public:
    Judgement(const JudgeContext &context, const JudgeRequest &request, const CancelToken &cancel,
              const ProgressSink &progress)
        : m_context(context), m_request(request), m_cancel(cancel), m_progress(progress), m_roof(context.roof)
    {
        m_seconds = {{"compile", nullptr}, {"verify", nullptr}, {"benchmark", nullptr}, {"total", nullptr}};
    }

    Result<Json> run()
    {
        const auto start = Clock::now();
        HEDDLE_TRY(m_format, candidateFormat(m_request.files));
        Result<void> done = m_format == "native" ? judgeNative() : judgePython();
        if (!done)
            return std::move(done).error();
        for (const EvidenceRow &row : evidenceRows()) {
            const bool isDemanded = m_request.stage == "confirmed" ? row.inConfirmed : row.inQuick;
            if (isDemanded && m_sheet.find(row.id) == nullptr)
                m_sheet.skip(row.id, "not reached: an earlier check failed");
        }
        m_seconds["total"] = secondsSince(start);
        return report();
    }

private:
    Result<void> judgeNative()
    {
        step("compiling");
        HEDDLE_TRY(const TaskLayout layout, layoutFromJson(m_context.oracle.arena().layout()));
        HEDDLE_TRY(const BuildOutcome build,
                   m_context.builder.build(m_request.files, m_request.tunables, &layout, m_cancel));
        m_seconds["compile"] = build.seconds;
        m_diagnostics = build.diagnostics;
        if (!build.ok) {
            m_sheet.fail("builds", buildSentence(build), {{"diagnostics", build.diagnostics.size()}});
            return {};
        }
        m_sheet.pass("builds",
                     build.wasCached ? "its object was compiled before from the same sources" : "it compiled",
                     {{"seconds", build.seconds}, {"cached", build.wasCached}});
        auto process = m_context.executors.start(build, m_context.oracle.arena(), m_cancel);
        if (!process) {
            if (process.error().code() == Code::Environment || process.error().code() == Code::Cancelled)
                return std::move(process).error();
            m_sheet.fail("ran", process.error().text());
            return {};
        }
        recordSandbox(process->subject.child().report());
        HEDDLE_CHECK_OK(verify(process->subject, nullptr));
        if (m_sheet.verdict() < VerdictClass::Suspicious && m_sheet.verdict() != VerdictClass::NotJudged)
            return {};
        HEDDLE_CHECK_OK(time(process->subject));
        m_sheet.pass(
            "coverage",
            "its own kernels by construction, not measured: a plan has no other steps, and its process has "
            "no PyTorch",
            {{"own", 1.0}, {"measured", false}});
        if (m_request.stage != "confirmed" || m_sheet.verdict() != VerdictClass::Clean)
            return {};
        process->subject.child().kill();
        return confirmExport(build);
    }

    Result<void> judgePython()
    {
        m_sheet.pass("builds", "Python: nothing to compile ahead");
        HEDDLE_TRY(Runner runner, Runner::load(m_context, m_request.files, m_cancel));
        m_runnerError = runner.error();
        if (m_runnerError) {
            m_sheet.fail(m_runnerError->code() == Code::CompileFailed ? "builds" : "ran",
                         m_runnerError->text());
            return {};
        }
        recordSandbox(runner.sandbox());
        recordStateBinding(runner);
        HEDDLE_CHECK_OK(verify(runner.subject(), &runner.binding()));
        if (m_sheet.verdict() < VerdictClass::Suspicious && m_sheet.verdict() != VerdictClass::NotJudged)
            return {};
        HEDDLE_TRY(const bool goesOn, measureCoverage(runner));
        if (!goesOn)
            return {};
        return timeDeployed(runner.subject(), m_request.stage == "confirmed");
    }

    /// False when the candidate failed in it: the finding is in the sheet. Every other failure of the runner here is its
    /// own too; only a cancel is not.
    Result<bool> measureCoverage(Runner &runner)
    {
        const auto coverage = runner.coverage(m_cancel);
        if (coverage) {
            recordCoverage(*coverage);
            return true;
        }
        if (coverage.error().code() == Code::Cancelled)
            return coverage.error();
        m_sheet.fail(coverage.error().code() == Code::TimedOut ? "in_time" : "ran",
                     coverage.error().message() + " (in a call under the profiler)");
        return false;
    }

    Result<void> verify(Subject &subject, const Json *binding)
    {
        const auto start = Clock::now();
        CorrectnessOptions options;
        options.binding = binding;
        options.tolerance = m_request.tolerance;
        options.callTimeout = callTimeout();
        auto checked = checkCorrectness(subject, m_context.oracle, m_context.sets, options, m_sheet, m_cancel,
                                        m_progress);
        m_seconds["verify"] = secondsSince(start);
        return checked;
    }

    /// A hundred times eager and at least two seconds: what takes longer is hanging.
    std::chrono::milliseconds callTimeout() const
    {
        const double eager = eagerSeconds();
        return std::chrono::milliseconds(static_cast<std::int64_t>(std::max(2.0, eager * 100.0) * 1e3));
    }

    double eagerSeconds() const
    {
        const auto found = m_context.baselines.rounds.samples.find("eager");
        return found == m_context.baselines.rounds.samples.end() ? 0.1
                                                                 : medianInterval(found->second, 1).value;
    }

    RoundsOptions roundsOptions() const
    {
        RoundsOptions options;
        options.slots = m_context.sets.timingSlots();
        options.stateSlot = m_context.sets.timingStateSlot();
        options.callsPerBlock = callsPerBlockFor(eagerSeconds(), options.slots.size());
        options.sampled = "candidate";
        options.outputBytes = m_context.sets.outputBytes();
        options.callTimeout = callTimeout();
        options.tolerance = m_request.tolerance;
        return options;
    }

    /// Quick: against eager only, the other baselines by their measured ratio to eager.
    Result<void> time(Subject &subject)
    {
        RoundsOptions options = roundsOptions();
        options.budgetSeconds = quickSeconds;
        options.minRounds = quickRounds;
        HEDDLE_TRY(const std::optional<RoundsResult> rounds,
                   measure({{"candidate", &subject, {}},
                            {"eager", &m_context.oracle.subject(), Json{{"name", "eager"}}}},
                           options));
        if (!rounds)
            return {};
        const Interval vsEager = ratio(*rounds, "eager", confirmedNoiseFloor);
        m_runner = {{"eager", ratioJson(vsEager)}};
        const RoundsResult &before = m_context.baselines.rounds;
        const auto indirect = [&](const char *key, const std::string &name) {
            if (before.samples.count(name) == 0)
                return;
            const Interval gain = speedup(before.samples.at("eager"), before.samples.at(name),
                                          confirmedNoiseFloor, m_request.seed);
            // (eager / candidate) / (eager / baseline) = baseline / candidate.
            const Interval inverse{1.0 / gain.value, 1.0 / gain.high,
                                   gain.low > 0 ? 1.0 / gain.low : INFINITY};
            m_runner[key] = ratioJson(name == "eager" ? vsEager : product(vsEager, inverse));
        };
        indirect("compile", "compile");
        indirect("strongest", m_context.baselines.strongest);
        m_candidateTiming = timingJson(*rounds, "candidate", m_request.seed);
        return {};
    }

    /// Every baseline and the candidate interleaved, all of them called from PyTorch.
    Result<void> timeDeployed(Subject &subject, bool isConfirmed)
    {
        std::vector<Contestant> contestants{{"candidate", &subject, Json::object()}};
        for (const std::string &name : m_context.baselines.prepared)
            contestants.push_back({name, &m_context.oracle.subject(), Json{{"name", name}}});
        std::optional<CandidateProcess> probe;
        if (isConfirmed) {
            // How fast the memory is changes within minutes on a shared machine, so the roof is taken in the same rounds.
            HEDDLE_TRY(probe,
                       startMemoryProbe(m_context.builder, m_context.executors, m_context.oracle, m_cancel));
            contestants.push_back({roofName, &probe->subject, {}});
            // What the quick stage saw of the times is no evidence for this one.
            m_sheet.withdraw({"machine_quiet", "timing", "clock", "roof", "timed_outputs"});
            m_candidateTiming = Json();
            m_share = 0.0;
        }
        RoundsOptions options = roundsOptions();
        options.budgetSeconds = isConfirmed ? confirmedSeconds : 0.5;
        options.minRounds = isConfirmed ? confirmedRounds : 3;
        if (auto left = subject.exitServe(); !left) {
            m_sheet.fail("ran", left.error().text());
            return {};
        }
        HEDDLE_TRY(const std::optional<RoundsResult> rounds, measure(contestants, options));
        if (!rounds)
            return {};
        Json speedups{{"eager", ratioJson(ratio(*rounds, "eager", confirmedNoiseFloor))},
                      {"same_precision", nullptr}};
        if (rounds->samples.count("compile") != 0)
            speedups["compile"] = ratioJson(ratio(*rounds, "compile", confirmedNoiseFloor));
        // The strongest of this very measurement: an earlier one may have met a noisy moment.
        m_strongest = strongestOf(m_context.baselines.prepared, *rounds);
        speedups["strongest"] = ratioJson(ratio(*rounds, m_strongest, confirmedNoiseFloor));
        (isConfirmed ? m_deployed : m_runner) = std::move(speedups);
        m_candidateTiming = timingJson(*rounds, "candidate", m_request.seed);
        if (isConfirmed) {
            m_rounds = *rounds;
            recordDrift(*rounds);
        }
        return {};
    }

    /// Times and writes the rows machine_quiet, timing, timed_outputs, clock and roof. Nothing where the machine was not
    /// quiet or the candidate failed (the finding is in the sheet).
    Result<std::optional<RoundsResult>> measure(std::vector<Contestant> contestants,
                                                const RoundsOptions &options)
    {
        const auto start = Clock::now();
        std::vector<Subject *> subjects{&m_context.oracle.subject()};
        for (const Contestant &contestant : contestants) {
            if (contestant.subject != subjects.front())
                subjects.push_back(contestant.subject);
        }
        HEDDLE_TRY(const CpuCounters before, countersWithout(subjects));
        auto measured = timeInRounds(std::move(contestants), m_context.oracle, options, m_cancel, m_progress);
        m_seconds["benchmark"] = numberOr(m_seconds, "benchmark", 0.0) + secondsSince(start);
        if (!measured) {
            const Code code = measured.error().code();
            const bool isOurs = code == Code::Cancelled || code == Code::Internal || code == Code::Environment
                || code == Code::Io;
            if (isOurs || !m_context.oracle.isUsable())
                return std::move(measured).error();
            m_sheet.fail(code == Code::TimedOut ? "in_time" : "ran",
                         measured.error().message() + " (in a timed call)");
            return std::optional<RoundsResult>();
        }
        RoundsResult rounds = std::move(*measured);
        recordTimedOutputs(rounds);
        HEDDLE_TRY(const CpuCounters after, countersWithout(subjects));
        const QuietReport quiet = judgeQuiet(before, after, 0.0);
        if (!quiet.isQuiet) {
            m_sheet.skip("machine_quiet", quiet.message, quiet.toJson());
            m_sheet.skip("timing", "its times do not count: the machine was not quiet", quiet.toJson());
            m_sheet.skip("clock", "no time was taken");
            m_sheet.skip("roof", "not compared with the roof: no time was taken");
            return std::optional<RoundsResult>();
        }
        m_sheet.pass("machine_quiet", quiet.message, quiet.toJson());
        m_sheet.pass("timing",
                     std::to_string(rounds.rounds()) + " interleaved rounds, "
                         + std::to_string(rounds.calls("candidate")) + " timed calls",
                     {{"rounds", rounds.rounds()},
                      {"calls", rounds.calls("candidate")},
                      {"empty_call_us", rounds.emptyCallSeconds * 1e6},
                      {"untimed_cpu_us", untimedJson(rounds)},
                      {"seconds", rounds.seconds}});
        m_sheet.pass("clock", "the clock is the worker's; the candidate's process cannot reach it",
                     {{"empty_call_us", rounds.emptyCallSeconds * 1e6}});
        if (const auto probe = rounds.samples.find(roofName); probe != rounds.samples.end()) {
            m_roof.memorySeconds = fastestCall(probe->second);
            m_roof.seconds = std::max(m_roof.memorySeconds, m_roof.computeSeconds);
        }
        recordRoof(rounds);
        return std::optional<RoundsResult>(std::move(rounds));
    }

    /// {name: processor time of the middle call outside the clock, in microseconds}.
    static Json untimedJson(const RoundsResult &rounds)
    {
        Json out = Json::object();
        for (const auto &[name, seconds] : rounds.untimed)
            out[name] = median(seconds) * 1e6;
        return out;
    }

    /// The machine's counters with the subjects' own processor time counted as ours.
    static Result<CpuCounters> countersWithout(const std::vector<Subject *> &subjects)
    {
        HEDDLE_TRY(CpuCounters counters, readCpuCounters());
        const auto ticksPerSecond = static_cast<double>(::sysconf(_SC_CLK_TCK));
        for (const Subject *subject : subjects) {
            HEDDLE_TRY(const auto used, subject->cpuTime());
            counters.processTicks +=
                static_cast<std::uint64_t>(std::chrono::duration<double>(used).count() * ticksPerSecond);
        }
        return counters;
    }

    Interval ratio(const RoundsResult &rounds, const std::string &baseline, double floor) const
    {
        return speedup(rounds.samples.at(baseline), rounds.samples.at("candidate"), floor, m_request.seed);
    }

    void recordTimedOutputs(const RoundsResult &rounds)
    {
        const Json data{
            {"looked_at", rounds.sampledCalls}, {"wrong", rounds.wrongCalls}, {"worst", rounds.worstSample}};
        if (rounds.impreciseCalls > 0)
            m_sheet.fail("precision",
                         std::to_string(rounds.impreciseCalls) + " of " + std::to_string(rounds.sampledCalls)
                             + " timed calls that were looked at were less precise than eager",
                         data);
        if (rounds.sampledCalls == 0)
            m_sheet.skip("timed_outputs", "no timed call was looked at");
        else if (rounds.wrongCalls > 0)
            m_sheet.fail("timed_outputs",
                         std::to_string(rounds.wrongCalls) + " of " + std::to_string(rounds.sampledCalls)
                             + " timed calls that were looked at gave a wrong result",
                         data);
        else
            m_sheet.pass("timed_outputs",
                         "the outputs of " + std::to_string(rounds.sampledCalls)
                             + " timed calls, of each block the fastest and a random one, were right at the "
                               "moment they returned",
                         data);
    }

    void recordRoof(const RoundsResult &rounds)
    {
        const double own = undisturbedTime(rounds.samples.at("candidate"));
        m_share = m_roof.seconds / own;
        const Json data{{"roof_ms", m_roof.seconds * 1e3}, {"own_ms", own * 1e3}, {"share", m_share}};
        // Of the measurement that the roof is of.
        const RoundsResult &baselines =
            rounds.samples.contains(roofName) ? rounds : m_context.baselines.rounds;
        const double reference = undisturbedTime(baselines.samples.at(m_context.baselines.strongest));
        if (m_roof.seconds > reference)
            m_sheet.skip("roof",
                         "the roof is not known: PyTorch itself was faster than what was measured for it",
                         data);
        // The roof is itself a measurement, by the same doorbell: twice as fast as that is beyond its error, where there is
        // more to measure than the doorbell.
        else if (m_share > 2.0 && m_roof.seconds - own > shortestRoofLead)
            m_sheet.fail("roof",
                         "it is " + std::to_string(m_share).substr(0, 4)
                             + " times faster than the machine can move its bytes or do its arithmetic",
                         data);
        else
            m_sheet.pass("roof",
                         "it reaches " + std::to_string(static_cast<int>(m_share * 100.0 + 0.5))
                             + " % of the roof",
                         data);
    }

    void recordDrift(const RoundsResult &rounds)
    {
        const auto &before = m_context.baselines.rounds.samples.at("eager");
        const double drift = undisturbedTime(rounds.samples.at("eager")) / undisturbedTime(before);
        const Json data{{"eager_now_over_before", drift}};
        const std::string percent = std::to_string(static_cast<int>(std::abs(drift - 1.0) * 100.0 + 0.5));
        m_sheet.pass("baseline_drift",
                     "eager took " + percent + " % " + (drift >= 1.0 ? "longer" : "less")
                         + " than when the baselines were measured; ratios are against this run",
                     data);
    }

    void recordSandbox(const Json &report)
    {
        const std::string rung = stringOr(report, "rung", "none");
        if (rung == "none")
            m_sheet.skip("sandbox", "it ran without a sandbox, as --unsandboxed asked", report);
        else
            m_sheet.pass("sandbox", "confined by " + rung, report);
    }

    void recordStateBinding(const Runner &runner)
    {
        const Json &data = runner.binding();
        if (memberOr(data, "state_by").is_null())
            m_sheet.skip("state_binding", "its parameters could not be matched with the reference's", data);
        else
            m_sheet.pass("state_binding",
                         "it took the reference's parameters by " + stringOr(data, "state_by"), data);
    }

    void recordCoverage(const Json &coverage)
    {
        m_coverage = coverage;
        const double others = numberOr(coverage, "framework", 0.0) + numberOr(coverage, "library", 0.0);
        const std::string sentence = std::to_string(static_cast<int>(others * 100.0 + 0.5))
            + " % of its time is spent in operators of PyTorch or of other packages";
        if (others > 0.5)
            m_sheet.fail("coverage", sentence, coverage);
        else
            m_sheet.pass("coverage", sentence, coverage);
    }

    Result<void> confirmExport(const BuildOutcome &build)
    {
        step("exporting");
        HEDDLE_TRY(Runner runner, Runner::loadExport(m_context, m_request.files, build, m_cancel));
        if (runner.error()) {
            m_sheet.fail("ran", "its export does not run: " + runner.error()->text());
            return {};
        }
        recordStateBinding(runner);
        HEDDLE_CHECK_OK(verify(runner.subject(), &runner.binding()));
        if (m_sheet.verdict() != VerdictClass::Clean)
            return {};
        HEDDLE_TRY(const bool goesOn, measureCoverage(runner));
        if (!goesOn)
            return {};
        return timeDeployed(runner.subject(), true);
    }

    static std::string buildSentence(const BuildOutcome &build)
    {
        for (const Json &row : build.diagnostics) {
            if (stringOr(row, "severity") == "error")
                return placeText(row) + stringOr(row, "message");
        }
        return "it does not compile";
    }

    void step(const char *phase) const
    {
        if (m_progress)
            m_progress({phase, -1.0, {}});
    }

    Json report() const
    {
        const VerdictClass verdict = m_sheet.verdict();
        Json candidate{{"digest", treeDigest(m_request.files)}, {"format", m_format}, {"policy", "person"}};
        if (m_candidateTiming.is_object())
            candidate.update(m_candidateTiming);
        Json roof = m_roof.toJson();
        roof["share"] = m_share > 0.0 ? Json(m_share) : Json();
        const RoundsResult &rounds = m_rounds.samples.empty() ? m_context.baselines.rounds : m_rounds;
        return {{"stage", m_request.stage},
                {"baselines",
                 baselinesJson(m_strongest.empty() || m_rounds.samples.empty() ? m_context.baselines.strongest
                                                                               : m_strongest,
                               rounds, m_request.seed)},
                {"skipped", m_context.baselines.skipped},
                {"candidate", candidate},
                {"diagnostics", m_diagnostics},
                {"verdict", {{"class", className(verdict)}, {"evidence", m_sheet.toJson()}}},
                {"speedup", {{"runner", m_runner}, {"deployed", m_deployed}}},
                {"reward", milestoneReward(verdict, m_deployed)},
                {"roof", roof},
                {"coverage", m_coverage},
                {"flags",
                 {{"tolerance", m_request.tolerance ? Json(*m_request.tolerance) : Json()},
                  {"tunables", m_request.tunables}}},
                {"seconds", m_seconds}};
    }

    const JudgeContext &m_context;
    const JudgeRequest &m_request;
    const CancelToken &m_cancel;
    const ProgressSink &m_progress;
    std::string m_format;
    EvidenceSheet m_sheet;
    std::optional<Error> m_runnerError;
    Json m_diagnostics = Json::array();
    Json m_runner;
    Json m_deployed;
    Json m_candidateTiming;
    Json m_coverage{{"own", 1.0}, {"library", 0.0}, {"framework", 0.0}};
    Json m_seconds;
    RoundsResult m_rounds;
    TaskRoof m_roof; ///< of the last measurement that the probe took part in
    double m_share = 0.0;
    std::string m_strongest; ///< of the last measurement with every baseline in it
};

} // namespace

Result<Json> judge(const JudgeContext &context, const JudgeRequest &request, const CancelToken &cancel,
                   const ProgressSink &progress)
{
    return Judgement(context, request, cancel, progress).run();
}

Result<Json> benchmarkOnly(const JudgeContext &context, const JudgeRequest &request,
                           const CancelToken &cancel)
{
    HEDDLE_TRY(const TaskLayout layout, layoutFromJson(context.oracle.arena().layout()));
    HEDDLE_TRY(const BuildOutcome build,
               context.builder.build(request.files, request.tunables, &layout, cancel));
    if (!build.ok)
        return Error(Code::CompileFailed, "this variant does not compile");
    HEDDLE_TRY(CandidateProcess process, context.executors.start(build, context.oracle.arena(), cancel));
    RoundsOptions options;
    options.slots = context.sets.timingSlots();
    options.stateSlot = context.sets.timingStateSlot();
    options.callsPerBlock = static_cast<int>(std::min<std::size_t>(4, options.slots.size()));
    options.budgetSeconds = 0.1;
    options.minRounds = 3;
    HEDDLE_TRY(const RoundsResult rounds,
               timeInRounds({{"candidate", &process.subject, {}}}, context.oracle, options, cancel, {}));
    return timingJson(rounds, "candidate", request.seed);
}

} // namespace heddle
