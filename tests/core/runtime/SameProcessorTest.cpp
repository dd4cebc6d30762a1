// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/SameProcessor.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace heddle {
namespace {

cpu_set_t ownProcessors()
{
    cpu_set_t set;
    EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

std::vector<int> listed(const cpu_set_t &set)
{
    std::vector<int> found;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(static_cast<std::size_t>(i), &set))
            found.push_back(i);
    }
    return found;
}

/// A child that has run on one processor only and sleeps there.
class PlacedChild {
public:
    explicit PlacedChild(int processor)
    {
        int ready[2];
        EXPECT_EQ(::pipe(ready), 0);
        m_pid = ::fork();
        if (m_pid == 0) {
            cpu_set_t only;
            CPU_ZERO(&only);
            CPU_SET(static_cast<std::size_t>(processor), &only);
            const bool isPlaced = ::sched_setaffinity(0, sizeof only, &only) == 0;
            (void)!::write(ready[1], isPlaced ? "y" : "n", 1);
            while (true)
                ::pause();
        }
        char answer = 'n';
        EXPECT_EQ(::read(ready[0], &answer, 1), 1);
        EXPECT_EQ(answer, 'y');
        ::close(ready[0]);
        ::close(ready[1]);
    }
    PlacedChild(const PlacedChild &) = delete;
    PlacedChild &operator=(const PlacedChild &) = delete;
    ~PlacedChild()
    {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
    pid_t pid() const { return m_pid; }

private:
    pid_t m_pid = -1;
};

TEST(SameProcessorTest, theCallerRunsWhereTheProcessRanAndGetsItsProcessorsBack)
{
    const cpu_set_t before = ownProcessors();
    for (const int processor : listed(before)) {
        const PlacedChild child(processor);
        {
            const SameProcessor place(child.pid());
            EXPECT_EQ(listed(ownProcessors()), std::vector<int>{processor});
            EXPECT_EQ(::sched_getcpu(), processor);
        }
        EXPECT_EQ(listed(ownProcessors()), listed(before));
    }
}

TEST(SameProcessorTest, aProcessThatHasGoneChangesNothing)
{
    const cpu_set_t before = ownProcessors();
    pid_t gone = -1;
    {
        const PlacedChild child(listed(before).front());
        gone = child.pid();
    }
    const SameProcessor place(gone);
    EXPECT_EQ(listed(ownProcessors()), listed(before));
}

TEST(SameProcessorTest, aProcessorThatIsNotTheCallersOwnChangesNothing)
{
    const cpu_set_t before = ownProcessors();
    const std::vector<int> all = listed(before);
    if (all.size() < 2)
        GTEST_SKIP() << "needs two processors";
    const PlacedChild child(all.back());
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(static_cast<std::size_t>(all.front()), &first);
    ASSERT_EQ(::sched_setaffinity(0, sizeof first, &first), 0);
    {
        const SameProcessor place(child.pid());
        EXPECT_EQ(listed(ownProcessors()), std::vector<int>{all.front()});
    }
    EXPECT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

} // namespace
} // namespace heddle
