// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Fd.h"
#include "core/base/Result.h"
#include "core/json/Json.h"
#include "core/plan/Resolved.h"
#include "core/runtime/Doorbell.h"
#include "core/runtime/executor/Block.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace heddle {

/// The arena of the oracle as an executor sees it: mapped read-only, tensors at fixed offsets in each slot.
class Arena {
public:
    /// `layout` as docs/architecture/oracle-protocol.md has it. Errors: InvalidInput, Io.
    static Result<Arena> map(const Fd &memory, const Json &layout);

    std::size_t inputCount() const { return m_inputs.size(); }
    std::size_t stateCount() const { return m_state.size(); }
    std::uint32_t inputSlots() const { return m_inputSlots; }
    std::uint32_t stateSlots() const { return m_stateSlots; }
    std::span<const std::byte> input(std::uint32_t slot, std::size_t index) const;
    std::span<const std::byte> state(std::uint32_t slot, std::size_t index) const;

private:
    struct Place {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };
    static Result<std::vector<Place>> places(const Json &tensors, std::uint64_t slotBytes);

    const std::byte *m_base = nullptr; // mapped for the life of the process
    std::vector<Place> m_inputs;
    std::vector<Place> m_state;
    std::uint64_t m_inputBase = 0;
    std::uint64_t m_inputSlotBytes = 0;
    std::uint64_t m_stateBase = 0;
    std::uint64_t m_stateSlotBytes = 0;
    std::uint32_t m_inputSlots = 0;
    std::uint32_t m_stateSlots = 0;
};

/// A loaded candidate: its trampolines, its resolved plan and the private buffers of one call at a time.
class Candidate {
public:
    using Trampoline = void (*)(const heddle_arg *);

    /// Opens the library and finds `heddle_step_I` of every step. Errors: CompileFailed naming what is missing; InvalidInput
    /// when plan and arena disagree.
    static Result<Candidate> load(const std::string &object, ResolvedPlan plan, Arena arena);

    std::size_t symbolCount() const { return m_trampolines.size(); }
    const ResolvedPlan &plan() const { return m_plan; }

    /// Copies a slot into private memory, and the state where it is another one or the last call may have changed it.
    Result<void> prepare(std::uint32_t slot, std::uint32_t stateSlot, bool isGuarded);
    /// One call on what prepare() copied. The only timed function: allocates outputs and scratch, runs the steps.
    Result<void> call(bool isGuarded);
    void release();
    /// Fills the page's spans.
    void publish(HeddleDoorbell &page) const;

private:
    Candidate(ResolvedPlan plan, Arena arena);
    Result<void> allocate(std::uint32_t from, std::uint32_t to, bool isGuarded);

    ResolvedPlan m_plan;
    Arena m_arena;
    std::vector<Trampoline> m_trampolines; // by step
    std::vector<Block> m_blocks;           // by buffer of the plan
    std::vector<void *> m_bases;           // by buffer of the plan
    std::vector<heddle_arg> m_arguments;
    std::uint32_t m_stateSlot = 0xffffffffu;
    bool m_isStateFresh = false;
    bool m_isPrepared = false;
    unsigned m_round = 0;
};

} // namespace heddle
