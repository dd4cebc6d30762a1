// SPDX-License-Identifier: Apache-2.0
#include "ChildProcess.h"
#include "StoreFixture.h"

#include "core/session/EventFollower.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

namespace heddle::test {

namespace {

using StoreProcess = StoreFixture;

constexpr int EventsEach = 150;

/// Appends its share and follows the log until it has seen the other's whole share as well.
int appendAndFollow(const std::filesystem::path &workspace, const std::string &me, const std::string &other)
{
    auto opened = Store::open(workspace);
    if (!opened)
        return 1;
    EventFollower follower(**opened, 0);
    std::map<std::string, int> seen;
    std::int64_t last = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int i = 0; i < EventsEach || seen[other] < EventsEach || seen[me] < EventsEach; ++i) {
        if (i < EventsEach && !(*opened)->append("s1", me, "note", {{"text", std::to_string(i)}}))
            return 2;
        const auto events = follower.poll();
        if (!events)
            return 3;
        for (const Event &event : *events) {
            if (event.id <= last)
                return 4;
            last = event.id;
            if (event.type == "note" && event.data["text"] != std::to_string(seen[event.actor]++))
                return 5;
        }
        if (std::chrono::steady_clock::now() > deadline)
            return 6;
        if (i >= EventsEach)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return 0;
}

TEST_F(StoreProcess, TwoProcessesAppendAtOnceLoseNothingAndSeeEachOther)
{
    startSession("s1");
    closeStore();
    ChildProcess first([&](int) { return appendAndFollow(workspace(), "alice", "bob"); });
    ChildProcess second([&](int) { return appendAndFollow(workspace(), "bob", "alice"); });
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
    auto store = open();
    EXPECT_EQ(store->eventsAfter(0)->size(), 1u + 2 * EventsEach);
    const auto checked = store->checkProjections();
    EXPECT_TRUE(checked) << checked.error().text();
}

TEST_F(StoreProcess, TwoProcessesMayCreateTheDatabaseAtOnce)
{
    for (int round = 0; round < 10; ++round) {
        closeStore();
        std::filesystem::remove_all(workspace() / ".heddle");
        const auto create = [&](int) {
            auto opened = Store::open(workspace());
            if (!opened) {
                std::fprintf(stderr, "%s\n", opened.error().text().c_str());
                return 1;
            }
            return (*opened)->append("", "person", "trusted", {{"folder", "x"}}) ? 0 : 2;
        };
        ChildProcess first(create);
        ChildProcess second(create);
        ASSERT_EQ(first.wait(), 0);
        ASSERT_EQ(second.wait(), 0);
        ASSERT_EQ(open()->eventsAfter(0)->size(), 2u);
    }
}

TEST_F(StoreProcess, ALeaseNamesItsHolderAndIsTakenOverWhenThatWasKilled)
{
    startSession("s1");
    closeStore();
    ChildProcess holder([&](int fd) {
        auto opened = Store::open(workspace());
        auto lease = (*opened)->takeLease("s1");
        report(fd, lease ? "taken" : lease.error().text());
        ::pause();
        return 0;
    });
    ASSERT_EQ(holder.readLine(), "taken");
    auto store = open();
    const auto refused = store->takeLease("s1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::Conflict);
    EXPECT_NE(refused.error().message().find(std::to_string(holder.pid())), std::string::npos)
        << refused.error().text();
    // Also before anybody reaped it: a zombie holds nothing.
    holder.kill();
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(holder.pid()), &info, WEXITED | WNOWAIT), 0);
    const auto taken = store->takeLease("s1");
    EXPECT_TRUE(taken) << taken.error().text();
}

TEST_F(StoreProcess, ALeaseIsReleasedWhenDroppedAndHeldByOneAtATime)
{
    startSession("s1");
    {
        const auto lease = store().takeLease("s1");
        ASSERT_TRUE(lease) << lease.error().text();
        auto other = open();
        EXPECT_EQ(other->takeLease("s1").error().code(), Code::Conflict);
    }
    EXPECT_TRUE(store().takeLease("s1"));
    EXPECT_EQ(store().takeLease("nobody").error().code(), Code::NotFound);
}

TEST_F(StoreProcess, OnARemoteFileSystemASecondProcessIsRefusedWithASentence)
{
    closeStore();
    ChildProcess holder([&](int fd) {
        auto opened = Store::open(workspace(), {.remoteFileSystem = "nfs"});
        report(fd, opened ? "open" : opened.error().text());
        ::pause();
        return 0;
    });
    ASSERT_EQ(holder.readLine(), "open");
    const StoreOptions remote{.busyTimeout = std::chrono::milliseconds(200), .remoteFileSystem = "nfs"};
    const auto refused = Store::open(workspace(), remote);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::Conflict) << refused.error().text();
    EXPECT_NE(refused.error().text().find("nfs"), std::string::npos) << refused.error().text();
    holder.kill();
    holder.wait();
    EXPECT_TRUE(Store::open(workspace(), remote));
}

TEST_F(StoreProcess, AReadOnlyWorkspaceKeepsItsDataInTheStateFolder)
{
    closeStore();
    auto other = TempFolder::create("heddle-readonly-");
    ASSERT_TRUE(other);
    const auto folder = other->path() / "project";
    const auto state = other->path() / "state";
    std::filesystem::create_directory(folder);
    std::filesystem::create_directory(state);
    ASSERT_EQ(::chmod(other->path().c_str(), 0755), 0);
    ASSERT_EQ(::chmod(state.c_str(), 0777), 0);
    ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
    ChildProcess child([&](int fd) {
        // Root may write anywhere, so the child is nobody when the tests run as root.
        if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
            return 1;
        ::setenv("XDG_STATE_HOME", state.c_str(), 1);
        for (int round = 0; round < 2; ++round) {
            auto opened = Store::open(folder);
            if (!opened) {
                report(fd, opened.error().text());
                return 2;
            }
            if (!(*opened)->append("", "person", "trusted", {{"folder", "x"}}))
                return 3;
            if ((*opened)->folder().string().find((state / "heddle/workspaces").string()) != 0)
                return 4;
            if ((*opened)->eventsAfter(0)->size() != static_cast<std::size_t>(round) + 1)
                return 5;
        }
        return 0;
    });
    const std::string failure = child.readLine();
    EXPECT_EQ(child.wait(), 0) << failure;
    EXPECT_FALSE(std::filesystem::exists(folder / ".heddle"));
    ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
}

} // namespace

} // namespace heddle::test
