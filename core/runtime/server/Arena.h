// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Fd.h"
#include "core/json/Json.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heddle {

/// One tensor of an arena: where it lies inside its slot.
struct ArenaTensor {
    std::string name;
    std::string dtype;
    std::uint64_t offset = 0; ///< bytes from the start of the slot
    std::uint64_t bytes = 0;
};

/// The worker's read-only view of the memory that the oracle filled (docs/architecture/oracle-protocol.md).
/// The descriptor is sealed against writing, so it may be handed to a candidate. One thread at a time.
class Arena {
public:
    /// Maps it. Errors: Protocol when the layout does not fit the descriptor's size; Io.
    static Result<Arena> map(Fd fd, Json layout);
    Arena(Arena &&other) noexcept;
    Arena &operator=(Arena &&other) noexcept;
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;
    ~Arena();

    int descriptor() const { return m_fd.value(); }
    const Json &layout() const { return m_layout; }
    int inputSlots() const { return m_inputSlots; }
    int stateSlots() const { return m_stateSlots; }
    const std::vector<ArenaTensor> &inputs() const { return m_inputs; }
    const std::vector<ArenaTensor> &state() const { return m_state; }
    std::span<const std::byte> input(int slot, std::size_t index) const;
    std::span<const std::byte> state(int slot, std::size_t index) const;
    /// A whole slot, padding included.
    std::span<const std::byte> inputSlot(int slot) const;
    std::span<const std::byte> stateSlot(int slot) const;
    /// Grows, from 1, whenever a state slot may have been filled anew.
    std::uint64_t stateVersion() const { return m_stateVersion; }
    void stateChanged() { ++m_stateVersion; }

private:
    Arena() = default;
    Fd m_fd;
    Json m_layout;
    const std::byte *m_base = nullptr;
    std::uint64_t m_bytes = 0;
    std::uint64_t m_inputBase = 0, m_inputSlotBytes = 0, m_stateBase = 0, m_stateSlotBytes = 0;
    int m_inputSlots = 0;
    int m_stateSlots = 0;
    std::uint64_t m_stateVersion = 1;
    std::vector<ArenaTensor> m_inputs;
    std::vector<ArenaTensor> m_state;
};

/// A memfd that the worker fills with a candidate's outputs for the oracle to compare.
class ReturnBuffer {
public:
    /// Offsets 256-byte aligned. Errors: Io.
    static Result<ReturnBuffer> create(std::span<const std::uint64_t> sizes);
    ReturnBuffer(ReturnBuffer &&other) noexcept;
    ReturnBuffer &operator=(ReturnBuffer &&other) noexcept;
    ReturnBuffer(const ReturnBuffer &) = delete;
    ReturnBuffer &operator=(const ReturnBuffer &) = delete;
    ~ReturnBuffer();

    int descriptor() const { return m_fd.value(); }
    std::size_t count() const { return m_sizes.size(); }
    std::span<std::byte> output(std::size_t index);
    /// [{"offset", "bytes"}] for the oracle's `compare` and `sample`.
    Json spans() const;

private:
    ReturnBuffer() = default;
    Fd m_fd;
    std::byte *m_base = nullptr;
    std::uint64_t m_bytes = 0;
    std::vector<std::uint64_t> m_sizes;
    std::vector<std::uint64_t> m_offsets;
};

} // namespace heddle
