// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Oracle.h"
#include "core/stats/Interval.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Something to time. Every Python subject, baseline or candidate, starts and leaves its loop for each block: what runs
/// just before a block (the collector, cold code) then costs both sides the same.
struct Contestant {
    std::string name; ///< "candidate", "eager", "compile", ...
    Subject *subject = nullptr;
    std::optional<Json>
        serve; ///< parameters of `serve` for each block; none for an executor, which serves already
};

struct RoundsOptions {
    double budgetSeconds = 3.0; ///< stop after the round in which this has passed
    int minRounds = 6;
    int maxRounds = 60;
    int callsPerBlock = 4; ///< the first of each block is dropped, of six and more the first two
    std::uint32_t stateSlot = 0;
    std::vector<int> slots; ///< input slots that the oracle may refill, at least callsPerBlock
    std::string sampled;    ///< the contestant whose outputs are checked; empty: none
    std::vector<std::uint64_t> outputBytes; ///< of the sampled contestant
    std::optional<double> tolerance;        ///< of the comparison; none: the task's own rule
    std::chrono::milliseconds callTimeout{20'000};
};

/// The raw result of one interleaved measurement. Seconds.
struct RoundsResult {
    std::map<std::string, std::vector<RoundSamples>> samples; ///< one entry a block, so two a round
    /// Processor seconds of the contestant's process from before each prepare to after its release, without the call.
    std::map<std::string, std::vector<double>> untimed;
    double emptyCallSeconds = 0.0;
    int sampledCalls = 0;
    int wrongCalls = 0;
    int impreciseCalls = 0; ///< right within the tolerance, and less exact than a check lets pass
    Json worstSample;       ///< what the oracle said of the worst sampled call
    double seconds = 0.0;
    int rounds() const;
    int calls(const std::string &name) const;
};

/// Times the contestants in ABBA order: in each round all of them forward, then all backward, each in a block of
/// `callsPerBlock` calls on fresh secret inputs, every other subject frozen. Where the inputs lie changes
/// with each call (native) or block (Python). Calls of one half of a
/// round see the same contents (each contestant once). Of each block of `sampled` the outputs of its fastest counted call,
/// which is what the ratios are formed of, and of one call that a secret chooses are read from the frozen process and
/// compared by the oracle after the block. The clock is this process's.
/// Errors: those of Subject; TaskFailed when the oracle cannot make inputs. With `sampled`, what fails on another side than that
/// contestant's is Environment. All subjects are thawed on return.
Result<RoundsResult> timeInRounds(std::vector<Contestant> contestants, Oracle &oracle,
                                  const RoundsOptions &options, const CancelToken &cancel,
                                  const ProgressSink &progress);

} // namespace heddle
