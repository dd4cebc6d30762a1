// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Arena.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace heddle {

/// All that a candidate sees of an arena: one input slot, which the worker fills just before each prepare, and the state
/// slots. A candidate with the whole arena before it could work ahead on the inputs of calls to come in a call that does not
/// count, and only copy in those that do. One thread at a time; the arena must outlive it.
class InputWindow {
public:
    /// Errors: Io when there is no memory for one more slot.
    static Result<std::unique_ptr<InputWindow>> create(const Arena &arena);
    InputWindow(const InputWindow &) = delete;
    InputWindow &operator=(const InputWindow &) = delete;
    ~InputWindow();

    /// Sealed: whoever gets it can map it for reading only.
    int descriptor() const { return m_fd.value(); }
    /// The arena's layout with one input slot.
    const Json &layout() const { return m_layout; }
    /// Shows the contents of an input slot as slot 0, and of a state slot, if it is one, under its own number.
    void place(std::uint32_t slot, std::uint32_t stateSlot);

private:
    explicit InputWindow(const Arena &arena) : m_arena(arena) {}

    const Arena &m_arena;
    Fd m_fd;
    Json m_layout;
    std::byte *m_base = nullptr;
    std::uint64_t m_bytes = 0;
    std::uint64_t m_stateBase = 0;
    std::vector<std::uint64_t> m_stateVersions; ///< by state slot: what was placed, 0 for nothing
};

} // namespace heddle
