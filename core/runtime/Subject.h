// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/rpc/FrameChannel.h"
#include "core/runtime/Doorbell.h"
#include "core/sandbox/Child.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heddle {

/// What the worker's own clock saw of one operation.
struct CallTiming {
    std::chrono::nanoseconds
        wall{}; ///< CLOCK_MONOTONIC from just before the ring to just after the reply was seen
    std::chrono::nanoseconds cpu{}; ///< processor time of all the subject's threads over the same span
};

/// A child that can run one call of something on the doorbell (Doorbell.h), and the trusted clock beside it. Owns the
/// child; one thread at a time. Whatever fails (death, timeout, an implausible reply) leaves it unusable: destroy it.
/// Errors of every operation: Crashed with the signal, TimedOut (the child has been killed), OutOfMemory,
/// TaskFailed with the subject's own message (status 1), Protocol (an implausible reply).
class Subject {
public:
    using Milliseconds = std::chrono::milliseconds;
    static constexpr std::uint32_t noState = 0xffffffffu;

    Subject(Child child, FrameChannel channel, std::string name);
    Subject(Subject &&) noexcept;
    Subject &operator=(Subject &&) noexcept;
    ~Subject();

    /// For `load`, `open` and so on; not while serving.
    FrameChannel &channel();
    Child &child();
    const std::string &name() const;

    /// What makes the contents of a slot visible to the subject, called before each prepare; the subject then knows one
    /// input slot only, 0. Without it slots are the subject's own.
    using Placer = std::function<void(std::uint32_t slot, std::uint32_t stateSlot)>;
    void setPlacer(Placer placer);
    bool hasPlacer() const;
    /// Calls the placer, if there is one, for a method of the channel that reads the slots.
    void place(std::uint32_t slot, std::uint32_t stateSlot) const;

    /// Sends `serve` with the doorbell's descriptor, then proves with one empty call that it answers.
    Result<void> startServe(Json params = Json::object(), Milliseconds timeout = Milliseconds(60'000));
    bool isServing() const;
    Result<void> prepare(std::uint32_t slot, std::uint32_t stateSlot, std::uint32_t flags,
                         Milliseconds timeout);
    Result<CallTiming> call(std::uint32_t flags, Milliseconds timeout);
    /// call(), then freeze() at once: what the outputs hold then is what counts, so late work cannot help.
    Result<CallTiming> callAndFreeze(std::uint32_t flags, Milliseconds timeout);
    Result<CallTiming> emptyCall();
    Result<void> release();
    /// Leaves the doorbell; the channel is usable again.
    Result<void> exitServe(Milliseconds timeout = Milliseconds(10'000));

    /// SIGSTOP, and returns once every thread is stopped. SIGCONT in thaw(). Both may be called twice.
    Result<void> freeze();
    Result<void> thaw();
    bool isFrozen() const;

    /// Copies of what the last reply published, counts and sizes checked against the page's limits only:
    /// compare the bytes with what you expect before you read.
    std::vector<HeddleSpan> outputs() const;
    std::vector<HeddleSpan> inputs() const;
    /// Copies out of the subject's memory (process_vm_readv; /proc/PID/mem where that is filtered).
    /// Errors: Crashed; Protocol when the range is not mapped.
    Result<void> readMemory(std::uint64_t address, std::span<std::byte> into) const;
    /// Processor time of all threads, dead ones included, in nanoseconds.
    Result<std::chrono::nanoseconds> cpuTime() const;
    Result<int> threadCount() const;
    /// Bytes resident now.
    Result<std::uint64_t> residentBytes() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace heddle
