// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace heddle {

enum class LaneKind {
    Device, ///< measures: one job at a time for each target
    Cpu,    ///< computes
    Io,     ///< reads, writes, waits for others
};

/// Where a job queues. Jobs of one lane run one after the other, in the order of submission.
struct Lane {
    LaneKind kind = LaneKind::Cpu;
    std::string target; ///< for Device: "cpu", "cuda:0", "ssh://HOST/cpu"; else empty

    static Lane device(std::string target) { return {LaneKind::Device, std::move(target)}; }
    static Lane cpu() { return {LaneKind::Cpu, {}}; }
    static Lane io() { return {LaneKind::Io, {}}; }
    auto operator<=>(const Lane &) const = default;
};

enum class JobState {
    Waiting,
    Running,
    Done,      ///< returned, nobody having asked it to stop
    Cancelled, ///< returned after a cancel, or dropped before it ran
    Failed,    ///< threw, which our functions don't: a bug or no memory
};

using JobId = std::uint64_t;

/// A snapshot.
struct JobInfo {
    JobId id = 0;
    std::string name; ///< for a person: "Judge softmax"
    std::string tag;  ///< empty, or what makes a newer job replace an older one
    Lane lane;
    JobState state = JobState::Waiting;
    bool isCancelRequested = false;
    Progress progress;   ///< the last one reported
    std::string failure; ///< what a Failed job threw
};

/// The work itself, on the lane's thread. Results leave through what it captured; once the token fired, its
/// result is stale and must be dropped.
using JobWork = std::function<void(const CancelToken &, const ProgressSink &)>;

} // namespace heddle
