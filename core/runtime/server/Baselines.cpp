// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Baselines.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle {

namespace {

/// torch.compile's autotuning chooses among templates for products and convolutions only.
bool hasProduct(const Json &operators)
{
    static constexpr std::array<std::string_view, 7> words{"mm",     "matmul",    "linear", "conv",
                                                           "einsum", "attention", "lstm"};
    for (const Json &row : operators) {
        const std::string name = stringOr(row, "name");
        if (std::any_of(words.begin(), words.end(),
                        [&](std::string_view word) { return name.find(word) != std::string::npos; }))
            return true;
    }
    return false;
}

Result<void> prepareMode(Oracle &oracle, const std::string &mode, BaselineSet &set, const CancelToken &cancel,
                         const ProgressSink &progress)
{
    if (progress)
        progress({"compiling the baseline", -1.0, mode});
    CallOptions options;
    options.cancel = cancel;
    options.timeout = std::chrono::seconds(mode == "eager" ? 60 : 300);
    HEDDLE_TRY(const Json prepared, oracle.call("prepare", {{"name", mode}}, options));
    if (boolOr(prepared, "ok", false))
        set.prepared.push_back(mode);
    else
        set.skipped[mode] = stringOr(prepared, "reason", "it did not compile");
    return {};
}

} // namespace

int callsPerBlockFor(double callSeconds, std::size_t slots)
{
    const int wanted = callSeconds > 0.4 ? 2 : callSeconds > 0.1 ? 3 : callSeconds > 0.01 ? 4 : 8;
    return std::max(2, std::min(static_cast<int>(std::min<std::size_t>(slots, 8)), wanted));
}

Result<BaselineSet> measureBaselines(Oracle &oracle, InputSets &sets, BaselineDepth depth,
                                     const CancelToken &cancel, const ProgressSink &progress)
{
    BaselineSet set;
    HEDDLE_CHECK_OK(prepareMode(oracle, "eager", set, cancel, progress));
    if (set.prepared.empty())
        return Error(Code::TaskFailed, "the reference does not run: " + stringOr(set.skipped, "eager"));
    if (depth != BaselineDepth::Eager)
        HEDDLE_CHECK_OK(prepareMode(oracle, "compile", set, cancel, progress));
    if (depth == BaselineDepth::Strongest) {
        CallOptions options;
        options.cancel = cancel;
        HEDDLE_TRY(const Json profile, oracle.call("profile", Json::object(), options));
        if (hasProduct(memberOr(profile, "operators")))
            HEDDLE_CHECK_OK(prepareMode(oracle, "max_autotune", set, cancel, progress));
        else
            set.skipped["max_autotune"] = "it tunes products and convolutions, and this task has none";
        HEDDLE_CHECK_OK(prepareMode(oracle, "freezing", set, cancel, progress));
    }
    CallOptions fill;
    fill.cancel = cancel;
    HEDDLE_TRY([[maybe_unused]] const Json filled,
               oracle.call("fill",
                           {{"slot", sets.timingSlots().front()},
                            {"family", "task"},
                            {"state_slot", sets.timingStateSlot()},
                            {"state", "constructed"}},
                           fill));
    sets.forgetPrepared(static_cast<int>(sets.timingStateSlot()));
    std::vector<Contestant> contestants;
    for (const std::string &name : set.prepared)
        contestants.push_back({name, &oracle.subject(), Json{{"name", name}}});
    RoundsOptions options;
    options.stateSlot = sets.timingStateSlot();
    options.slots = sets.timingSlots();
    options.callsPerBlock = callsPerBlockFor(0.0, options.slots.size());
    options.callTimeout = std::chrono::seconds(60);
    HEDDLE_TRY(set.rounds, timeInRounds(contestants, oracle, options, cancel, progress));
    set.strongest = strongestOf(set.prepared, set.rounds);
    return set;
}

std::string strongestOf(const std::vector<std::string> &names, const RoundsResult &rounds)
{
    std::string strongest = "eager";
    double best = INFINITY;
    for (const std::string &name : names) {
        const double seconds = undisturbedTime(rounds.samples.at(name));
        if (seconds < best) {
            best = seconds;
            strongest = name;
        }
    }
    return strongest;
}

Json timingJson(const RoundsResult &rounds, const std::string &name, std::uint64_t seed)
{
    const auto found = rounds.samples.find(name);
    if (found == rounds.samples.end())
        return nullptr;
    const Interval interval = medianInterval(found->second, seed);
    return {
        {"median_ms", interval.value * 1e3},
        {"undisturbed_ms", undisturbedTime(found->second) * 1e3},
        {"ci_ms", {interval.low * 1e3, std::isfinite(interval.high) ? Json(interval.high * 1e3) : Json()}},
        {"runs", rounds.calls(name)}};
}

Json baselinesJson(const std::string &strongest, const RoundsResult &rounds, std::uint64_t seed)
{
    Json out = Json::object();
    for (const char *name : {"eager", "compile"}) {
        if (Json row = timingJson(rounds, name, seed); row.is_object())
            out[name] = std::move(row);
    }
    if (Json row = timingJson(rounds, strongest, seed); row.is_object()) {
        row["name"] = strongest;
        out["strongest"] = std::move(row);
    }
    return out;
}

Json ratioJson(const Interval &ratio)
{
    const Json high = std::isfinite(ratio.high) ? Json(ratio.high) : Json();
    return {{"value", ratio.value}, {"ci", {ratio.low, high}}};
}

} // namespace heddle
