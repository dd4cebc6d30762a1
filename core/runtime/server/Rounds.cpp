// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Rounds.h"

#include "core/runtime/server/Outputs.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

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
        : m_contestants(std::move(contestants)),
          m_oracle(oracle),
          m_options(options),
          m_cancel(cancel),
          m_random(options.seed)
    {
    }

    Result<RoundsResult> run(const ProgressSink &progress)
    {
        const auto start = Clock::now();
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
            HEDDLE_TRY(Json filled,
                       m_oracle.call(
                           "fill",
                           {{"slot", slot}, {"family", "task"}, {"state_slot", nullptr}, {"checksum", false}},
                           fill));
            if (boolOr(filled, "dropped", false))
                return Error(Code::TaskFailed,
                             "get_inputs() gave other shapes this time: " + stringOr(filled, "reason"), {},
                             "make get_inputs() return tensors of fixed shapes");
        }
        std::vector<Contestant *> order;
        for (Contestant &contestant : m_contestants)
            order.push_back(&contestant);
        if (isBackward)
            std::reverse(order.begin(), order.end());
        for (Contestant *contestant : order)
            HEDDLE_CHECK_OK(block(*contestant));
        return checkSample();
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
        // One call of the block is looked at; which one, the candidate cannot know.
        const bool isSampled = contestant.name == m_options.sampled && !m_sample;
        const int look =
            isSampled ? static_cast<int>(m_random() % static_cast<unsigned>(m_options.callsPerBlock)) : -1;
        for (int i = 0; i < m_options.callsPerBlock; ++i) {
            const auto slot = static_cast<std::uint32_t>(m_options.slots[static_cast<std::size_t>(i)]);
            HEDDLE_CHECK_OK(subject.prepare(slot, m_options.stateSlot, 0, m_options.callTimeout));
            CallTiming timing;
            if (i == look) {
                HEDDLE_TRY(timing, subject.callAndFreeze(0, m_options.callTimeout));
                HEDDLE_TRY(ReturnBuffer outputs, readOutputs(subject, m_options.outputBytes));
                m_sample.emplace(std::move(outputs));
                m_sampleSlot = static_cast<int>(slot);
                HEDDLE_CHECK_OK(subject.thaw());
            } else {
                HEDDLE_TRY(timing, subject.call(0, m_options.callTimeout));
            }
            HEDDLE_CHECK_OK(subject.release());
            if (i >= dropped)
                m_result.samples[contestant.name].back().push_back(
                    std::chrono::duration<double>(timing.wall).count());
        }
        if (contestant.serve)
            HEDDLE_CHECK_OK(subject.exitServe());
        return {};
    }

    /// The slot of the sample still holds its content: it is refilled only by the next half.
    Result<void> checkSample()
    {
        if (!m_sample)
            return {};
        ReturnBuffer outputs = std::move(*m_sample);
        m_sample.reset();
        HEDDLE_CHECK_OK(freezeAllBut(&m_oracle.subject()));
        CallOptions options;
        options.cancel = m_cancel;
        HEDDLE_TRY(
            Json said,
            m_oracle.call(
                "sample",
                {{"slot", m_sampleSlot}, {"state_slot", m_options.stateSlot}, {"outputs", outputs.spans()}},
                options, {outputs.descriptor()}));
        ++m_result.sampledCalls;
        if (!boolOr(said, "ok", false)) {
            ++m_result.wrongCalls;
            m_result.worstSample = std::move(said);
        }
        return {};
    }

    std::vector<Contestant> m_contestants;
    Oracle &m_oracle;
    const RoundsOptions &m_options;
    const CancelToken &m_cancel;
    std::mt19937_64 m_random;
    RoundsResult m_result;
    std::optional<ReturnBuffer> m_sample;
    int m_sampleSlot = 0;
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
