// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Arena.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle {

namespace {

std::uint64_t unsignedOr(const Json &object, std::string_view key)
{
    const std::int64_t value = integerOr(object, key, -1);
    return value < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(value);
}

Result<std::vector<ArenaTensor>> tensorsOf(const Json &list, std::uint64_t slotBytes)
{
    std::vector<ArenaTensor> tensors;
    if (!list.is_array())
        return Error(Code::Protocol, "the arena's layout lists no tensors");
    for (const Json &entry : list) {
        ArenaTensor tensor{stringOr(entry, "name"), stringOr(entry, "dtype"), unsignedOr(entry, "offset"),
                           unsignedOr(entry, "bytes")};
        if (tensor.offset > slotBytes || tensor.bytes > slotBytes - tensor.offset)
            return Error(Code::Protocol, "a tensor of the arena leaves its slot", tensor.name);
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

} // namespace

Result<Arena> Arena::map(Fd fd, Json layout)
{
    Arena arena;
    struct stat info{};
    if (::fstat(fd.value(), &info) != 0)
        return Error(Code::Io, std::string("cannot read the arena: ") + std::strerror(errno));
    arena.m_bytes = static_cast<std::uint64_t>(info.st_size);
    arena.m_inputSlotBytes = unsignedOr(layout, "input_slot_bytes");
    arena.m_stateSlotBytes = unsignedOr(layout, "state_slot_bytes");
    arena.m_inputBase = unsignedOr(layout, "input_base");
    arena.m_stateBase = unsignedOr(layout, "state_base");
    arena.m_inputSlots = static_cast<int>(integerOr(layout, "input_slots", 0));
    arena.m_stateSlots = static_cast<int>(integerOr(layout, "state_slots", 0));
    const auto fits = [&](std::uint64_t base, std::uint64_t slotBytes, int slots) {
        if (slots < 0 || slots > 4096 || base > arena.m_bytes)
            return false;
        return slots == 0 || slotBytes <= (arena.m_bytes - base) / static_cast<std::uint64_t>(slots);
    };
    if (!fits(arena.m_inputBase, arena.m_inputSlotBytes, arena.m_inputSlots)
        || !fits(arena.m_stateBase, arena.m_stateSlotBytes, arena.m_stateSlots))
        return Error(Code::Protocol, "the arena is smaller than its layout says");
    HEDDLE_TRY(arena.m_inputs, tensorsOf(memberOr(layout, "inputs"), arena.m_inputSlotBytes));
    HEDDLE_TRY(arena.m_state, tensorsOf(memberOr(layout, "state"), arena.m_stateSlotBytes));
    if (arena.m_bytes > 0) {
        void *base = ::mmap(nullptr, arena.m_bytes, PROT_READ, MAP_SHARED, fd.value(), 0);
        if (base == MAP_FAILED)
            return Error(Code::Io, std::string("cannot map the arena: ") + std::strerror(errno));
        arena.m_base = static_cast<const std::byte *>(base);
    }
    arena.m_fd = std::move(fd);
    arena.m_layout = std::move(layout);
    return arena;
}

Arena::Arena(Arena &&other) noexcept { *this = std::move(other); }

Arena &Arena::operator=(Arena &&other) noexcept
{
    std::swap(m_fd, other.m_fd);
    std::swap(m_layout, other.m_layout);
    std::swap(m_base, other.m_base);
    std::swap(m_bytes, other.m_bytes);
    std::swap(m_inputBase, other.m_inputBase);
    std::swap(m_inputSlotBytes, other.m_inputSlotBytes);
    std::swap(m_stateBase, other.m_stateBase);
    std::swap(m_stateSlotBytes, other.m_stateSlotBytes);
    std::swap(m_inputSlots, other.m_inputSlots);
    std::swap(m_stateSlots, other.m_stateSlots);
    std::swap(m_stateVersion, other.m_stateVersion);
    std::swap(m_inputs, other.m_inputs);
    std::swap(m_state, other.m_state);
    return *this;
}

Arena::~Arena()
{
    if (m_base != nullptr)
        ::munmap(const_cast<std::byte *>(m_base), m_bytes);
}

std::span<const std::byte> Arena::input(int slot, std::size_t index) const
{
    const ArenaTensor &tensor = m_inputs.at(index);
    return {m_base + m_inputBase + static_cast<std::uint64_t>(slot) * m_inputSlotBytes + tensor.offset,
            tensor.bytes};
}

std::span<const std::byte> Arena::state(int slot, std::size_t index) const
{
    const ArenaTensor &tensor = m_state.at(index);
    return {m_base + m_stateBase + static_cast<std::uint64_t>(slot) * m_stateSlotBytes + tensor.offset,
            tensor.bytes};
}

std::span<const std::byte> Arena::inputSlot(int slot) const
{
    return {m_base + m_inputBase + static_cast<std::uint64_t>(slot) * m_inputSlotBytes, m_inputSlotBytes};
}

std::span<const std::byte> Arena::stateSlot(int slot) const
{
    return {m_base + m_stateBase + static_cast<std::uint64_t>(slot) * m_stateSlotBytes, m_stateSlotBytes};
}

Result<ReturnBuffer> ReturnBuffer::create(std::span<const std::uint64_t> sizes)
{
    ReturnBuffer buffer;
    for (const std::uint64_t size : sizes) {
        buffer.m_offsets.push_back(buffer.m_bytes);
        buffer.m_sizes.push_back(size);
        buffer.m_bytes += (size + 255) / 256 * 256;
    }
    buffer.m_bytes = std::max<std::uint64_t>(buffer.m_bytes, 256);
    buffer.m_fd = Fd(::memfd_create("heddle-outputs", MFD_CLOEXEC));
    if (!buffer.m_fd.isOpen() || ::ftruncate(buffer.m_fd.value(), static_cast<off_t>(buffer.m_bytes)) != 0)
        return Error(Code::Io,
                     std::string("cannot make shared memory for the outputs: ") + std::strerror(errno));
    void *base = ::mmap(nullptr, buffer.m_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.m_fd.value(), 0);
    if (base == MAP_FAILED)
        return Error(Code::Io, std::string("cannot map the outputs: ") + std::strerror(errno));
    buffer.m_base = static_cast<std::byte *>(base);
    return buffer;
}

ReturnBuffer::ReturnBuffer(ReturnBuffer &&other) noexcept { *this = std::move(other); }

ReturnBuffer &ReturnBuffer::operator=(ReturnBuffer &&other) noexcept
{
    std::swap(m_fd, other.m_fd);
    std::swap(m_base, other.m_base);
    std::swap(m_bytes, other.m_bytes);
    std::swap(m_sizes, other.m_sizes);
    std::swap(m_offsets, other.m_offsets);
    return *this;
}

ReturnBuffer::~ReturnBuffer()
{
    if (m_base != nullptr)
        ::munmap(m_base, m_bytes);
}

std::span<std::byte> ReturnBuffer::output(std::size_t index)
{
    return {m_base + m_offsets.at(index), m_sizes.at(index)};
}

Json ReturnBuffer::spans() const
{
    Json out = Json::array();
    for (std::size_t i = 0; i < m_sizes.size(); ++i)
        out.push_back({{"offset", m_offsets[i]}, {"bytes", m_sizes[i]}});
    return out;
}

} // namespace heddle
