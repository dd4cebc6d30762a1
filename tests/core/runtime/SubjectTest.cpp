// SPDX-License-Identifier: Apache-2.0
// Hand-written candidates, compiled here in the compiler's sandbox and run by the real executor.
#include "core/runtime/Subject.h"
#include "core/sandbox/Locations.h"
#include "core/sandbox/RunLimited.h"
#include "tests/support/ChildrenFixture.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

namespace heddle {
namespace {

namespace fs = std::filesystem;
using Milliseconds = std::chrono::milliseconds;

class SubjectTest : public ChildrenTest {
protected:
    void SetUp() override
    {
        ChildrenTest::SetUp();
        for (const char *name : {"build", "object"})
            fs::create_directory(m_folder->path() / name);
        fs::permissions(m_folder->path() / "object", fs::perms(0755));
    }

    /// Two slots of one float32 vector: 0, 1, 2, … and its negative.
    Fd makeArena() const
    {
        const std::size_t elements = m_elements;
        Fd memory(::memfd_create("arena", MFD_CLOEXEC));
        std::vector<float> values(2 * elements);
        for (std::size_t i = 0; i < elements; ++i) {
            values[i] = static_cast<float>(i);
            values[elements + i] = -static_cast<float>(i);
        }
        EXPECT_EQ(::write(memory.value(), values.data(), values.size() * 4),
                  static_cast<ssize_t>(values.size() * 4));
        return memory;
    }

    /// A subject that serves `body`, the inside of `void kernel(const float *x, float *y, int64_t n)`.
    Result<Subject> serve(const std::string &body, std::uint64_t memoryBytes = 0) const
    {
        const fs::path build = m_folder->path() / "build";
        const std::size_t elements = m_elements;
        std::ofstream(build / "k.cpp") << R"(
            #include <cstdint>
            #include <cstdlib>
            #include <cstring>
            #include <ctime>
            #include <new>
            #include <thread>
            #include <unistd.h>
            union heddle_arg { void *ptr; int64_t i64; int32_t i32; float f32; double f64; };
            static void kernel(const float *x, float *y, int64_t n) {)"
                                       << body << R"(}
            extern "C" void heddle_step_0(const union heddle_arg *a) {
                kernel(static_cast<const float *>(a[0].ptr), static_cast<float *>(a[1].ptr), a[2].i64);
            })";
        SandboxPolicy compiler;
        compiler.role = Role::Compiler;
        compiler.scratch = build;
        compiler.needsCompiler = true;
        HEDDLE_TRY(
            const CommandResult compiled,
            runLimited(*s_spawner, compiler,
                       {"/usr/bin/g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-o", "k.so", "k.cpp"}));
        if (!compiled.status.isSuccess())
            return Error(Code::CompileFailed, compiled.error);
        fs::copy_file(build / "k.so", m_folder->path() / "object/k.so", fs::copy_options::overwrite_existing);
        HEDDLE_TRY(Subject subject, start(memoryBytes));
        const Json vector{
            {"dtype", "float32"}, {"shape", {elements}}, {"offset", 0}, {"bytes", elements * 4}};
        Json input = vector;
        Json inputs = Json::array();
        for (int i = 0; i < m_inputs; ++i) { // all of them the same bytes; the kernel reads the first
            input["name"] = i == 0 ? "input:x" : "input:x" + std::to_string(i);
            inputs.push_back(input);
        }
        const Json layout{
            {"bytes", elements * 8},   {"inputs", inputs},    {"input_slot_bytes", elements * 4},
            {"input_slots", 2},        {"input_base", 0},     {"state", Json::array()},
            {"state_slot_bytes", 0},   {"state_slots", 0},    {"state_base", 0},
            {"values", Json::array()}, {"outputs", {vector}}, {"updates", Json::array()}};
        const Json step{
            {"kernel", "kernel"},
            {"source", "k.cpp"},
            {"args", {Json{{"ptr", "input:x"}}, Json{{"ptr", "out:0"}}, Json{{"i64", "input:x.shape[0]"}}}}};
        const Json plan{{"heddle", 1},
                        {"target", "cpu"},
                        {"steps", {step}},
                        {"outputs", {Json{{"dtype", "float32"}, {"shape", {"input:x.shape[0]"}}}}}};
        const Fd arena = makeArena();
        const fs::path object = m_folder->path() / "object/k.so";
        HEDDLE_TRY(const Reply loaded,
                   subject.channel().call(
                       "load",
                       Json{{"object", object.string()}, {"plan", plan}, {"layout", layout}, {"threads", 2}},
                       {arena.value()}));
        EXPECT_EQ(integerOr(loaded.result, "symbols", 0), 1);
        HEDDLE_CHECK_OK(subject.startServe());
        return subject;
    }

    Result<Subject> start(std::uint64_t memoryBytes) const
    {
        HEDDLE_TRY(auto pair, FrameChannel::createPair());
        HEDDLE_TRY(const fs::path program, ownFile("heddle-executor"));
        SpawnRequest request;
        request.policy.scratch = scratch();
        request.policy.readOnly = {program, m_folder->path() / "object"};
        request.policy.memoryBytes = memoryBytes;
        request.argv = {program.string()};
        request.channel = pair.second.value();
        HEDDLE_TRY(Child child, s_spawner->spawn(request));
        return Subject(std::move(child), std::move(pair.first), "the candidate");
    }

    std::vector<float> output(const Subject &subject) const
    {
        const std::size_t elements = m_elements;
        std::vector<float> values(elements);
        const auto spans = subject.outputs();
        EXPECT_EQ(spans.size(), 1u);
        if (spans.size() != 1 || spans[0].bytes != elements * 4)
            return {};
        auto read = subject.readMemory(spans[0].address, std::as_writable_bytes(std::span(values)));
        EXPECT_TRUE(read) << read.error().text();
        return values;
    }

    std::size_t m_elements = 1024;
    int m_inputs = 1;
};

constexpr const char *addOne = "for (int64_t i = 0; i < n; ++i) y[i] = x[i] + 1;";

TEST_F(SubjectTest, aCandidateThatAddsGivesItsSumsFromFreshMemoryEachTime)
{
    auto subject = serve(addOne);
    ASSERT_TRUE(subject) << subject.error().text();
    std::uint64_t lastAddress = 0;
    for (const std::uint32_t slot : {0u, 1u, 0u}) {
        ASSERT_TRUE(subject->prepare(slot, Subject::noState, 0, Milliseconds(1000)));
        const auto timing = subject->callAndFreeze(0, Milliseconds(1000));
        ASSERT_TRUE(timing) << timing.error().text();
        EXPECT_GT(timing->wall.count(), 0);
        const auto values = output(*subject);
        ASSERT_EQ(values.size(), m_elements);
        for (std::size_t i = 0; i < m_elements; ++i)
            ASSERT_EQ(values[i], (slot == 0 ? 1.0f : -1.0f) * static_cast<float>(i) + 1.0f);
        ASSERT_EQ(subject->inputs().size(), 1u);
        EXPECT_NE(subject->inputs()[0].address, lastAddress);
        lastAddress = subject->inputs()[0].address;
        ASSERT_TRUE(subject->thaw());
        ASSERT_TRUE(subject->release());
    }
    ASSERT_TRUE(subject->exitServe());
    EXPECT_TRUE(subject->child().isAlive());
    ASSERT_TRUE(subject->startServe()) << "an executor serves again after it left";
}

/// Page faults without a read from disk of a process so far: field 10 of /proc/PID/stat, see proc(5).
std::uint64_t minorFaults(pid_t pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string word;
    for (int field = 3; field <= 10; ++field)
        fields >> word;
    return std::stoull(word);
}

TEST_F(SubjectTest, aWarmCallFindsTheMemoryOfItsOutputAgain)
{
    // 18 MB are above glibc's first mmap threshold and below its highest; three of them are above its trim threshold.
    m_elements = 4'600'000;
    m_inputs = 3;
    auto subject = serve(addOne);
    ASSERT_TRUE(subject) << subject.error().text();
    const std::uint64_t pages = m_elements * 4 / 4096;
    for (int call = 0; call < 8; ++call) {
        ASSERT_TRUE(subject->prepare(0, Subject::noState, 0, Milliseconds(5000)));
        const std::uint64_t before = minorFaults(subject->child().pid());
        ASSERT_TRUE(subject->call(0, Milliseconds(5000)));
        const std::uint64_t faults = minorFaults(subject->child().pid()) - before;
        if (call > 2) {
            EXPECT_LT(faults, pages / 20) << "call " << call << " paid for fresh pages";
        }
        ASSERT_TRUE(subject->release());
    }
}

TEST_F(SubjectTest, theCostOfAnEmptyCallIsMeasured)
{
    const auto before = std::chrono::steady_clock::now();
    {
        auto cold = start(0);
        ASSERT_TRUE(cold) << cold.error().text();
        ASSERT_TRUE(cold->channel().call("ping", Json::object()));
    }
    const std::chrono::duration<double, std::milli> spawn = std::chrono::steady_clock::now() - before;
    auto subject = serve(addOne);
    ASSERT_TRUE(subject) << subject.error().text();
    std::vector<double> empty;
    std::vector<double> full;
    for (int i = 0; i < 300; ++i) {
        const auto timing = subject->emptyCall();
        ASSERT_TRUE(timing);
        empty.push_back(std::chrono::duration<double, std::micro>(timing->wall).count());
        const auto start = std::chrono::steady_clock::now();
        ASSERT_TRUE(subject->prepare(0, Subject::noState, 0, Milliseconds(1000)));
        ASSERT_TRUE(subject->call(0, Milliseconds(1000)));
        full.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(empty.begin(), empty.end());
    std::sort(full.begin(), full.end());
    std::printf(
        "  executor cold %.1f ms; empty call %.1f us (90 %%: %.1f); prepare and call of 4 KiB %.1f us\n",
        spawn.count(), empty[150], empty[270], full[150]);
    EXPECT_LT(empty[150], 5000.0);
}

TEST_F(SubjectTest, aCrashIsReportedWithItsSignal)
{
    auto subject = serve("*reinterpret_cast<volatile int *>(8) = 1; (void)x; (void)y; (void)n;");
    ASSERT_TRUE(subject) << subject.error().text();
    ASSERT_TRUE(subject->prepare(0, Subject::noState, 0, Milliseconds(1000)));
    const auto timing = subject->call(0, Milliseconds(2000));
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().code(), Code::Crashed);
    EXPECT_NE(timing.error().message().find("SIGSEGV"), std::string::npos) << timing.error().text();
}

TEST_F(SubjectTest, aQuietExitIsADeathToo)
{
    auto subject = serve("_exit(0); (void)x; (void)y; (void)n;");
    ASSERT_TRUE(subject) << subject.error().text();
    ASSERT_TRUE(subject->prepare(0, Subject::noState, 0, Milliseconds(1000)));
    const auto timing = subject->call(0, Milliseconds(2000));
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().code(), Code::Crashed);
}

TEST_F(SubjectTest, aHangEndsAtTheTimeoutAndTheProcessIsGone)
{
    auto subject = serve("for (volatile bool on = true; on;) {} (void)x; (void)y; (void)n;");
    ASSERT_TRUE(subject) << subject.error().text();
    ASSERT_TRUE(subject->prepare(0, Subject::noState, 0, Milliseconds(1000)));
    const auto timing = subject->call(0, Milliseconds(200));
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().code(), Code::TimedOut);
    EXPECT_FALSE(subject->child().isAlive());
}

TEST_F(SubjectTest, allocatingWithoutEndIsOutOfMemory)
{
    auto subject = serve("for (;;) { void *p = malloc(1 << 20); if (p) memset(p, 1, 1 << 20); usleep(500); } "
                         "(void)x; (void)y; (void)n;",
                         192u << 20);
    ASSERT_TRUE(subject) << subject.error().text();
    ASSERT_TRUE(subject->prepare(0, Subject::noState, 0, Milliseconds(1000)));
    const auto timing = subject->call(0, Milliseconds(20'000));
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().code(), Code::OutOfMemory) << timing.error().text();
}

TEST_F(SubjectTest, workLeftInAThreadIsFrozenOutAndSeenInProcessorTime)
{
    auto subject = serve("std::thread([=] { for (volatile int64_t i = 0; i < 2000000000; i = i + 1) {} "
                         "for (int64_t i = 0; i < n; ++i) y[i] = x[i] + 1; }).detach();");
    ASSERT_TRUE(subject) << subject.error().text();
    ASSERT_TRUE(subject->prepare(0, Subject::noState, 0, Milliseconds(1000)));
    const auto timing = subject->call(0, Milliseconds(5000));
    ASSERT_TRUE(timing) << timing.error().text();
    EXPECT_EQ(subject->threadCount().value(), 2);
    const auto before = subject->cpuTime();
    ASSERT_TRUE(before);
    // A busy machine gives the thread its turn late, so it is waited for.
    Result<std::chrono::nanoseconds> after = *before;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (after && *after - *before < Milliseconds(10) && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(Milliseconds(10));
        after = subject->cpuTime();
    }
    ASSERT_TRUE(after);
    EXPECT_GE(*after - *before, Milliseconds(10)) << "a thread goes on after the call has returned";
    ASSERT_TRUE(subject->freeze());
    const auto frozen = subject->cpuTime();
    std::this_thread::sleep_for(Milliseconds(100));
    EXPECT_EQ(frozen->count(), subject->cpuTime()->count()) << "nothing runs in a frozen subject";
    ASSERT_TRUE(subject->thaw());
}

TEST_F(SubjectTest, aPatchedClockInTheCandidateChangesNothing)
{
    auto subject = serve(
        "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); usleep(50000); (void)x; (void)y; (void)n;} "
        "extern \"C\" int clock_gettime(clockid_t, struct timespec *t) noexcept { t->tv_sec = 0; t->tv_nsec "
        "= 0; return 0;");
    ASSERT_TRUE(subject) << subject.error().text();
    ASSERT_TRUE(subject->prepare(0, Subject::noState, 0, Milliseconds(1000)));
    const auto timing = subject->call(0, Milliseconds(5000));
    ASSERT_TRUE(timing) << timing.error().text();
    EXPECT_GE(timing->wall, Milliseconds(50));
}

TEST_F(SubjectTest, aWriteOverTheEdgeShowsInTheGuardAndUnwrittenElementsAreNan)
{
    auto subject = serve("for (int64_t i = 0; i < n - 1; ++i) y[i] = x[i]; y[n + 3] = 7;");
    ASSERT_TRUE(subject) << subject.error().text();
    ASSERT_TRUE(subject->prepare(0, Subject::noState, HEDDLE_CALL_GUARDED, Milliseconds(1000)));
    ASSERT_TRUE(subject->callAndFreeze(HEDDLE_CALL_GUARDED, Milliseconds(1000)));
    const auto values = output(*subject);
    ASSERT_EQ(values.size(), m_elements);
    EXPECT_TRUE(std::isnan(values.back()));
    const auto guard = [&](std::uint64_t address) {
        std::vector<std::uint8_t> bytes(HEDDLE_GUARD_BYTES);
        EXPECT_TRUE(subject->readMemory(address, std::as_writable_bytes(std::span(bytes))));
        return std::count(bytes.begin(), bytes.end(), HEDDLE_GUARD_FILL);
    };
    const HeddleSpan span = subject->outputs()[0];
    EXPECT_EQ(guard(span.address - HEDDLE_GUARD_BYTES), HEDDLE_GUARD_BYTES);
    EXPECT_EQ(guard(span.address + span.bytes), HEDDLE_GUARD_BYTES - 4);
    const HeddleSpan input = subject->inputs()[0];
    EXPECT_EQ(guard(input.address + input.bytes), HEDDLE_GUARD_BYTES);
}

TEST_F(SubjectTest, aWrongSlotIsAnErrorAndAWildAddressIsNotRead)
{
    auto subject = serve(addOne);
    ASSERT_TRUE(subject) << subject.error().text();
    const auto wrong = subject->prepare(7, Subject::noState, 0, Milliseconds(1000));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code(), Code::TaskFailed);
    std::byte byte{};
    const auto wild = subject->readMemory(8, std::span(&byte, 1));
    ASSERT_FALSE(wild);
    EXPECT_EQ(wild.error().code(), Code::Protocol);
}

TEST_F(SubjectTest, aCandidateWithoutItsStepIsRefusedByName)
{
    auto subject = serve("(void)x; (void)y; (void)n;} extern \"C\" void other() {");
    ASSERT_TRUE(subject) << subject.error().text();
    std::ofstream(m_folder->path() / "object/k.so", std::ios::trunc) << "not a library";
    auto fresh = start(0);
    ASSERT_TRUE(fresh);
    const Fd arena = makeArena();
    const auto reply = fresh->channel().call(
        "load", Json{{"object", "/none.so"}, {"plan", Json::object()}, {"layout", Json::object()}},
        {arena.value()});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), Code::InvalidInput) << reply.error().text();
    EXPECT_TRUE(fresh->child().isAlive()) << "bad orders do not end an executor";
}

} // namespace
} // namespace heddle
