// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/InputWindow.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <vector>

namespace heddle {
namespace {

constexpr int slotBytes = 512;
constexpr int stateBytes = 256;

/// Three input slots filled with 1, 2, 3 and two state slots filled with 101, 102.
class InputWindowTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        Fd fd(::memfd_create("arena", MFD_CLOEXEC));
        for (const char value : {1, 2, 3})
            write(fd, value, slotBytes);
        for (const char value : {101, 102})
            write(fd, value, stateBytes);
        m_descriptor = Fd(::fcntl(fd.value(), F_DUPFD_CLOEXEC, 0));
        auto arena = Arena::map(
            std::move(fd),
            Json{{"bytes", 3 * slotBytes + 2 * stateBytes},
                 {"inputs", {{{"name", "input:x"}, {"dtype", "uint8"}, {"offset", 0}, {"bytes", 300}}}},
                 {"input_slot_bytes", slotBytes},
                 {"input_slots", 3},
                 {"input_base", 0},
                 {"state", {{{"name", "state:w"}, {"dtype", "uint8"}, {"offset", 0}, {"bytes", 200}}}},
                 {"state_slot_bytes", stateBytes},
                 {"state_slots", 2},
                 {"state_base", 3 * slotBytes}});
        ASSERT_TRUE(arena) << arena.error().text();
        m_arena.emplace(std::move(*arena));
        auto window = InputWindow::create(*m_arena);
        ASSERT_TRUE(window) << window.error().text();
        m_window = std::move(*window);
    }

    static void write(const Fd &fd, char value, int count)
    {
        const std::vector<char> bytes(static_cast<std::size_t>(count), value);
        ASSERT_EQ(::write(fd.value(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }

    /// What a candidate finds at this offset of the window.
    int seen(std::uint64_t offset) const
    {
        char value = -1;
        EXPECT_EQ(::pread(m_window->descriptor(), &value, 1, static_cast<off_t>(offset)), 1);
        return value;
    }

    std::uint64_t stateOffset(int slot) const
    {
        const auto base = static_cast<std::uint64_t>(integerOr(m_window->layout(), "state_base", -1));
        return base + static_cast<std::uint64_t>(slot) * stateBytes;
    }

    Fd m_descriptor; ///< of the arena, to change it behind
    std::optional<Arena> m_arena;
    std::unique_ptr<InputWindow> m_window;
};

TEST_F(InputWindowTest, onlyTheSlotThatWasPlacedIsInIt)
{
    EXPECT_EQ(integerOr(m_window->layout(), "input_slots", 0), 1);
    EXPECT_EQ(integerOr(m_window->layout(), "state_slots", 0), 2);
    struct stat info{};
    ASSERT_EQ(::fstat(m_window->descriptor(), &info), 0);
    EXPECT_EQ(info.st_size, slotBytes + 2 * stateBytes);
    EXPECT_EQ(seen(0), 0);
    m_window->place(2, 0xffffffffu);
    EXPECT_EQ(seen(0), 3);
    EXPECT_EQ(seen(slotBytes - 1), 3);
    EXPECT_EQ(seen(stateOffset(0)), 0);
    m_window->place(0, 1);
    EXPECT_EQ(seen(0), 1);
    EXPECT_EQ(seen(stateOffset(0)), 0);
    EXPECT_EQ(seen(stateOffset(1)), 102);
}

TEST_F(InputWindowTest, aStateIsPlacedAgainOnceItMayHaveChanged)
{
    m_window->place(0, 1);
    const char changed = 77;
    ASSERT_EQ(::pwrite(m_descriptor.value(), &changed, 1, 3 * slotBytes + stateBytes), 1);
    m_window->place(0, 1);
    EXPECT_EQ(seen(stateOffset(1)), 102);
    m_arena->stateChanged();
    m_window->place(0, 1);
    EXPECT_EQ(seen(stateOffset(1)), 77);
}

TEST_F(InputWindowTest, whoGetsItCannotWriteIt)
{
    const auto size = static_cast<std::size_t>(slotBytes);
    EXPECT_EQ(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, m_window->descriptor(), 0),
              MAP_FAILED);
    const char value = 9;
    EXPECT_EQ(::pwrite(m_window->descriptor(), &value, 1, 0), -1);
    EXPECT_NE(::ftruncate(m_window->descriptor(), 0), 0);
    void *reading = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, m_window->descriptor(), 0);
    ASSERT_NE(reading, MAP_FAILED);
    ::munmap(reading, size);
}

} // namespace
} // namespace heddle
