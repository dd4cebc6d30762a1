// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Rounds.h"

#include "core/base/Digest.h"
#include "core/runtime/server/InputWindow.h"
#include "core/runtime/server/Outputs.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <utility>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One measurement under way; see timeInRounds().
class Measurement {
public:
    Measurement(std::vector<Contestant> contestants, Oracle &oracle, const RoundsOptions &options,
                const CancelToken &cancel)
        : m_contestants(std::move(contestants)), m_oracle(oracle), m_options(options), m_cancel(cancel)
    {
    }

    Result<RoundsResult> run(const ProgressSink &progress)
    {
        const auto start = Clock::now();
        if (std::any_of(m_contestants.begin(), m_contestants.end(),
                        [](const Contestant &each) { return each.subject->hasPlacer(); })) {
            HEDDLE_TRY(m_mirror, InputWindow::create(m_oracle.arena()));
        }
        for (const Contestant &contestant : m_contestants) {
            if (!contestant.serve)
                HEDDLE_CHECK_OK(measureEmptyCall(*contestant.subject));
        }
        for (int round = 0; round < m_options.maxRounds; ++round) {
            if (m_cancel.stop_requested())
                return Error(Code::Cancelled, "the measurement was cancelled");
            if (round >= m_options.minRounds && secondsSince(start) > m_options.budgetSeconds)
                break;
            HEDDLE_CHECK_OK(half(false));
            HEDDLE_CHECK_OK(half(true));
            if (progress)
                progress({"timing", std::min(1.0, secondsSince(start) / m_options.budgetSeconds),
                          "round " + std::to_string(round + 1)});
        }
        m_result.seconds = secondsSince(start);
        return std::move(m_result);
    }

    void thawAll()
    {
        for (Contestant &contestant : m_contestants)
            (void)contestant.subject->thaw().has_value();
        (void)m_oracle.subject().thaw().has_value();
    }

private:
    Result<void> measureEmptyCall(Subject &subject)
    {
        std::vector<double> samples;
        for (int i = 0; i < 21; ++i) {
            HEDDLE_TRY(const CallTiming timing, subject.emptyCall());
            samples.push_back(std::chrono::duration<double>(timing.wall).count());
        }
        m_result.emptyCallSeconds = median(samples);
        return {};
    }

    /// Fresh content, then every contestant once over it.
    Result<void> half(bool isBackward)
    {
        for (const Contestant &contestant : m_contestants)
            m_result.samples[contestant.name].emplace_back();
        HEDDLE_CHECK_OK(freezeAllBut(&m_oracle.subject()));
        CallOptions fill;
        fill.cancel = m_cancel;
        for (int i = 0; i < m_options.callsPerBlock; ++i) {
            const int slot = m_options.slots[static_cast<std::size_t>(i)];
            const auto filled = m_oracle.call(
                "fill", {{"slot", slot}, {"family", "task"}, {"state_slot", nullptr}, {"checksum", false}},
                fill);
            if (!filled)
                return notTheSampled(filled.error(), "get_inputs()");
            if (boolOr(*filled, "dropped", false))
                return notTheSampled(
                    Error(Code::TaskFailed,
                          "get_inputs() gave other shapes this time: " + stringOr(*filled, "reason"), {},
                          "make get_inputs() return tensors of fixed shapes"),
                    "get_inputs()");
        }
        std::vector<Contestant *> order;
        for (Contestant &contestant : m_contestants)
            order.push_back(&contestant);
        if (isBackward)
            std::reverse(order.begin(), order.end());
        for (Contestant *contestant : order) {
            if (auto called = block(*contestant); !called)
                return contestant->name == m_options.sampled
                    ? std::move(called).error()
                    : notTheSampled(called.error(), contestant->name);
        }
        return checkSamples();
    }

    /// What a baseline, the roof's probe or the task's inputs did wrong is no finding against the contestant that is judged.
    Error notTheSampled(const Error &error, const std::string &whose) const
    {
        if (m_options.sampled.empty() || error.code() == Code::Cancelled)
            return error;
        return Error(Code::Environment, whose + " failed while the candidate was timed: " + error.message(),
                     error.where(), error.next().empty() ? "judge it again" : error.next());
    }

    Result<void> freezeAllBut(Subject *running)
    {
        for (Contestant &contestant : m_contestants) {
            if (contestant.subject != running)
                HEDDLE_CHECK_OK(contestant.subject->freeze());
        }
        if (&m_oracle.subject() != running)
            HEDDLE_CHECK_OK(m_oracle.subject().freeze());
        return running->thaw();
    }

    Result<void> block(Contestant &contestant)
    {
        Subject &subject = *contestant.subject;
        HEDDLE_CHECK_OK(freezeAllBut(&subject));
        if (contestant.serve)
            HEDDLE_CHECK_OK(subject.startServe(*contestant.serve));
        const int dropped = m_options.callsPerBlock >= 6 ? 2 : 1;
        // One call of the block is looked at in any case; which one, nobody can know.
        const auto look = static_cast<int>(m_secret() % static_cast<unsigned>(m_options.callsPerBlock));
        double fastest = std::numeric_limits<double>::infinity();
        for (int i = 0; i < m_options.callsPerBlock; ++i) {
            const auto slot = static_cast<std::uint32_t>(m_options.slots[static_cast<std::size_t>(i)]);
            if (m_mirror && !subject.hasPlacer())
                m_mirror->place(slot, m_options.stateSlot);
            HEDDLE_TRY(const auto beforePrepare, subject.cpuTime());
            HEDDLE_CHECK_OK(subject.prepare(slot, m_options.stateSlot, 0, m_options.callTimeout));
            HEDDLE_TRY(const auto prepared, subject.cpuTime());
            HEDDLE_TRY(const CallTiming timing, subject.call(0, m_options.callTimeout));
            HEDDLE_TRY(const auto called, subject.cpuTime());
            const double seconds = std::chrono::duration<double>(timing.wall).count();
            const bool isFastest = i >= dropped && seconds < fastest;
            const bool isRead = contestant.name == m_options.sampled && (i == look || isFastest);
            if (isRead)
                HEDDLE_CHECK_OK(readCall(subject, static_cast<int>(slot), i == look, isFastest));
            HEDDLE_CHECK_OK(subject.release());
            HEDDLE_TRY(const auto released, subject.cpuTime());
            if (i >= dropped && !isRead)
                m_result.untimed[contestant.name].push_back(
                    std::chrono::duration<double>(prepared - beforePrepare + released - called).count());
            if (i >= dropped)
                m_result.samples[contestant.name].back().push_back(seconds);
            if (isFastest)
                fastest = seconds;
        }
        if (contestant.serve)
            HEDDLE_CHECK_OK(subject.exitServe());
        return {};
    }

    /// What the call that has just returned left as outputs, from the frozen process: late work cannot help.
    Result<void> readCall(Subject &subject, int slot, bool isChosen, bool isFastest)
    {
        HEDDLE_CHECK_OK(subject.freeze());
        HEDDLE_TRY(ReturnBuffer outputs, readOutputs(subject, m_options.outputBytes));
        HEDDLE_CHECK_OK(subject.thaw());
        // A call may be both; a fastest one gives way to a faster one.
        const auto held = std::make_shared<Sample>(Sample{std::move(outputs), slot});
        if (isChosen)
            m_chosen = held;
        if (isFastest)
            m_fastest = held;
        return {};
    }

    /// The slots of the samples still hold their content: they are refilled only by the next half.
    Result<void> checkSamples()
    {
        const std::shared_ptr<Sample> chosen = std::exchange(m_chosen, nullptr);
        const std::shared_ptr<Sample> fastest = std::exchange(m_fastest, nullptr);
        if (chosen)
            HEDDLE_CHECK_OK(check(*chosen));
        if (fastest && fastest != chosen)
            HEDDLE_CHECK_OK(check(*fastest));
        return {};
    }

    struct Sample {
        ReturnBuffer outputs;
        int slot = 0;
    };

    Result<void> check(const Sample &sample)
    {
        HEDDLE_CHECK_OK(freezeAllBut(&m_oracle.subject()));
        CallOptions options;
        options.cancel = m_cancel;
        HEDDLE_TRY(Json said,
                   m_oracle.call("sample",
                                 {{"slot", sample.slot},
                                  {"state_slot", m_options.stateSlot},
                                  {"tolerance", m_options.tolerance ? Json(*m_options.tolerance) : Json()},
                                  {"outputs", sample.outputs.spans()}},
                                 options, {sample.outputs.descriptor()}));
        ++m_result.sampledCalls;
        if (!boolOr(said, "ok", false)) {
            ++m_result.wrongCalls;
            m_result.worstSample = std::move(said);
        } else if (!boolOr(said, "precision_ok", true)) {
            ++m_result.impreciseCalls;
        }
        return {};
    }

    std::vector<Contestant> m_contestants;
    Oracle &m_oracle;
    const RoundsOptions &m_options;
    const CancelToken &m_cancel;
    /// Seeded by the system for each measurement: a generator with a known seed could be replayed by a candidate.
    std::mt19937_64 m_secret{std::strtoull(randomHex(8).c_str(), nullptr, 16)};
    RoundsResult m_result;
    /// What a contestant without a window of its own costs the caches is made the same by copying into this one.
    std::unique_ptr<InputWindow> m_mirror;
    std::shared_ptr<Sample> m_chosen;
    std::shared_ptr<Sample> m_fastest;
};

} // namespace

int RoundsResult::rounds() const
{
    return samples.empty() ? 0 : static_cast<int>(samples.begin()->second.size() / 2);
}

int RoundsResult::calls(const std::string &name) const
{
    int count = 0;
    if (const auto found = samples.find(name); found != samples.end()) {
        for (const RoundSamples &round : found->second)
            count += static_cast<int>(round.size());
    }
    return count;
}

Result<RoundsResult> timeInRounds(std::vector<Contestant> contestants, Oracle &oracle,
                                  const RoundsOptions &options, const CancelToken &cancel,
                                  const ProgressSink &progress)
{
    if (options.slots.size() < static_cast<std::size_t>(options.callsPerBlock))
        return Error(Code::Internal, "too few input slots for a block of calls");
    Measurement measurement(std::move(contestants), oracle, options, cancel);
    auto result = measurement.run(progress);
    measurement.thawAll();
    return result;
}

} // namespace heddle
