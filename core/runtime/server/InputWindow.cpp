// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/InputWindow.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#ifndef F_SEAL_FUTURE_WRITE
#    define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace heddle {

Result<std::unique_ptr<InputWindow>> InputWindow::create(const Arena &arena)
{
    std::unique_ptr<InputWindow> window(new InputWindow(arena));
    const std::uint64_t inputBytes = arena.inputSlots() > 0 ? arena.inputSlot(0).size() : 0;
    const std::uint64_t stateBytes = arena.stateSlots() > 0 ? arena.stateSlot(0).size() : 0;
    const auto stateSlots = static_cast<std::uint64_t>(arena.stateSlots());
    window->m_stateBase = (inputBytes + 255) / 256 * 256;
    window->m_bytes = std::max<std::uint64_t>(window->m_stateBase + stateSlots * stateBytes, 256);
    window->m_stateVersions.resize(stateSlots);
    window->m_layout = arena.layout();
    window->m_layout["bytes"] = window->m_bytes;
    window->m_layout["input_slots"] = arena.inputSlots() > 0 ? 1 : 0;
    window->m_layout["input_base"] = 0;
    window->m_layout["state_base"] = window->m_stateBase;
    window->m_fd = Fd(::memfd_create("heddle-window", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!window->m_fd.isOpen() || ::ftruncate(window->m_fd.value(), static_cast<off_t>(window->m_bytes)) != 0)
        return Error(Code::Io,
                     std::string("cannot make shared memory for the inputs: ") + std::strerror(errno));
    void *base =
        ::mmap(nullptr, window->m_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, window->m_fd.value(), 0);
    if (base == MAP_FAILED)
        return Error(Code::Io, std::string("cannot map the inputs: ") + std::strerror(errno));
    window->m_base = static_cast<std::byte *>(base);
    // Our own mapping stays writable; every later one can only read.
    if (::fcntl(window->m_fd.value(), F_ADD_SEALS,
                F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)
        != 0)
        return Error(Code::Io, std::string("cannot seal the inputs: ") + std::strerror(errno));
    return window;
}

InputWindow::~InputWindow()
{
    if (m_base != nullptr)
        ::munmap(m_base, m_bytes);
}

void InputWindow::place(std::uint32_t slot, std::uint32_t stateSlot)
{
    if (slot < static_cast<std::uint32_t>(m_arena.inputSlots())) {
        const std::span<const std::byte> from = m_arena.inputSlot(static_cast<int>(slot));
        std::memcpy(m_base, from.data(), from.size());
    }
    if (stateSlot < m_stateVersions.size() && m_stateVersions[stateSlot] != m_arena.stateVersion()) {
        const std::span<const std::byte> from = m_arena.stateSlot(static_cast<int>(stateSlot));
        std::memcpy(m_base + m_stateBase + stateSlot * from.size(), from.data(), from.size());
        m_stateVersions[stateSlot] = m_arena.stateVersion();
    }
}

} // namespace heddle
