// SPDX-License-Identifier: Apache-2.0
#include "StoreFixture.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace {

int syncCalls = 0;

} // namespace

// The program's own definitions come before the C library's, for SQLite too: so they can be counted.
extern "C" int fdatasync(int fd)
{
    ++syncCalls;
    return static_cast<int>(::syscall(SYS_fdatasync, fd));
}
extern "C" int fsync(int fd)
{
    ++syncCalls;
    return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace heddle::test {

namespace {

using SyncTest = StoreFixture;

TEST_F(SyncTest, DecisionsAreFlushedToTheDiskAndNotesAreNot)
{
    startSession("s1");
    openProposal("s1", "p1", "");
    // The first write after a checkpoint flushes the log's header, whatever the level.
    must("s1", "builtin", "note", {{"text", "warm"}});
    int before = syncCalls;
    for (int i = 0; i < 20; ++i)
        must("s1", "builtin", "note", {{"text", "x"}});
    EXPECT_EQ(syncCalls, before);
    std::int64_t event = 0;
    for (const char *decision : {"decided", "landed", "undone"}) {
        before = syncCalls;
        if (std::string(decision) == "decided")
            event = decide("p1", "accept").id;
        else if (std::string(decision) == "landed")
            land("p1", event, "r1", "");
        else
            undo(event, "", "r1");
        EXPECT_GT(syncCalls, before) << decision;
    }
    before = syncCalls;
    must("s1", "builtin", "note", {{"text", "after"}});
    EXPECT_EQ(syncCalls, before);
}

TEST_F(SyncTest, ABlobIsOnTheDiskBeforeItsDigestIsReturned)
{
    const int before = syncCalls;
    ASSERT_TRUE(store().putBlob("fresh bytes"));
    EXPECT_GE(syncCalls, before + 2) << "the file and its folder";
}

} // namespace

} // namespace heddle::test
