// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Correctness.h"

#include "core/runtime/server/Outputs.h"

#include <algorithm>
#include <thread>

namespace heddle {

namespace {

/// libgomp's workers spin for some milliseconds after a parallel region before they sleep.
constexpr auto spinTime = std::chrono::milliseconds(25);
constexpr auto watchTime = std::chrono::milliseconds(10);
/// Processor time that a sleeping process may still show over watchTime (clock granularity, signals).
constexpr auto quietCpu = std::chrono::milliseconds(1);
constexpr int maxLooks = 100;
/// More than the spinning of any OpenMP runtime costs, all threads together.
constexpr auto leftWorkCpu = std::chrono::milliseconds(60);

std::string describeFirst(const Json &output)
{
    const Json &first = memberOr(output, "first");
    if (!first.is_object())
        return {};
    return ": first at " + compactText(memberOr(first, "index")) + ", expected "
        + compactText(memberOr(first, "expected")) + ", got " + compactText(memberOr(first, "got"));
}

/// Elements of `bytes` that still hold the poison (all bits set), where that is no ordinary value of the dtype.
std::int64_t countPoison(std::span<const std::byte> bytes, const std::string &dtype)
{
    const std::size_t width = dtype == "float64"    ? 8
        : dtype == "float32"                        ? 4
        : dtype == "float16" || dtype == "bfloat16" ? 2
        : dtype == "bool"                           ? 1
                                                    : 0;
    if (width == 0)
        return 0;
    std::int64_t count = 0;
    for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
        bool isPoison = true;
        for (std::size_t i = 0; i < width && isPoison; ++i)
            isPoison = bytes[at + i] == std::byte{0xFF};
        count += isPoison ? 1 : 0;
    }
    return count;
}

/// The judgement of one candidate under way; see checkCorrectness().
class Check {
public:
    Check(Subject &subject, Oracle &oracle, InputSets &sets, const CorrectnessOptions &options,
          EvidenceSheet &sheet, CallOptions call)
        : m_subject(subject),
          m_oracle(oracle),
          m_sets(sets),
          m_options(options),
          m_sheet(sheet),
          m_call(std::move(call))
    {
    }

    Result<void> run(const ProgressSink &progress)
    {
        m_sets.beginJudgement();
        std::optional<InputSet> last;
        int done = 0;
        while (true) {
            HEDDLE_TRY(std::optional<InputSet> set, m_sets.next(m_oracle, m_call));
            if (!set)
                break;
            if (progress)
                progress({"checking", done++ / 7.0, set->family});
            HEDDLE_TRY(const bool goesOn, runSet(*set, last ? Purpose::Check : Purpose::First));
            if (!goesOn)
                return {};
            last = set;
        }
        if (!last)
            return Error(Code::TaskFailed, "no input set could be made for this task");
        // The last set again, at other addresses: a result that depends on what was there before differs now.
        HEDDLE_TRY(bool goesOn, runSet(*last, Purpose::Repeat));
        if (goesOn && bindsState()) {
            HEDDLE_TRY(goesOn, updateInPlace(*last));
        }
        if (goesOn)
            summarise();
        return {};
    }

private:
    enum class Purpose { First, Check, Repeat, Update };

    bool isNative() const { return m_options.binding == nullptr; }
    /// Whether memory for the outputs came filled with poison.
    bool hasPoison() const { return isNative() || boolOr(*m_options.binding, "poisons", false); }
    bool bindsState() const
    {
        return !isNative() && memberOr(*m_options.binding, "state_by").is_string()
            && !m_oracle.arena().state().empty();
    }

    /// The last inputs with another state that is copied into the candidate's own tensors, behind load_state_dict: what it
    /// derived from the state before must not outlive that.
    Result<bool> updateInPlace(const InputSet &last)
    {
        InputSet set = last;
        set.stateSlot = InputSets::randomisedState;
        HEDDLE_CHECK_OK(m_oracle.call("expect", {{"slot", set.slot}, {"state_slot", set.stateSlot}}, m_call));
        return runSet(set, Purpose::Update);
    }

    /// False when the candidate is dead or unusable: the finding is in the sheet.
    Result<bool> runSet(const InputSet &set, Purpose purpose)
    {
        const std::uint32_t flags = std::uint32_t{HEDDLE_CALL_GUARDED}
            | (purpose == Purpose::Update ? std::uint32_t{HEDDLE_CALL_STATE_IN_PLACE} : 0u);
        auto prepared =
            m_subject.prepare(static_cast<std::uint32_t>(set.slot), static_cast<std::uint32_t>(set.stateSlot),
                              flags, m_options.callTimeout);
        if (!prepared)
            return ended(prepared.error(), set);
        auto called = m_subject.callAndFreeze(flags, m_options.callTimeout);
        if (!called)
            return ended(called.error(), set);
        auto outputs = readOutputs(m_subject, m_sets.outputBytes());
        if (!outputs) {
            if (outputs.error().code() != Code::TaskFailed)
                return ended(outputs.error(), set);
            m_sheet.fail("correct", outputs.error().message());
            return false;
        }
        // The addresses are the candidate's word: where they cannot be read, that is its doing.
        const auto changed =
            changedInputs(m_subject, m_oracle.arena(), set.slot, set.stateSlot, m_sets.updates());
        if (!changed)
            return ended(changed.error(), set);
        if (!changed->empty())
            m_sheet.fail("inputs_unchanged",
                         "it changed " + changed->front() + " in place (set '" + set.family + "')",
                         {{"changed", *changed}});
        const std::size_t guarded =
            m_oracle.arena().inputs().size() + (isNative() ? m_oracle.arena().state().size() : 0);
        const auto damage = damagedGuard(m_subject, guarded, isNative());
        if (!damage)
            return ended(damage.error(), set);
        if (*damage)
            m_sheet.fail("guard_zones", **damage + " (set '" + set.family + "')");
        if (auto thawed = m_subject.thaw(); !thawed)
            return ended(thawed.error(), set);
        if (purpose == Purpose::First) {
            auto quiet = watchAfterReturn(*outputs);
            if (!quiet)
                return ended(quiet.error(), set);
        }
        auto released = m_subject.release();
        if (!released)
            return ended(released.error(), set);
        Json params{{"slot", set.slot}, {"state_slot", set.stateSlot}, {"outputs", outputs->spans()}};
        if (m_options.tolerance)
            params["tolerance"] = *m_options.tolerance;
        HEDDLE_TRY(const Json compared, m_oracle.call("compare", params, m_call, {outputs->descriptor()}));
        if (purpose == Purpose::Update) {
            recordUpdate(compared);
            return true;
        }
        if (!boolOr(compared, "ok", false))
            recordPoison(set, *outputs);
        record(set, compared, purpose);
        return true;
    }

    /// After return the process must fall asleep, and what it returned must stay as it is.
    Result<void> watchAfterReturn(ReturnBuffer &outputs)
    {
        std::this_thread::sleep_for(spinTime);
        HEDDLE_TRY(const auto first, m_subject.cpuTime());
        auto before = first;
        std::chrono::nanoseconds used{};
        bool isAsleep = false;
        // OpenMP's threads spin for a while after a region, and on a busy machine that while is spread out: it is bounded in
        // processor time, not on the clock. Work that goes on is not.
        for (int look = 0; look < maxLooks && !isAsleep && used < leftWorkCpu; ++look) {
            std::this_thread::sleep_for(watchTime);
            HEDDLE_TRY(const auto after, m_subject.cpuTime());
            isAsleep = after - before <= quietCpu;
            used = after - first;
            before = after;
        }
        HEDDLE_TRY(const int threads, m_subject.threadCount());
        const Json data{{"cpu_ms_after_return", std::chrono::duration<double, std::milli>(used).count()},
                        {"threads", threads}};
        if (!isAsleep) {
            m_sheet.fail("work_after_return", "it went on using the processor after it had returned", data);
            return {};
        }
        HEDDLE_CHECK_OK(m_subject.freeze());
        HEDDLE_TRY(ReturnBuffer again, readOutputs(m_subject, m_sets.outputBytes()));
        HEDDLE_CHECK_OK(m_subject.thaw());
        for (std::size_t i = 0; i < outputs.count(); ++i) {
            if (!std::ranges::equal(outputs.output(i), again.output(i))) {
                m_sheet.fail("work_after_return",
                             "output " + std::to_string(i) + " changed after it had returned", data);
                return {};
            }
        }
        m_sheet.pass("work_after_return",
                     "the process slept after return and its outputs stayed as they were", data);
        return {};
    }

    void record(const InputSet &set, const Json &compared, Purpose purpose)
    {
        if (purpose == Purpose::Repeat) {
            if (!boolOr(compared, "ok", false) && m_lastWasRight)
                m_sheet.fail("repeatable", "the same inputs at other addresses gave a wrong result",
                             compared);
            return;
        }
        m_families.push_back(set.family);
        m_precisions.push_back(set.precision);
        m_lastWasRight = boolOr(compared, "ok", false);
        int index = 0;
        for (const Json &output : memberOr(compared, "outputs")) {
            const std::string name = memberOr(output, "update").is_string()
                ? stringOr(output, "update")
                : "output " + std::to_string(index);
            ++index;
            recordOutput(set, output, name);
        }
        if (!m_lastWasRight && index == 0)
            m_sheet.fail("correct",
                         "the oracle could not compare the outputs: "
                             + stringOr(compared, "reason", "no reason given"));
    }

    void recordUpdate(const Json &compared)
    {
        const std::string by = stringOr(*m_options.binding, "state_by");
        if (boolOr(compared, "ok", false)) {
            m_sheet.pass("state_binding",
                         "it took the reference's parameters by " + by
                             + ", and followed when they were changed in place",
                         *m_options.binding);
        } else if (m_lastWasRight) {
            // Wrong with the first state too, it says nothing about following a later one.
            std::string first;
            for (const Json &output : memberOr(compared, "outputs")) {
                if (first.empty() && !boolOr(output, "ok", false))
                    first = describeFirst(output);
            }
            m_sheet.fail("state_binding", "it is wrong after its parameters were changed in place" + first,
                         compared);
        }
    }

    /// Only looked at where the result is wrong: a right one may hold such a NaN where the reference has one.
    void recordPoison(const InputSet &set, ReturnBuffer &outputs)
    {
        const Json &layout = memberOr(m_oracle.arena().layout(), "outputs");
        for (std::size_t i = 0; i < outputs.count() && i < layout.size(); ++i) {
            const std::int64_t count =
                hasPoison() ? countPoison(outputs.output(i), stringOr(layout[i], "dtype")) : 0;
            if (count > 0)
                m_sheet.fail("outputs_written",
                             "output " + std::to_string(i) + ": " + std::to_string(count)
                                 + " elements were never written (set '" + set.family + "')",
                             {{"elements", count}});
        }
    }

    void recordOutput(const InputSet &set, const Json &output, const std::string &name)
    {
        m_worstError =
            std::max(m_worstError,
                     numberOr(output, "max_abs", 0.0) / std::max(1e-300, numberOr(output, "budget", 1.0)));
        const double eager = numberOr(output, "eager_rms", 0.0);
        const double own = numberOr(output, "rms", 0.0);
        if (eager > 0.0)
            m_worstRatio = std::max(m_worstRatio, own / eager);
        if (!boolOr(output, "ok", false)) {
            const std::string sentence = name + " is wrong on the set '" + set.family + "' ("
                + std::to_string(integerOr(output, "wrong_count", 0)) + " elements)" + describeFirst(output);
            m_sheet.fail(set.isInDomain ? "correct" : "domain", sentence, output);
        } else if (!boolOr(output, "precision_ok", true)) {
            m_sheet.fail("precision", name + " is less precise than eager on the set '" + set.family + "'",
                         {{"rms", own}, {"eager_rms", eager}, {"set", set.family}});
        }
    }

    void summarise()
    {
        std::string list;
        for (const std::string &family : m_families)
            list += (list.empty() ? "" : ", ") + family;
        m_sheet.pass("ran", "it ran to the end on " + std::to_string(m_families.size() + 1) + " calls");
        m_sheet.pass("in_time", "every call ended within its limit");
        m_sheet.pass("families", std::to_string(m_families.size()) + " fresh input sets: " + list,
                     {{"used", m_families}, {"dropped", m_sets.dropped()}});
        const bool isDouble = std::all_of(m_precisions.begin(), m_precisions.end(),
                                          [](const std::string &word) { return word.starts_with("fp64"); });
        m_sheet.pass(
            "oracle_precision",
            isDouble ? "compared with the reference in double precision"
                     : "some sets were compared with the reference in single precision: too large for double",
            {{"sets", m_precisions}});
        const Json error{{"error_of_budget", m_worstError}, {"rms_of_eager", m_worstRatio}};
        m_sheet.pass("correct", "right on every set within the error budget", error);
        summariseDomain();
        m_sheet.pass("precision", "its error is within four times eager's own", error);
        if (!hasPoison())
            m_sheet.skip("outputs_written",
                         "not shown: PyTorch's memory cannot be filled with poison on this machine");
        else if (isNative())
            m_sheet.pass("outputs_written", "every element of every output was written over poison");
        else
            m_sheet.pass("outputs_written",
                         "every element was written: new memory came filled with poison in these calls");
        m_sheet.pass("inputs_unchanged", "inputs and parameters were byte for byte as before");
        if (isNative())
            m_sheet.pass("guard_zones", "nothing was written outside its buffers");
        else
            m_sheet.pass("guard_zones",
                         "nothing was written round its inputs; its outputs are allocations of its own");
        m_sheet.pass("repeatable", "the same inputs at other addresses gave the right result again");
    }

    /// Of the families beyond the task's own: those that were used, by name, and never those that were dropped.
    void summariseDomain()
    {
        std::string others;
        for (const std::string &family : m_families) {
            if (family != "task")
                others += (others.empty() ? "" : ", ") + family;
        }
        std::string dropped;
        for (const std::string &reason : m_sets.dropped())
            dropped += (dropped.empty() ? "" : "; ") + reason;
        const Json data{{"dropped", m_sets.dropped()}};
        if (others.empty())
            m_sheet.skip("domain", "only inputs like the given ones could be tried: " + dropped, data);
        else
            m_sheet.pass("domain",
                         "right on these families of inputs too: " + others
                             + (dropped.empty() ? "" : " (not used: " + dropped + ")"),
                         data);
    }

    /// The candidate died, hung or misbehaved on the doorbell: a finding. Anything else is the environment's.
    Result<bool> ended(const Error &error, const InputSet &set)
    {
        const std::string where = " (set '" + set.family + "')";
        switch (error.code()) {
        case Code::TimedOut:
            m_sheet.pass("ran", "it did not crash");
            m_sheet.fail("in_time",
                         "a call did not return within "
                             + std::to_string(m_options.callTimeout.count() / 1000) + " s" + where);
            return false;
        case Code::Crashed:
        case Code::OutOfMemory:
        case Code::TaskFailed:
        case Code::Protocol:
            m_sheet.fail("ran", error.message() + where, {{"code", codeName(error.code())}});
            return false;
        default: return error;
        }
    }

    Subject &m_subject;
    Oracle &m_oracle;
    InputSets &m_sets;
    const CorrectnessOptions &m_options;
    EvidenceSheet &m_sheet;
    CallOptions m_call;
    std::vector<std::string> m_families;
    std::vector<std::string> m_precisions;
    double m_worstError = 0.0;
    double m_worstRatio = 0.0;
    bool m_lastWasRight = true;
};

} // namespace

Result<void> checkCorrectness(Subject &subject, Oracle &oracle, InputSets &sets,
                              const CorrectnessOptions &options, EvidenceSheet &sheet,
                              const CancelToken &cancel, const ProgressSink &progress)
{
    CallOptions call;
    call.timeout = std::chrono::minutes(5);
    call.cancel = cancel;
    return Check(subject, oracle, sets, options, sheet, call).run(progress);
}

} // namespace heddle
