// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Outputs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace heddle {

namespace {

/// Compares a range of the subject's memory with ours, a piece at a time.
Result<bool> isEqual(const Subject &subject, std::uint64_t address, std::span<const std::byte> expected)
{
    std::vector<std::byte> piece(std::min<std::size_t>(expected.size(), 1u << 20));
    std::size_t done = 0;
    while (done < expected.size()) {
        const std::size_t count = std::min(piece.size(), expected.size() - done);
        HEDDLE_CHECK_OK(subject.readMemory(address + done, std::span(piece).first(count)));
        if (std::memcmp(piece.data(), expected.data() + done, count) != 0)
            return false;
        done += count;
    }
    return true;
}

} // namespace

Result<ReturnBuffer> readOutputs(const Subject &subject, const std::vector<std::uint64_t> &sizes)
{
    const std::vector<HeddleSpan> spans = subject.outputs();
    if (spans.size() != sizes.size())
        return Error(Code::TaskFailed,
                     "the candidate returned " + std::to_string(spans.size()) + " tensors, "
                         + std::to_string(sizes.size()) + " were expected");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (spans[i].bytes != sizes[i])
            return Error(Code::TaskFailed,
                         "output " + std::to_string(i) + " has " + std::to_string(spans[i].bytes) + " bytes, "
                             + std::to_string(sizes[i]) + " were expected");
    }
    HEDDLE_TRY(ReturnBuffer buffer, ReturnBuffer::create(sizes));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] > 0)
            HEDDLE_CHECK_OK(subject.readMemory(spans[i].address, buffer.output(i)));
    }
    return buffer;
}

Result<std::vector<std::string>> changedInputs(const Subject &subject, const Arena &arena, int slot,
                                               int stateSlot, const std::vector<std::string> &updates)
{
    const std::vector<HeddleSpan> spans = subject.inputs();
    const std::size_t inputCount = arena.inputs().size();
    // A Python candidate without all of the task's parameters publishes its inputs alone; `state_binding` tells.
    if (spans.size() < inputCount || spans.size() > inputCount + arena.state().size())
        return Error(Code::Protocol,
                     "the subject published " + std::to_string(spans.size()) + " inputs, "
                         + std::to_string(inputCount + arena.state().size()) + " were expected");
    const bool hasAllState = spans.size() == inputCount + arena.state().size();
    std::vector<std::string> changed;
    for (std::size_t i = 0; i < (hasAllState ? spans.size() : inputCount); ++i) {
        const bool isState = i >= inputCount;
        const ArenaTensor &tensor = isState ? arena.state()[i - inputCount] : arena.inputs()[i];
        if (isState && std::find(updates.begin(), updates.end(), tensor.name) != updates.end())
            continue;
        const auto expected = isState ? arena.state(stateSlot, i - inputCount) : arena.input(slot, i);
        if (spans[i].bytes != expected.size()) {
            changed.push_back(tensor.name);
            continue;
        }
        HEDDLE_TRY(const bool equal, isEqual(subject, spans[i].address, expected));
        if (!equal)
            changed.push_back(tensor.name);
    }
    return changed;
}

Result<std::optional<std::string>> damagedGuard(const Subject &subject, std::size_t inputCount,
                                                bool hasGuardedOutputs)
{
    std::array<std::byte, HEDDLE_GUARD_BYTES> zone{};
    const auto isWhole = [&](std::uint64_t address) -> Result<bool> {
        HEDDLE_CHECK_OK(subject.readMemory(address, zone));
        return std::all_of(zone.begin(), zone.end(),
                           [](std::byte value) { return value == std::byte{HEDDLE_GUARD_FILL}; });
    };
    const auto check = [&](std::span<const HeddleSpan> spans,
                           const char *what) -> Result<std::optional<std::string>> {
        for (std::size_t i = 0; i < spans.size(); ++i) {
            if (spans[i].address == 0 && spans[i].bytes == 0)
                continue; // PyTorch gives an empty tensor no address
            HEDDLE_TRY(const bool before, isWhole(spans[i].address - HEDDLE_GUARD_BYTES));
            HEDDLE_TRY(const bool after, isWhole(spans[i].address + spans[i].bytes));
            if (!before || !after)
                return std::optional<std::string>("it wrote " + std::string(before ? "behind" : "before")
                                                  + ' ' + what + ' ' + std::to_string(i));
        }
        return std::optional<std::string>();
    };
    if (hasGuardedOutputs) {
        const std::vector<HeddleSpan> outputs = subject.outputs();
        HEDDLE_TRY(std::optional<std::string> found, check(outputs, "output"));
        if (found)
            return found;
    }
    const std::vector<HeddleSpan> inputs = subject.inputs();
    return check(std::span(inputs).first(std::min(inputCount, inputs.size())), "input");
}

} // namespace heddle
