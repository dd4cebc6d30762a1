// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/InputSets.h"

#include <algorithm>

namespace heddle {

namespace {

std::uint64_t sumOfBytes(const Json &tensors)
{
    std::uint64_t sum = 0;
    for (const Json &tensor : tensors)
        sum += static_cast<std::uint64_t>(std::max<std::int64_t>(0, integerOr(tensor, "bytes", 0)));
    return sum;
}

} // namespace

const std::vector<InputSets::Recipe> &InputSets::recipes()
{
    // Sets of one state slot stand together: a slot is refilled only when no prepared set needs it any more.
    static const std::vector<Recipe> list{
        {"task", randomisedState, true, true}, {"signed", randomisedState, false, false},
        {"heavy_tailed", 1, true, false},      {"extreme_scale", 1, false, false},
        {"structured", 1, false, false},       {"task", constructedState, true, true},
    };
    return list;
}

Result<InputSets> InputSets::create(Oracle &oracle, std::uint64_t budgetBytes, const CallOptions &options)
{
    const Json &info = oracle.info();
    // An input set costs its inputs and, in the oracle, its expected outputs in double precision.
    const std::uint64_t perSet = std::max<std::uint64_t>(
        1, sumOfBytes(memberOr(info, "inputs")) + 2 * sumOfBytes(memberOr(info, "outputs")));
    const auto affordable = static_cast<int>(std::min<std::uint64_t>(budgetBytes / perSet, 16));
    // More slots make longer blocks of calls, which only short calls need.
    const bool isSmall = sumOfBytes(memberOr(info, "inputs")) <= (std::uint64_t{8} << 20);
    const int timingSlots = affordable >= 16 && isSmall ? 8 : affordable >= 9 ? 4 : affordable >= 6 ? 3 : 2;
    const int checkSlots = std::clamp(affordable - timingSlots, 1, static_cast<int>(recipes().size()));
    HEDDLE_CHECK_OK(oracle.makeArena(checkSlots + timingSlots, 3, options));
    InputSets sets;
    for (int i = 0; i < checkSlots; ++i)
        sets.m_checkSlots.push_back(i);
    for (int i = 0; i < timingSlots; ++i)
        sets.m_timingSlots.push_back(checkSlots + i);
    for (const Json &output : memberOr(oracle.arena().layout(), "outputs"))
        sets.m_outputBytes.push_back(static_cast<std::uint64_t>(integerOr(output, "bytes", 0)));
    for (const Json &update : memberOr(oracle.arena().layout(), "updates")) {
        const std::string name = update.is_string() ? update.get<std::string>() : std::string();
        for (const ArenaTensor &tensor : oracle.arena().state()) {
            if (tensor.name == name)
                sets.m_outputBytes.push_back(tensor.bytes);
        }
        sets.m_updates.push_back(name);
    }
    sets.m_ready.resize(recipes().size());
    sets.m_readyDropped.resize(recipes().size());
    return sets;
}

void InputSets::beginJudgement()
{
    m_next = 0;
    m_dropped.clear();
}

void InputSets::forgetPrepared(int stateSlot)
{
    for (std::size_t index = 0; index < recipes().size(); ++index) {
        if (recipes()[index].stateSlot == stateSlot)
            m_ready[index].reset();
    }
}

Result<std::optional<InputSet>> InputSets::make(Oracle &oracle, std::size_t index, const CallOptions &options)
{
    const Recipe &recipe = recipes()[index];
    const int slot = m_checkSlots[index % m_checkSlots.size()];
    Json params{{"slot", slot}, {"family", recipe.family}, {"state_slot", nullptr}};
    if (recipe.fillsState) {
        forgetPrepared(recipe.stateSlot);
        params["state_slot"] = recipe.stateSlot;
        params["state"] = recipe.stateSlot == constructedState ? "constructed" : "randomised";
    }
    HEDDLE_TRY(const Json filled, oracle.call("fill", params, options));
    if (boolOr(filled, "dropped", false)) {
        m_readyDropped[index] =
            std::string(recipe.family) + ": " + stringOr(filled, "reason", "not usable here");
        return std::optional<InputSet>();
    }
    HEDDLE_TRY(const Json expected,
               oracle.call("expect", {{"slot", slot}, {"state_slot", recipe.stateSlot}}, options));
    if (boolOr(expected, "dropped", false) && !recipe.isTasksOwn) {
        m_readyDropped[index] =
            std::string(recipe.family) + ": " + stringOr(expected, "reason", "the reference is not finite");
        return std::optional<InputSet>();
    }
    m_readyDropped[index].clear();
    return std::optional<InputSet>(InputSet{recipe.family, slot, recipe.stateSlot,
                                            stringOr(expected, "precision", "fp64"),
                                            boolOr(filled, "in_domain", true)});
}

Result<std::optional<InputSet>> InputSets::next(Oracle &oracle, const CallOptions &options)
{
    while (m_next < recipes().size()) {
        const std::size_t index = m_next++;
        std::optional<InputSet> set = std::exchange(m_ready[index], std::nullopt);
        // As single-use as a set: another draw of the family, in the next judgement, may be usable.
        std::string dropped = std::exchange(m_readyDropped[index], {});
        if (!set && dropped.empty()) {
            HEDDLE_TRY(set, make(oracle, index, options));
            dropped = std::exchange(m_readyDropped[index], {});
        }
        if (set)
            return set;
        m_dropped.push_back(std::move(dropped));
    }
    return std::optional<InputSet>();
}

Result<bool> InputSets::prepareOne(Oracle &oracle, const CallOptions &options)
{
    // With fewer slots than recipes a prepared set would be overwritten by a later one.
    const std::size_t count = std::min(recipes().size(), m_checkSlots.size());
    for (std::size_t index = 0; index < count; ++index) {
        if (m_ready[index] || !m_readyDropped[index].empty())
            continue;
        HEDDLE_TRY(m_ready[index], make(oracle, index, options));
        return true;
    }
    return false;
}

} // namespace heddle
