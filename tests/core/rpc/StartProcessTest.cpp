// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/StartProcess.h"
#include "core/base/Fd.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace heddle {
namespace {

/// What `sh -c script` writes to its stdout, until it ends.
std::string outputOf(const std::string &script, bool outlivesUs)
{
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reading(ends[0]);
    Fd writing(ends[1]);
    ProcessStart start;
    start.arguments = {"sh", "-c", script};
    start.output = writing.value();
    start.outlivesUs = outlivesUs;
    const auto started = startProcess(start);
    EXPECT_TRUE(started) << started.error().text();
    writing.reset();
    std::string text;
    char chunk[256];
    for (ssize_t count = 0; (count = ::read(reading.value(), chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<std::size_t>(count));
    return text;
}

TEST(StartProcessTest, theProgramHearsEverySignalWhateverTheCallerBlocks)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &all, &before), 0);
    const auto handler = std::signal(SIGPIPE, SIG_IGN);
    std::istringstream lines(outputOf("grep -E 'SigBlk|SigIgn' /proc/self/status", false));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::signal(SIGPIPE, handler);
    std::string name;
    std::string mask;
    ASSERT_TRUE(lines >> name >> mask);
    EXPECT_EQ(std::strtoull(mask.c_str(), nullptr, 16), 0u) << name;
    ASSERT_TRUE(lines >> name >> mask);
    EXPECT_EQ(std::strtoull(mask.c_str(), nullptr, 16) >> (SIGPIPE - 1) & 1, 0u) << name;
}

TEST(StartProcessTest, aGivenVariableReplacesOursAndTheOthersStay)
{
    ::setenv("HEDDLE_TEST_KEPT", "kept", 1);
    ::setenv("HEDDLE_TEST_GIVEN", "ours", 1);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reading(ends[0]);
    Fd writing(ends[1]);
    ProcessStart start;
    start.arguments = {"sh", "-c", "env | grep ^HEDDLE_TEST_ | sort"};
    start.environment = {"HEDDLE_TEST_GIVEN=theirs"};
    start.output = writing.value();
    ASSERT_TRUE(startProcess(start));
    writing.reset();
    std::string text;
    char chunk[256];
    for (ssize_t count = 0; (count = ::read(reading.value(), chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<std::size_t>(count));
    EXPECT_EQ(text, "HEDDLE_TEST_GIVEN=theirs\nHEDDLE_TEST_KEPT=kept\n");
}

TEST(StartProcessTest, itIsAwayFromOurGroupAndFromOurSessionOnlyWhereItOutlivesUs)
{
    for (const bool outlivesUs : {false, true}) {
        std::istringstream words(outputOf("cut -d ' ' -f 5,6 /proc/$$/stat", outlivesUs));
        pid_t group = 0;
        pid_t session = 0;
        ASSERT_TRUE(words >> group >> session);
        EXPECT_NE(group, ::getpgrp());
        EXPECT_EQ(session == ::getsid(0), !outlivesUs);
    }
}

TEST(StartProcessTest, whatIsNotConnectedIsEmptyAndSilent)
{
    EXPECT_EQ(outputOf("cat; readlink /proc/self/fd/0 /proc/self/fd/2", false), "/dev/null\n/dev/null\n");
}

TEST(StartProcessTest, aProgramThatIsNotThereIsAnErrorWithItsName)
{
    ProcessStart start;
    start.arguments = {"/nowhere/heddle-worker"};
    const auto started = startProcess(start);
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code(), Code::Environment);
    EXPECT_EQ(started.error().where(), "/nowhere/heddle-worker");
}

TEST(StartProcessTest, whoHasEndedIsReaped)
{
    ASSERT_EQ(outputOf("echo done", false), "done\n");
    for (int i = 0; i < 200; ++i) {
        // No child at all, not even a dead one.
        if (::waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    FAIL() << "a zombie is left";
}

} // namespace
} // namespace heddle
