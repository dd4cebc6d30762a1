// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Compare.h"

#include "core/plan/CandidateFormat.h"
#include "core/runtime/server/Confirm.h"

#include <optional>

namespace heddle {

namespace {

/// A side that runs: an executor, a runner, or nothing of its own (the oracle).
struct RunningSide {
    std::optional<CandidateProcess> executor;
    std::optional<Runner> runner;
    std::optional<Json> serve;

    Subject &subject(const JudgeContext &context)
    {
        return executor ? executor->subject : runner ? runner->subject() : context.oracle.subject();
    }
};

Result<RunningSide> start(const JudgeContext &context, const CompareSide &side, const CancelToken &cancel)
{
    RunningSide running;
    if (side.files.empty()) {
        running.serve = Json{{"name", side.baseline}};
        return running;
    }
    HEDDLE_TRY(const std::string format, candidateFormat(side.files));
    if (format != "native") {
        HEDDLE_TRY(Runner runner, Runner::load(context, side.files, cancel));
        if (runner.error())
            return *runner.error();
        HEDDLE_CHECK_OK(runner.subject().exitServe());
        running.serve = Json::object();
        running.runner.emplace(std::move(runner));
        return running;
    }
    HEDDLE_TRY(const TaskLayout layout, layoutFromJson(context.oracle.arena().layout()));
    HEDDLE_TRY(const BuildOutcome build, context.builder.build(side.files, side.tunables, &layout, cancel));
    if (!build.ok)
        return Error(Code::CompileFailed, "a candidate does not compile: " + compactText(build.diagnostics));
    HEDDLE_TRY(CandidateProcess process, context.executors.start(build, context.oracle.arena(), cancel));
    running.executor.emplace(std::move(process));
    return running;
}

} // namespace

Result<Json> compareSides(const JudgeContext &context, const CompareSide &subject, const CompareSide &other,
                          int judgements, const CancelToken &cancel, const ProgressSink &progress)
{
    Json ratios = Json::array();
    const double eager = medianInterval(context.baselines.rounds.samples.at("eager"), 1).value;
    for (int i = 0; i < judgements; ++i) {
        HEDDLE_TRY(RunningSide first, start(context, subject, cancel));
        HEDDLE_TRY(RunningSide second, start(context, other, cancel));
        RoundsOptions options;
        options.slots = context.sets.timingSlots();
        options.stateSlot = context.sets.timingStateSlot();
        options.callsPerBlock = callsPerBlockFor(eager, options.slots.size());
        // Native candidates are timed like this in the quick stage, Python ones in the confirmed.
        options.budgetSeconds = first.executor ? quickSeconds : confirmedSeconds;
        options.minRounds = first.executor ? quickRounds : confirmedRounds;
        HEDDLE_TRY(const RoundsResult rounds,
                   timeInRounds({{"subject", &first.subject(context), first.serve},
                                 {"other", &second.subject(context), second.serve}},
                                context.oracle, options, cancel, {}));
        ratios.push_back(ratioJson(speedup(rounds.samples.at("other"), rounds.samples.at("subject"),
                                           confirmedNoiseFloor, static_cast<std::uint64_t>(i) + 1)));
        if (progress)
            progress({"comparing", (i + 1.0) / judgements, {}});
    }
    return Json{{"ratios", ratios}};
}

} // namespace heddle
