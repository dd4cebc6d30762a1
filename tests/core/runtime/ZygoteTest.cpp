// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/Zygote.h"
#include "core/runtime/DeviceLock.h"
#include "tests/support/ChildrenFixture.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace heddle {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class ZygoteTest : public ChildrenTest {
protected:
    void SetUp() override
    {
        ChildrenTest::SetUp();
        fs::copy_file(HEDDLE_SOURCE_DIR "/tests/core/runtime/zygote.py", m_folder->path() / "zygote.py");
    }

    ZygoteOptions options(bool keepSpare, std::vector<std::string> more = {}) const
    {
        ZygoteOptions options;
        options.policy.scratch = scratch();
        options.policy.readOnly = {m_folder->path() / "zygote.py"};
        options.policy.memoryBytes = 256u << 20;
        options.argv = {"/usr/bin/python3", "-I", (m_folder->path() / "zygote.py").string()};
        options.argv.insert(options.argv.end(), more.begin(), more.end());
        options.keepSpare = keepSpare;
        options.startTimeout = 20s;
        return options;
    }
};

TEST_F(ZygoteTest, forkedChildrenAreInsideBothWallsAndServe)
{
    Zygote zygote(*s_spawner, options(true));
    auto facts = zygote.start();
    ASSERT_TRUE(facts) << facts.error().text();
    EXPECT_EQ(stringOr(*facts, "torch"), "none");
    for (int i = 0; i < 3; ++i) {
        const auto before = std::chrono::steady_clock::now();
        auto forked = zygote.fork();
        const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - before;
        ASSERT_TRUE(forked) << forked.error().text();
        std::printf("  fork %d: %.2f ms\n", i, spent.count());
        const auto reply = forked->channel.call("echo", Json{{"i", i}});
        ASSERT_TRUE(reply) << reply.error().text();
        EXPECT_EQ(reply->result["echo"], (Json{{"i", i}}));
        EXPECT_TRUE(boolOr(forked->child.report()["inner"], "ok", false))
            << compactText(forked->child.report());
        EXPECT_NE(forked->child.pid(), zygote.pid());
        std::this_thread::sleep_for(100ms);
    }
    EXPECT_NE(zygote.log().find("the zygote is up"), std::string::npos);
}

TEST_F(ZygoteTest, aChildsCrashIsItsOwnAndTellsItsSignal)
{
    Zygote zygote(*s_spawner, options(false));
    auto first = zygote.fork();
    ASSERT_TRUE(first) << first.error().text();
    const pid_t pid = zygote.pid();
    EXPECT_FALSE(first->channel.call("die", Json::object()));
    const auto status = first->child.waitFor(5s);
    ASSERT_TRUE(status);
    if (status->isKnown) {
        EXPECT_EQ(status->text(), "killed by SIGSEGV");
    }
    EXPECT_TRUE(zygote.fork());
    EXPECT_EQ(zygote.pid(), pid) << "the zygote lives on";
}

TEST_F(ZygoteTest, aHoggingChildIsKilledAndItsZygoteIsNot)
{
    Zygote zygote(*s_spawner, options(false));
    auto forked = zygote.fork();
    ASSERT_TRUE(forked) << forked.error().text();
    const pid_t pid = zygote.pid();
    EXPECT_FALSE(forked->channel.call("hog", Json::object()));
    const auto status = forked->child.waitFor(5s);
    ASSERT_TRUE(status);
    EXPECT_TRUE(status->overMemory) << status->text();
    ASSERT_TRUE(zygote.fork());
    EXPECT_EQ(zygote.pid(), pid);
}

TEST_F(ZygoteTest, aKilledZygoteIsStartedAgainAndItsChildrenAreGone)
{
    Zygote zygote(*s_spawner, options(true));
    auto forked = zygote.fork();
    ASSERT_TRUE(forked) << forked.error().text();
    const pid_t pid = zygote.pid();
    ::kill(pid, SIGKILL);
    EXPECT_TRUE(forked->child.waitFor(5s)) << "a child outlived its zygote";
    auto again = zygote.fork();
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_TRUE(again->channel.call("echo", Json::object()));
    EXPECT_NE(zygote.pid(), pid);
}

TEST_F(ZygoteTest, aZygoteThatCannotStartSaysWhy)
{
    Zygote zygote(*s_spawner, options(true, {"--fail"}));
    const auto facts = zygote.start();
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().code(), Code::Environment);
    EXPECT_NE(facts.error().message().find("there is no torch here"), std::string::npos)
        << facts.error().text();
}

TEST(DeviceLockTest, oneDeviceHasOneHolderAndADeathReleasesIt)
{
    auto folder = TempFolder::create("heddle-lock-test-");
    ASSERT_TRUE(folder);
    ::setenv("XDG_RUNTIME_DIR", folder->path().c_str(), 1);
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t other = ::fork();
    if (other == 0) {
        ::alarm(20);
        auto lock = DeviceLock::acquire("cpu", 1s, {});
        const char answer = lock ? 'y' : 'n';
        [[maybe_unused]] const ssize_t count = ::write(pipe[1], &answer, 1);
        ::pause();
    }
    char answer = 0;
    ASSERT_EQ(::read(pipe[0], &answer, 1), 1);
    ASSERT_EQ(answer, 'y');
    const auto busy = DeviceLock::acquire("cpu", 50ms, {});
    ASSERT_FALSE(busy);
    EXPECT_EQ(busy.error().code(), Code::TimedOut);
    EXPECT_NE(busy.error().message().find(std::to_string(other)), std::string::npos) << busy.error().text();
    EXPECT_TRUE(DeviceLock::acquire("cuda0", 50ms, {})) << "another device is free";
    EXPECT_FALSE(DeviceLock::acquire("../x", 50ms, {}));
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    EXPECT_TRUE(DeviceLock::acquire("cpu", 2s, {}));
}

} // namespace
} // namespace heddle
