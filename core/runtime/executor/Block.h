// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle {

/// A private buffer of a call, aligned to 64 bytes, with a guard zone on both sides where asked for. An empty tensor gets an
/// address as well.
class Block {
public:
    Block() = default;
    Block(Block &&other) noexcept;
    Block &operator=(Block &&other) noexcept;
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;
    ~Block();

    static constexpr unsigned maxShift = 7;

    /// Frees what it holds and takes memory of exactly these bytes (and guards), as PyTorch's CPU allocator does for an
    /// output: freeing and taking the same sizes lets glibc hand warm pages out again. False when there is no memory.
    bool allocate(std::uint64_t bytes, bool isGuarded);
    /// Keeps its memory where the size has not changed, as a caller keeps its inputs. `shift` (at most maxShift) moves the
    /// start by as many times 64 bytes, so that addresses differ between calls. False when there is no memory.
    bool hold(std::uint64_t bytes, bool isGuarded, unsigned shift);
    void free();
    void fill(int byte);
    void *data() const { return m_data; }
    std::uint64_t bytes() const { return m_bytes; }
    /// True while both guard zones hold their fill; true without guards.
    bool isIntact() const;

private:
    bool take(std::uint64_t capacity);
    void place(std::uint64_t before, std::uint64_t bytes, bool isGuarded);

    void *m_memory = nullptr;
    std::byte *m_data = nullptr;
    std::uint64_t m_bytes = 0;
    std::uint64_t m_capacity = 0;
    bool m_isGuarded = false;
};

/// Puts glibc's moving thresholds where one freed large tensor puts them in any process: freeing a mapped block raises
/// M_MMAP_THRESHOLD to its size, at most 32 MiB, and M_TRIM_THRESHOLD to twice that (mallopt(3)). Every subject does this
/// before it is timed, since two processes with another past would pay for fresh pages differently.
void settleAllocator();

} // namespace heddle
