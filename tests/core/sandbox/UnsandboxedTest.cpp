// SPDX-License-Identifier: Apache-2.0
// What holds, and what is told, where no rung does and the person asked to go on.
#include "core/base/File.h"
#include "core/sandbox/Locations.h"
#include "core/sandbox/Orders.h"
#include "core/sandbox/RunLimited.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <thread>

namespace heddle {
namespace {

namespace fs = std::filesystem;

class UnsandboxedTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        RungReport nothing;
        nothing.reasons = {"bubblewrap: not here", "landlock: not here either"};
        auto created = Spawner::createUnsandboxed(nothing);
        ASSERT_TRUE(created) << created.error().text();
        m_spawner = std::move(*created);
        auto folder = TempFolder::create("heddle-unsandboxed-test-");
        ASSERT_TRUE(folder);
        m_folder.emplace(std::move(*folder));
        m_policy.role = Role::Candidate;
        m_policy.scratch = m_folder->path();
    }

    CommandResult run(const std::vector<std::string> &words) const
    {
        auto result = runLimited(*m_spawner, m_policy, words);
        EXPECT_TRUE(result) << result.error().text();
        return result ? std::move(*result) : CommandResult{};
    }

    std::unique_ptr<Spawner> m_spawner;
    std::optional<TempFolder> m_folder;
    SandboxPolicy m_policy;
};

TEST_F(UnsandboxedTest, withoutTheFlagAMachineWithoutARungIsRefusedWithTheReasonsAndTheWayOn)
{
    RungReport nothing;
    nothing.reasons = {"bubblewrap: not here", "landlock: not here either"};
    const auto refused = Spawner::create(nothing);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::Environment);
    const std::string text = refused.error().text();
    for (const char *part :
         {"no sandbox holds", "bubblewrap: not here", "landlock: not here either", "--unsandboxed"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(UnsandboxedTest, aChildRunsAsWhoStartedItAndItsReportSaysThatNothingConfinesIt)
{
    SpawnRequest request;
    request.policy = m_policy;
    request.argv = {"/bin/sleep", "60"};
    auto child = m_spawner->spawn(request);
    ASSERT_TRUE(child) << child.error().text();
    EXPECT_EQ(stringOr(child->report(), "rung"), "none");
    EXPECT_EQ(integerOr(child->report(), "landlock", -1), 0);
    EXPECT_FALSE(boolOr(child->report(), "seccomp", true));
    EXPECT_EQ(integerOr(child->report(), "user", -1), ::geteuid());
    EXPECT_TRUE(memberOr(child->report(), "namespaces").empty());
}

TEST_F(UnsandboxedTest, itStillStartsInItsScratchWithNothingOfOurEnvironment)
{
    ::setenv("HEDDLE_TEST_SECRET", "secret", 1);
    const CommandResult result = run({"/bin/sh", "-c", "pwd; echo $HEDDLE_UNSANDBOXED $HEDDLE_TEST_SECRET."});
    ::unsetenv("HEDDLE_TEST_SECRET");
    EXPECT_EQ(result.output, m_folder->path().string() + "\n1 .\n");
}

TEST_F(UnsandboxedTest, itsLimitsHoldAndItsDescendantsEndWithIt)
{
    SpawnRequest request;
    request.policy = m_policy;
    request.policy.fileBytes = 4096;
    request.argv = {"/bin/sh", "-c", "ulimit -f > limit; sleep 1000 & echo $! > pid; wait"};
    pid_t descendant = 0;
    {
        auto child = m_spawner->spawn(request);
        ASSERT_TRUE(child) << child.error().text();
        for (int i = 0; i < 500 && descendant == 0; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            if (const auto text = readFile(m_folder->path() / "pid"); text && text->ends_with('\n'))
                descendant = std::atoi(text->c_str());
        }
        ASSERT_GT(descendant, 0);
        EXPECT_EQ(*readFile(m_folder->path() / "limit"), "8\n"); // blocks of 512 bytes
        EXPECT_EQ(::kill(descendant, 0), 0);
    }
    bool isGone = false;
    for (int i = 0; i < 200 && !isGone; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        isGone = ::kill(descendant, 0) != 0;
    }
    EXPECT_TRUE(isGone);
}

TEST_F(UnsandboxedTest, theInnerWallsThatTheKernelHasAreRaisedAllTheSame)
{
    const fs::path hostile = ownFile("hostile").value();
    const fs::path library = ownFile("libheddle_sandbox.so").value();
    EXPECT_EQ(run({hostile.string(), "socket"}).status.text(), "exit code 0")
        << "outside of them nothing is refused";
    EXPECT_EQ(run({hostile.string(), "@" + library.string(), "executor", "socket"}).status.text(),
              "exit code 1");
}

TEST_F(UnsandboxedTest, onlyTheSpawnerTellsAChildThatItsWallsMayBeMissing)
{
    SandboxPolicy policy = m_policy;
    policy.environment = {"HEDDLE_UNSANDBOXED=1"};
    EXPECT_FALSE(checkPolicy(policy));
    const auto has = [&](Rung rung) {
        const auto environment = childEnvironment(m_policy, rung);
        return std::count(environment.begin(), environment.end(), "HEDDLE_UNSANDBOXED=1");
    };
    EXPECT_EQ(has(Rung::Bubblewrap), 0);
    EXPECT_EQ(has(Rung::Landlock), 0);
    EXPECT_EQ(has(Rung::None), 1);
}

} // namespace
} // namespace heddle
