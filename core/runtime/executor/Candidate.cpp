// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/executor/Candidate.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle {

namespace {

std::uint64_t unsignedOr(const Json &object, const char *name)
{
    const std::int64_t value = integerOr(object, name, 0);
    return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

} // namespace

Result<std::vector<Arena::Place>> Arena::places(const Json &tensors, std::uint64_t slotBytes)
{
    std::vector<Place> places;
    for (const Json &tensor : tensors) {
        const Place place{unsignedOr(tensor, "offset"), unsignedOr(tensor, "bytes")};
        if (place.offset > slotBytes || place.bytes > slotBytes - place.offset)
            return Error(Code::InvalidInput, "a tensor of the layout leaves its slot",
                         stringOr(tensor, "name"));
        places.push_back(place);
    }
    return places;
}

Result<Arena> Arena::map(const Fd &memory, const Json &layout)
{
    Arena arena;
    arena.m_inputBase = unsignedOr(layout, "input_base");
    arena.m_inputSlotBytes = unsignedOr(layout, "input_slot_bytes");
    arena.m_inputSlots = static_cast<std::uint32_t>(unsignedOr(layout, "input_slots"));
    arena.m_stateBase = unsignedOr(layout, "state_base");
    arena.m_stateSlotBytes = unsignedOr(layout, "state_slot_bytes");
    arena.m_stateSlots = static_cast<std::uint32_t>(unsignedOr(layout, "state_slots"));
    HEDDLE_TRY(arena.m_inputs, places(memberOr(layout, "inputs"), arena.m_inputSlotBytes));
    HEDDLE_TRY(arena.m_state, places(memberOr(layout, "state"), arena.m_stateSlotBytes));
    struct stat info{};
    if (::fstat(memory.value(), &info) != 0)
        return Error(Code::Io, std::string("cannot look at the arena: ") + std::strerror(errno));
    const auto size = static_cast<std::uint64_t>(info.st_size);
    const auto fits = [&](std::uint64_t base, std::uint64_t slot, std::uint64_t count) {
        return base <= size && (slot == 0 || count <= (size - base) / slot);
    };
    if (!fits(arena.m_inputBase, arena.m_inputSlotBytes, arena.m_inputSlots)
        || !fits(arena.m_stateBase, arena.m_stateSlotBytes, arena.m_stateSlots))
        return Error(Code::InvalidInput, "the slots of the layout leave the arena");
    if (size > 0) {
        void *base = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, memory.value(), 0);
        if (base == MAP_FAILED)
            return Error(Code::Io, std::string("cannot map the arena: ") + std::strerror(errno));
        arena.m_base = static_cast<const std::byte *>(base);
    }
    return arena;
}

std::span<const std::byte> Arena::input(std::uint32_t slot, std::size_t index) const
{
    return {m_base + m_inputBase + slot * m_inputSlotBytes + m_inputs[index].offset, m_inputs[index].bytes};
}

std::span<const std::byte> Arena::state(std::uint32_t slot, std::size_t index) const
{
    return {m_base + m_stateBase + slot * m_stateSlotBytes + m_state[index].offset, m_state[index].bytes};
}

Candidate::Candidate(ResolvedPlan plan, Arena arena)
    : m_plan(std::move(plan)),
      m_arena(std::move(arena)),
      m_blocks(m_plan.buffers.size()),
      m_bases(m_plan.buffers.size(), nullptr),
      m_arguments(m_plan.maxArguments)
{
}

Result<Candidate> Candidate::load(const std::string &object, ResolvedPlan plan, Arena arena)
{
    if (plan.inputCount != arena.inputCount() || plan.stateCount != arena.stateCount())
        return Error(Code::InvalidInput, "the plan and the arena have different tensors");
    const std::size_t outputs = plan.outputCount + plan.updates.size();
    if (outputs > HEDDLE_MAX_OUTPUTS || plan.inputCount + plan.stateCount > HEDDLE_MAX_INPUTS)
        return Error(Code::NotCovered,
                     "a call takes at most 96 inputs with state and gives at most 64 outputs with updates");
    for (std::uint32_t i = 0; i < plan.firstScratch(); ++i) {
        const std::size_t bytes =
            i < plan.inputCount ? arena.input(0, i).size() : arena.state(0, i - plan.inputCount).size();
        if (bytes != plan.buffers[i].bytes)
            return Error(Code::InvalidInput, "the plan and the arena have different sizes",
                         plan.buffers[i].name);
    }
    void *library = ::dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        return Error(Code::CompileFailed,
                     std::string("the compiled candidate cannot be loaded: ") + ::dlerror());
    Candidate candidate(std::move(plan), std::move(arena));
    for (const ResolvedStep &step : candidate.m_plan.steps) {
        void *symbol = ::dlsym(library, step.trampoline.c_str());
        if (symbol == nullptr)
            return Error(Code::CompileFailed,
                         "the compiled candidate lacks the call of step " + std::to_string(step.number),
                         step.source, "define the kernel " + step.kernel);
        candidate.m_trampolines.push_back(reinterpret_cast<Trampoline>(symbol));
    }
    return candidate;
}

Result<void> Candidate::prepare(std::uint32_t slot, std::uint32_t stateSlot, bool isGuarded)
{
    const bool hasState = m_plan.stateCount > 0;
    if (slot >= m_arena.inputSlots() || (hasState && stateSlot >= m_arena.stateSlots()))
        return Error(Code::InvalidInput, "there is no such slot");
    release();
    // New addresses for each call, a few steps apart, as an allocator of a real program gives; never the same twice in a row.
    m_round = (m_round + 1) % Block::maxShift;
    const auto copy = [&](std::uint32_t buffer, std::span<const std::byte> from) {
        if (!m_blocks[buffer].hold(from.size(), isGuarded, m_round))
            return false;
        if (!from.empty())
            std::memcpy(m_blocks[buffer].data(), from.data(), from.size());
        m_bases[buffer] = m_blocks[buffer].data();
        return true;
    };
    const Error noMemory(Code::OutOfMemory, "there is no memory for the inputs");
    for (std::uint32_t i = 0; i < m_plan.inputCount; ++i) {
        if (!copy(i, m_arena.input(slot, i)))
            return noMemory;
    }
    // Guards need a copy made with guards; without updates a plain copy of the same state stays good.
    const bool needsState =
        hasState && (stateSlot != m_stateSlot || !m_isStateFresh || isGuarded || !m_plan.updates.empty());
    for (std::uint32_t i = 0; needsState && i < m_plan.stateCount; ++i) {
        if (!copy(m_plan.firstState() + i, m_arena.state(stateSlot, i)))
            return noMemory;
    }
    m_stateSlot = stateSlot;
    m_isStateFresh = !isGuarded;
    m_isPrepared = true;
    return {};
}

Result<void> Candidate::allocate(std::uint32_t from, std::uint32_t to, bool isGuarded)
{
    for (std::uint32_t i = from; i < to; ++i) {
        Block &block = m_blocks[i];
        if (!block.allocate(m_plan.buffers[i].bytes, isGuarded))
            return Error(Code::OutOfMemory, "there is no memory for " + m_plan.buffers[i].name);
        if (isGuarded)
            block.fill(0xFF);
        m_bases[i] = block.data();
    }
    return {};
}

Result<void> Candidate::call(bool isGuarded)
{
    if (!m_isPrepared)
        return Error(Code::Internal, "a call came before its inputs");
    const auto count = static_cast<std::uint32_t>(m_plan.buffers.size());
    // Outputs first, then scratch: the order of the export.
    HEDDLE_CHECK_OK(allocate(m_plan.firstOutput(), count, isGuarded));
    HEDDLE_CHECK_OK(allocate(m_plan.firstScratch(), m_plan.firstOutput(), isGuarded));
    for (const ResolvedCall &step : m_plan.calls) {
        fillArguments(m_plan, step, m_bases.data(), m_arguments.data());
        m_trampolines[step.step](m_arguments.data());
    }
    // The judge looks at the guards of what is published; scratch is known to us alone. It is freed within the call, as the
    // export does it.
    for (std::uint32_t i = m_plan.firstScratch(); i < m_plan.firstOutput(); ++i) {
        if (!m_blocks[i].isIntact())
            return Error(Code::TaskFailed, "the candidate wrote outside " + m_plan.buffers[i].name);
        m_blocks[i].free();
    }
    return {};
}

void Candidate::release()
{
    // The inputs stay: a caller owns them, and memory given back between calls would make each output pay for fresh pages
    // that PyTorch, with its inputs alive, does not pay for.
    for (std::uint32_t i = m_plan.firstScratch(); i < m_blocks.size(); ++i)
        m_blocks[i].free();
    m_isPrepared = false;
}

void Candidate::publish(HeddleDoorbell &page) const
{
    const auto span = [&](std::uint32_t buffer) {
        return HeddleSpan{reinterpret_cast<std::uint64_t>(m_blocks[buffer].data()), m_blocks[buffer].bytes()};
    };
    page.outputCount = 0;
    for (std::uint32_t i = 0; i < m_plan.outputCount; ++i)
        page.outputs[page.outputCount++] = span(m_plan.firstOutput() + i);
    for (const std::uint32_t buffer : m_plan.updates)
        page.outputs[page.outputCount++] = span(buffer);
    page.inputCount = m_plan.firstScratch();
    for (std::uint32_t i = 0; i < page.inputCount; ++i)
        page.inputs[i] = span(i);
}

} // namespace heddle
