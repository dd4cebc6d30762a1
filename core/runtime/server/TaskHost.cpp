// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/TaskHost.h"

#include "core/runtime/server/RoofProbe.h"

namespace heddle {

namespace {

/// Memory for the input sets and expectations of one task.
constexpr std::uint64_t setBudgetBytes = std::uint64_t{3} << 30;

CallOptions callOptions(const CancelToken &cancel, std::chrono::seconds timeout)
{
    CallOptions options;
    options.cancel = cancel;
    options.timeout = timeout;
    return options;
}

} // namespace

TaskHost::TaskHost(Machine &machine, Builder &builder, Executors &executors, TaskSource task)
    : m_machine(machine), m_builder(builder), m_executors(executors), m_task(std::move(task))
{
}

void TaskHost::drop()
{
    m_sets.reset();
    m_baselines.reset();
    m_depth = BaselineDepth::Eager;
    m_oracle.reset();
}

/// Runs work on the oracle; whatever leaves the oracle in an unknown state ends it. One that did not answer in time has been
/// given up by its own channel; a candidate's time-out is none of the oracle's.
template<typename Work>
auto TaskHost::guarded(const Work &work) -> decltype(work())
{
    auto result = work();
    if (!m_oracle || !m_oracle->isUsable())
        drop();
    else if (!result && result.error().code() == Code::Cancelled)
        drop();
    return result;
}

Result<Json> TaskHost::open(const CancelToken &cancel)
{
    if (m_oracle && m_oracle->isUsable())
        return m_oracle->info();
    drop();
    HEDDLE_TRY(Oracle oracle, Oracle::open(m_machine.oracles(), m_task, m_machine.threads(), cancel));
    m_oracle.emplace(std::move(oracle));
    m_canPrepare = true;
    auto sets = InputSets::create(*m_oracle, setBudgetBytes, callOptions(cancel, std::chrono::seconds(60)));
    if (!sets) {
        drop();
        return std::move(sets).error();
    }
    m_sets.emplace(std::move(*sets));
    return m_oracle->info();
}

Result<Json> TaskHost::lint(const CancelToken &cancel)
{
    HEDDLE_CHECK_OK(open(cancel));
    return guarded([&] {
        return m_oracle->call("lint", Json::object(), callOptions(cancel, std::chrono::seconds(120)));
    });
}

Result<Json> TaskHost::graph(const CancelToken &cancel)
{
    HEDDLE_CHECK_OK(open(cancel));
    return guarded([&] {
        return m_oracle->call("graph", Json::object(), callOptions(cancel, std::chrono::seconds(60)));
    });
}

Result<void> TaskHost::ensureBaselines(BaselineDepth depth, const CancelToken &cancel,
                                       const ProgressSink &progress)
{
    HEDDLE_CHECK_OK(open(cancel));
    if (m_baselines && m_depth >= depth && m_roof)
        return {};
    return guarded([&]() -> Result<void> {
        HEDDLE_TRY(m_baselines, measureBaselines(*m_oracle, *m_sets, depth, cancel, progress));
        m_depth = depth;
        if (!m_profile.is_object()) {
            HEDDLE_TRY(
                m_profile,
                m_oracle->call("profile", Json::object(), callOptions(cancel, std::chrono::seconds(120))));
        }
        if (progress)
            progress({"measuring the roof", -1.0, {}});
        HEDDLE_TRY(m_roof, measureTaskRoof(cancel));
        return {};
    });
}

Result<TaskRoof> TaskHost::measureTaskRoof(const CancelToken &cancel)
{
    HEDDLE_TRY(const RoofReport &machineRoof, machineRoofOnce(m_machine.threads(), cancel));
    TaskRoof roof;
    HEDDLE_TRY(roof.memorySeconds, measureMemoryRoof(m_builder, m_executors, *m_oracle, *m_sets, cancel));
    // A baseline that beats the roof says that the probe was disturbed: measure again, the fastest counts.
    const double fastest = undisturbedTime(m_baselines->rounds.samples.at(m_baselines->strongest));
    for (int again = 0; again < 2 && roof.memorySeconds > fastest; ++again) {
        HEDDLE_TRY(const double seconds,
                   measureMemoryRoof(m_builder, m_executors, *m_oracle, *m_sets, cancel));
        roof.memorySeconds = std::min(roof.memorySeconds, seconds);
    }
    roof.computeSeconds = numberOr(m_profile, "flops", 0.0) / std::max(1.0, machineRoof.flopsPerSecond);
    roof.seconds = std::max(roof.memorySeconds, roof.computeSeconds);
    roof.pageFaultShare = machineRoof.pageFaultShare;
    return roof;
}

Result<Json> TaskHost::baseline(BaselineDepth depth, bool again, const CancelToken &cancel,
                                const ProgressSink &progress)
{
    if (again)
        m_baselines.reset();
    HEDDLE_CHECK_OK(ensureBaselines(depth, cancel, progress));
    HEDDLE_TRY(const RoofReport &machineRoof, machineRoofOnce(m_machine.threads(), cancel));
    Json roof = m_roof->toJson();
    roof["share"] = nullptr;
    roof["machine"] = machineRoof.toJson();
    for (const char *key : {"flops", "bytes_min", "bytes_eager"})
        roof[key] = memberOr(m_profile, key);
    return Json{{"baselines", baselinesJson(m_baselines->strongest, m_baselines->rounds, 1)},
                {"operators", memberOr(m_profile, "operators")},
                {"roof", roof},
                {"skipped", m_baselines->skipped},
                {"environment", memberOr(m_oracle->info(), "environment")}};
}

Result<BuildOutcome> TaskHost::compile(const FileTree &files, const Json &tunables, const CancelToken &cancel)
{
    HEDDLE_CHECK_OK(open(cancel));
    HEDDLE_TRY(const TaskLayout layout, layoutFromJson(m_oracle->arena().layout()));
    return m_builder.build(files, tunables, &layout, cancel);
}

Result<Json> TaskHost::judge(const JudgeRequest &request, const CancelToken &cancel,
                             const ProgressSink &progress)
{
    HEDDLE_CHECK_OK(ensureBaselines(BaselineDepth::Strongest, cancel, progress));
    m_canPrepare = true;
    return guarded([&] { return heddle::judge(context(), request, cancel, progress); });
}

Result<Json> TaskHost::benchmark(const JudgeRequest &request, const CancelToken &cancel)
{
    HEDDLE_CHECK_OK(ensureBaselines(BaselineDepth::Eager, cancel, {}));
    return guarded([&] { return benchmarkOnly(context(), request, cancel); });
}

Result<Json> TaskHost::compare(const CompareSide &subject, const CompareSide &other, int judgements,
                               const CancelToken &cancel, const ProgressSink &progress)
{
    HEDDLE_CHECK_OK(ensureBaselines(BaselineDepth::Eager, cancel, progress));
    return guarded([&] { return compareSides(context(), subject, other, judgements, cancel, progress); });
}

JudgeContext TaskHost::context()
{
    return {m_machine, m_builder, m_executors, *m_oracle, *m_sets, *m_baselines, *m_roof, m_task.source};
}

bool TaskHost::prepareAhead()
{
    if (!m_canPrepare || !m_oracle || !m_sets || !m_oracle->isUsable())
        return false;
    const auto prepared =
        guarded([&] { return m_sets->prepareOne(*m_oracle, callOptions({}, std::chrono::seconds(60))); });
    // What failed would fail again at once; the next judgement meets it and says so.
    m_canPrepare = prepared.has_value();
    return prepared && *prepared;
}

} // namespace heddle
