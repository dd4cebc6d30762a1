// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/Subject.h"
#include "core/runtime/server/Arena.h"
#include "core/runtime/server/Builder.h"

#include <mutex>
#include <optional>

namespace heddle {

/// A candidate's process with the private folders that live as long as it does.
struct CandidateProcess {
    std::optional<TempFolder> objects; ///< read-only inside; the object is placed here
    std::optional<TempFolder> scratch; ///< the only folder it may write
    Subject subject;
};

/// Starts executors for native candidates and keeps one warm spare: a process in the sandbox that has loaded nothing
/// yet. Thread-safe.
class Executors {
public:
    explicit Executors(Machine &machine) : m_machine(machine) {}

    /// A serving subject for the built candidate. Errors: Crashed, TimedOut or TaskFailed when it cannot be loaded
    /// (a finding), Environment.
    Result<CandidateProcess> start(const BuildOutcome &build, const Arena &arena, const CancelToken &cancel);
    /// Makes the spare if there is none; called in idle time.
    Result<void> prepareSpare();

private:
    Result<CandidateProcess> spawn();

    Machine &m_machine;
    std::mutex m_mutex; ///< guards m_spare
    std::optional<CandidateProcess> m_spare;
};

} // namespace heddle
