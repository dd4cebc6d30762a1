// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Oracle.h"

#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// One single-use input set: fresh secret content in a slot, with its expected outputs kept in the oracle.
struct InputSet {
    std::string family;
    int slot = 0;
    int stateSlot = 0;
    std::string precision;  ///< of the expectation: fp64, fp64_sliced, fp32
    bool isInDomain = true; ///< a failure here means wrong; outside, structure_assuming
};

/// Hands out input sets: those prepared in idle time first, then made on the spot. Sets are never used twice.
/// Belongs to one open task; one thread at a time.
class InputSets {
public:
    /// Makes the arena: `checkSlots` for sets, the rest for timing, within the memory budget.
    static Result<InputSets> create(Oracle &oracle, std::uint64_t budgetBytes, const CallOptions &options);

    /// Starts a new judgement: forgets what is left of the last one.
    void beginJudgement();
    /// The next set of this judgement, or nothing after the last. Dropped families are noted and passed over.
    Result<std::optional<InputSet>> next(Oracle &oracle, const CallOptions &options);
    /// Prepares one set ahead; false when there is nothing to do. Called in idle time.
    Result<bool> prepareOne(Oracle &oracle, const CallOptions &options);
    /// Forgets the sets that were prepared with this state slot: who fills it takes their expectations away.
    void forgetPrepared(int stateSlot);

    const std::vector<std::string> &dropped() const
    {
        return m_dropped;
    } ///< "family: reason" of this judgement
    const std::vector<int> &timingSlots() const { return m_timingSlots; }
    std::uint32_t timingStateSlot() const { return constructedState; }
    const std::vector<std::uint64_t> &outputBytes() const { return m_outputBytes; }
    const std::vector<std::string> &updates() const { return m_updates; }

    static constexpr int constructedState = 2;
    static constexpr int randomisedState = 0; ///< filled by the first set of each judgement

private:
    struct Recipe {
        const char *family;
        int stateSlot;
        bool fillsState; ///< randomises (or constructs) its state slot first
        bool isTasksOwn; ///< what get_inputs() gives: never dropped
    };
    static const std::vector<Recipe> &recipes();
    Result<std::optional<InputSet>> make(Oracle &oracle, std::size_t recipe, const CallOptions &options);

    std::vector<int> m_checkSlots;
    std::vector<int> m_timingSlots;
    std::vector<std::uint64_t> m_outputBytes;
    std::vector<std::string> m_updates;
    std::vector<std::optional<InputSet>> m_ready; ///< by recipe, prepared ahead
    std::vector<std::string> m_readyDropped;      ///< by recipe: why this draw was dropped, or empty
    std::vector<std::string> m_dropped;
    std::size_t m_next = 0;
};

} // namespace heddle
