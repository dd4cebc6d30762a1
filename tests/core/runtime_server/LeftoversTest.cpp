// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Leftovers.h"
#include "core/base/File.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace heddle {
namespace {

namespace fs = std::filesystem;

class LeftoversTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (const char *before = std::getenv("TMPDIR"); before != nullptr)
            m_before = before;
        m_base.emplace(std::move(TempFolder::create("heddle-leftovers-test-")).value());
        ::setenv("TMPDIR", m_base->path().c_str(), 1);
    }

    void TearDown() override
    {
        m_before.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", m_before.c_str(), 1);
    }

    Result<WorkerFolder> made() const
    {
        HEDDLE_TRY(WorkerFolder folder, WorkerFolder::create(m_base->path()));
        HEDDLE_CHECK_OK(folder.useForTemporaryFiles());
        return folder;
    }

    std::size_t count() const
    {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(m_base->path()), {}));
    }

    /// A worker that makes its folder, works in it, and is killed.
    void workerThatDies() const
    {
        const pid_t pid = ::fork();
        ASSERT_GE(pid, 0);
        if (pid == 0) {
            const auto folder = made();
            const auto work = TempFolder::create("heddle-scratch-");
            std::ofstream(work->path() / "half.txt") << "half";
            ::_exit(folder && work ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(pid, &status, 0), pid);
        ASSERT_EQ(status, 0);
    }

    std::string m_before;
    std::optional<TempFolder> m_base;
};

TEST_F(LeftoversTest, whatAKilledWorkerLeftIsGoneWhenTheNextOneStarts)
{
    workerThatDies();
    ASSERT_EQ(count(), 1u) << "the dead one has left its folder";
    const auto next = made();
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_EQ(count(), 1u);
    EXPECT_TRUE(fs::is_directory(next->path()));
    EXPECT_TRUE(fs::is_empty(next->path()));
}

TEST_F(LeftoversTest, whoIsDeadButNotReapedYetIsDead)
{
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
        const auto folder = made();
        ::_exit(folder ? 0 : 1);
    }
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(count(), 1u);
    const auto next = made();
    EXPECT_EQ(count(), 1u);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST_F(LeftoversTest, aLivingWorkersFolderStays)
{
    const auto first = made();
    ASSERT_TRUE(first);
    const auto second = made();
    ASSERT_TRUE(second);
    EXPECT_NE(first->path(), second->path());
    EXPECT_TRUE(fs::is_directory(first->path()));
    EXPECT_EQ(count(), 2u);
}

TEST_F(LeftoversTest, temporaryFoldersLieInItAndItGoesWithItsWorker)
{
    {
        const auto folder = made();
        ASSERT_TRUE(folder);
        const auto inside = TempFolder::create("heddle-scratch-");
        ASSERT_TRUE(inside);
        EXPECT_EQ(inside->path().parent_path(), folder->path());
        struct stat info{};
        ASSERT_EQ(::stat(folder->path().c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777, 0711u) << "the sandbox's users pass through, and see no names";
    }
    EXPECT_EQ(count(), 0u);
}

TEST_F(LeftoversTest, neitherALinkNorAFolderOfAnotherNameIsSwept)
{
    fs::create_directory(m_base->path() / "heddle-export-kept");
    fs::create_directory(m_base->path() / "target");
    fs::create_directory_symlink(m_base->path() / "target", m_base->path() / "heddle-worker-link");
    const auto next = made();
    ASSERT_TRUE(next);
    EXPECT_EQ(count(), 4u);
}

} // namespace
} // namespace heddle
