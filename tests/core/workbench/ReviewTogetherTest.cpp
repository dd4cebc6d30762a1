// SPDX-License-Identifier: Apache-2.0
#include "ReviewFixture.h"
#include "core/workbench/ReviewLock.h"
#include "tests/core/session/ChildProcess.h"

#include <SQLiteCpp/Database.h>

#include <chrono>
#include <optional>
#include <thread>

namespace heddle::test {

namespace {

/// Window, command line and editor at one head at the same moment.
using ReviewTogetherTest = ReviewFixture;

const FileTree First{{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines()}};

/// Keeps everybody from writing events: whoever decides has read the folder and waits, as behind another writer.
class HeldStore {
public:
    explicit HeldStore(const std::filesystem::path &folder)
        : m_database((folder / "workspace.db").string(), SQLite::OPEN_READWRITE)
    {
        m_database.exec("BEGIN IMMEDIATE");
    }
    HeldStore(const HeldStore &) = delete;
    HeldStore &operator=(const HeldStore &) = delete;
    ~HeldStore() { m_database.exec("ROLLBACK"); }

private:
    SQLite::Database m_database;
};

void letThemReachTheStore() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

TEST_F(ReviewTogetherTest, TwoWhoAcceptAtTheSameMomentBothLand)
{
    accept(propose(First));
    const std::string kernel =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}})}});
    const std::string plan = propose({{"plan.json", "{\"v\": 2}\n"}, {"kernels/k.cpp", numberedLines()}});
    const auto one = another();
    const auto two = another();
    ASSERT_TRUE(one && two);
    std::optional<HeldStore> held(std::in_place, store().folder());
    std::optional<Result<Json>> first;
    std::optional<Result<Json>> second;
    {
        const std::jthread a([&] { first.emplace(one->accept(kernel, {}, "person")); });
        const std::jthread b([&] { second.emplace(two->accept(plan, {}, "person")); });
        letThemReachTheStore();
        held.reset();
    }
    EXPECT_TRUE(*first) << first->error().text();
    EXPECT_TRUE(*second) << second->error().text();
    EXPECT_EQ(onDisk(),
              (FileTree{{"plan.json", "{\"v\": 2}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}})}}));
    EXPECT_EQ(*store().tree(headDigest()), onDisk());
}

TEST_F(ReviewTogetherTest, ASaveWhileADecisionIsWrittenIsMergedAndStays)
{
    accept(propose(First));
    const std::string proposal =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "theirs"}})}});
    const auto other = another();
    ASSERT_TRUE(other);
    std::optional<HeldStore> held(std::in_place, store().folder());
    std::optional<Result<Json>> landed;
    {
        const std::jthread accepting([&] { landed.emplace(other->accept(proposal, {}, "person")); });
        letThemReachTheStore();
        type("kernels/k.cpp", numberedLines({{20, "saved"}}));
        held.reset();
    }
    ASSERT_TRUE(*landed) << landed->error().text();
    EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{3, "theirs"}, {20, "saved"}}));
    EXPECT_EQ(*store().tree(headDigest()), onDisk());
    ASSERT_TRUE(workbench().undo(0, "person"));
    EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{20, "saved"}}));
}

TEST_F(ReviewTogetherTest, ASaveThatConflictsWithADecisionBeingWrittenIsNotWrittenOver)
{
    accept(propose(First));
    const std::string proposal =
        propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "theirs"}})}});
    const auto other = another();
    ASSERT_TRUE(other);
    std::optional<HeldStore> held(std::in_place, store().folder());
    std::optional<Result<Json>> landed;
    const std::string mine = numberedLines({{3, "mine"}});
    {
        const std::jthread accepting([&] { landed.emplace(other->accept(proposal, {}, "person")); });
        letThemReachTheStore();
        type("kernels/k.cpp", mine);
        held.reset();
    }
    ASSERT_FALSE(*landed);
    EXPECT_EQ(landed->error().code(), Code::Conflict);
    EXPECT_EQ(onDisk()["kernels/k.cpp"], mine);
}

TEST_F(ReviewTogetherTest, ARestoreWaitsForWhoeverIsLanding)
{
    const std::string first = stringOr(accept(propose(First)), "revision");
    accept(propose({{"plan.json", "{}\n"}, {"kernels/k.cpp", numberedLines({{3, "three"}})}}));
    std::optional<Result<Json>> restored;
    const auto other = another();
    ASSERT_TRUE(other);
    auto landing = ReviewLock::take(store().folder());
    ASSERT_TRUE(landing) << landing.error().text();
    std::optional<ReviewLock> held(*std::move(landing));
    {
        const std::jthread restoring([&] { restored.emplace(other->restore("t.py", first, "person")); });
        letThemReachTheStore();
        EXPECT_EQ(onDisk()["kernels/k.cpp"], numberedLines({{3, "three"}}));
        held.reset();
    }
    ASSERT_TRUE(*restored) << restored->error().text();
    EXPECT_EQ(onDisk(), First);
}

TEST(ReviewLockTest, ALockWhoseHolderWasKilledIsFree)
{
    const auto folder = TempFolder::create("heddle-lock-");
    ASSERT_TRUE(folder) << folder.error().text();
    ChildProcess holder([&](int fd) {
        const auto lock = ReviewLock::take(folder->path());
        report(fd, lock ? "held" : "refused");
        ::pause();
        return 0;
    });
    ASSERT_EQ(holder.readLine(), "held");
    const auto refused = ReviewLock::take(folder->path(), std::chrono::milliseconds(50));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::Conflict);
    holder.kill();
    holder.wait();
    const auto taken = ReviewLock::take(folder->path(), std::chrono::milliseconds(50));
    EXPECT_TRUE(taken) << taken.error().text();
}

} // namespace

} // namespace heddle::test
