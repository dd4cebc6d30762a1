// SPDX-License-Identifier: Apache-2.0
#include "core/base/FileLock.h"

#include "core/base/File.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace std::chrono_literals;

TEST(FileLockTest, oneHolderAtATimeAndTheNextWhenItsFileIsClosed)
{
    const auto folder = TempFolder::create("heddle-lock-");
    ASSERT_TRUE(folder);
    const auto path = folder->path() / "a.lock";
    auto first = openLockFile(path, 0600);
    const auto second = openLockFile(path, 0600);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(*waitForLock(*first, 0ms, {}), LockWait::Held);
    EXPECT_EQ(*waitForLock(*second, 30ms, {}), LockWait::Busy);
    first->reset();
    EXPECT_EQ(*waitForLock(*second, 0ms, {}), LockWait::Held);
}

TEST(FileLockTest, waitingEndsWhenAskedTo)
{
    const auto folder = TempFolder::create("heddle-lock-");
    ASSERT_TRUE(folder);
    const auto first = openLockFile(folder->path() / "a.lock", 0600);
    const auto second = openLockFile(folder->path() / "a.lock", 0600);
    ASSERT_TRUE(first && second);
    ASSERT_EQ(*waitForLock(*first, 0ms, {}), LockWait::Held);
    CancelSource source;
    source.request_stop();
    EXPECT_EQ(*waitForLock(*second, 1h, source.get_token()), LockWait::Cancelled);
}

TEST(FileLockTest, aLinkInTheLocksPlaceIsRefused)
{
    const auto folder = TempFolder::create("heddle-lock-");
    ASSERT_TRUE(folder);
    const auto path = folder->path() / "a.lock";
    std::filesystem::create_symlink("/tmp/elsewhere", path);
    const auto file = openLockFile(path, 0600);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code(), Code::Io);
    EXPECT_EQ(file.error().where(), path.string());
}
