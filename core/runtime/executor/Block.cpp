// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/executor/Block.h"

#include "core/runtime/Doorbell.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace heddle {

namespace {

constexpr std::uint64_t step = 64; // bytes between two starts, and the alignment
/// glibc's DEFAULT_MMAP_THRESHOLD_MAX on 64-bit machines, less room for the headers of a block.
constexpr std::uint64_t largestDynamicBlock = (32u << 20) - (64u << 10);

} // namespace

Block::Block(Block &&other) noexcept { *this = std::move(other); }

Block &Block::operator=(Block &&other) noexcept
{
    std::swap(m_memory, other.m_memory);
    std::swap(m_data, other.m_data);
    std::swap(m_bytes, other.m_bytes);
    std::swap(m_capacity, other.m_capacity);
    std::swap(m_isGuarded, other.m_isGuarded);
    return *this;
}

Block::~Block() { free(); }

void Block::free()
{
    std::free(m_memory);
    m_memory = nullptr;
    m_data = nullptr;
    m_bytes = 0;
    m_capacity = 0;
}

bool Block::allocate(std::uint64_t bytes, bool isGuarded)
{
    free();
    if (!take(bytes + (isGuarded ? 2 * HEDDLE_GUARD_BYTES : 0)))
        return false;
    place(isGuarded ? HEDDLE_GUARD_BYTES : 0, bytes, isGuarded);
    return true;
}

bool Block::hold(std::uint64_t bytes, bool isGuarded, unsigned shift)
{
    const std::uint64_t capacity = bytes + 2 * HEDDLE_GUARD_BYTES + maxShift * step;
    if (m_memory == nullptr || m_capacity != capacity) {
        free();
        if (!take(capacity))
            return false;
    }
    place(HEDDLE_GUARD_BYTES + std::min(shift, maxShift) * step, bytes, isGuarded);
    return true;
}

bool Block::take(std::uint64_t capacity)
{
    if (::posix_memalign(&m_memory, step, std::max<std::uint64_t>(capacity, 1)) != 0) {
        m_memory = nullptr;
        return false;
    }
    m_capacity = capacity;
    return true;
}

void Block::place(std::uint64_t before, std::uint64_t bytes, bool isGuarded)
{
    m_data = static_cast<std::byte *>(m_memory) + before;
    m_bytes = bytes;
    m_isGuarded = isGuarded;
    if (isGuarded) {
        std::memset(m_data - HEDDLE_GUARD_BYTES, HEDDLE_GUARD_FILL, HEDDLE_GUARD_BYTES);
        std::memset(m_data + bytes, HEDDLE_GUARD_FILL, HEDDLE_GUARD_BYTES);
    }
}

void Block::fill(int byte)
{
    if (m_bytes > 0)
        std::memset(m_data, byte, m_bytes);
}

bool Block::isIntact() const
{
    if (!m_isGuarded || m_data == nullptr)
        return true;
    const auto isFill = [](std::byte byte) { return byte == std::byte{HEDDLE_GUARD_FILL}; };
    return std::all_of(m_data - HEDDLE_GUARD_BYTES, m_data, isFill)
        && std::all_of(m_data + m_bytes, m_data + m_bytes + HEDDLE_GUARD_BYTES, isFill);
}

void settleAllocator()
{
    Block block;
    (void)block.allocate(largestDynamicBlock, false);
}

} // namespace heddle
