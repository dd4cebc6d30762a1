// SPDX-License-Identifier: Apache-2.0
// Real hostile programs against the rung that holds here. CMake runs this program several times: as it is, with the
// Landlock rung forced, as an ordinary user, without user namespaces, and in a chroot.
#include "core/sandbox/Locations.h"
#include "core/sandbox/RunLimited.h"
#include "tests/support/ChildrenFixture.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// A socket with a name outside the sandbox that every user may reach.
class UnixListener {
public:
    UnixListener(int type, const fs::path &path)
        : m_type(type), m_fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))
    {
        m_address.sun_family = AF_UNIX;
        std::strncpy(m_address.sun_path, path.c_str(), sizeof m_address.sun_path - 1);
        ::bind(m_fd.value(), generic(), sizeof m_address);
        if (type != SOCK_DGRAM)
            ::listen(m_fd.value(), 4);
        ::chmod(m_address.sun_path, 0777);
    }

    std::string path() const { return m_address.sun_path; }

    bool canBeReached() const
    {
        const Fd client(::socket(AF_UNIX, m_type | SOCK_CLOEXEC, 0));
        return ::connect(client.value(), generic(), sizeof m_address) == 0;
    }

private:
    const sockaddr *generic() const { return reinterpret_cast<const sockaddr *>(&m_address); }

    int m_type;
    Fd m_fd;
    sockaddr_un m_address{};
};

void withoutDevice(SandboxPolicy &) {}

/// A harmless device stands for a GPU: the walls only ask whether there is one.
void withDevice(SandboxPolicy &policy) { policy.devices = {"/dev/zero"}; }

using Change = void (*)(SandboxPolicy &);

class SandboxTest : public ChildrenTest {
protected:
    void SetUp() override
    {
        ChildrenTest::SetUp();
        m_hostile = ownFile("hostile").value();
        m_library = ownFile("libheddle_sandbox.so").value();
    }

    SandboxPolicy policy(Role role = Role::Candidate) const
    {
        SandboxPolicy policy;
        policy.role = role;
        policy.scratch = scratch();
        policy.readOnly = {m_hostile, m_library};
        return policy;
    }

    /// Exit code of an attack: 0 when it worked, 1 when it was refused.
    CommandResult run(std::vector<std::string> words, const SandboxPolicy &with) const
    {
        words.insert(words.begin(), m_hostile.string());
        auto result = runLimited(*s_spawner, with, words);
        EXPECT_TRUE(result) << result.error().text();
        return result ? std::move(result).value() : CommandResult{};
    }

    void expectRefused(const std::vector<std::string> &words, Role role = Role::Candidate,
                       Change change = withoutDevice) const
    {
        SandboxPolicy with = policy(role);
        change(with);
        const CommandResult result = run(words, with);
        EXPECT_EQ(result.status.text(), "exit code 1") << words.front() << ": " << result.error;
    }

    void expectAllowed(const std::vector<std::string> &words, Role role = Role::Candidate,
                       Change change = withoutDevice) const
    {
        SandboxPolicy with = policy(role);
        change(with);
        const CommandResult result = run(words, with);
        EXPECT_EQ(result.status.text(), "exit code 0")
            << words.front() << ": " << result.output << result.error;
    }

    std::vector<std::string> inside(const char *role, std::vector<std::string> words) const
    {
        words.insert(words.begin(), {"@" + m_library.string(), role});
        return words;
    }

    fs::path m_hostile;
    fs::path m_library;
};

TEST_F(SandboxTest, theExpectedRungHolds)
{
    const char *expected = std::getenv("HEDDLE_EXPECTED_RUNG");
    if (expected == nullptr)
        GTEST_SKIP() << "any rung will do in this run";
    EXPECT_EQ(rungName(s_spawner->rung().rung), expected);
}

TEST_F(SandboxTest, aChildCannotOpenASocket)
{
    expectRefused({"socket"});
    expectRefused({"socket"}, Role::Oracle);
    expectRefused({"socket"}, Role::Compiler);
}

TEST_F(SandboxTest, withADeviceAChildMayListenOnAUnixSocketAndNameItsThreads)
{
    for (const Role role : {Role::Candidate, Role::Oracle})
        expectAllowed({"may-listen", "socket-of-" + std::string(roleName(role))}, role, withDevice);
    for (const char *role : {"runner", "executor", "oracle"})
        expectAllowed(inside(role, {"may-listen", "inner-socket-of-" + std::string(role)}), Role::Candidate,
                      withDevice);
    for (const Role role : {Role::Candidate, Role::Oracle})
        expectAllowed({"may-name"}, role, withDevice);
    for (const char *role : {"runner", "executor", "oracle"})
        expectAllowed(inside(role, {"may-name"}), Role::Candidate, withDevice);
    // The kernel may drop what it remembers of that folder at any time, and the rule with it, unless somebody holds it.
    expectAllowed({"may-hold"}, Role::Candidate, withDevice);
}

TEST_F(SandboxTest, withADeviceAChildStillReachesNobody)
{
    const UnixListener stream(SOCK_STREAM, m_folder->path() / "stream");
    const UnixListener packets(SOCK_SEQPACKET, m_folder->path() / "packets");
    const UnixListener datagrams(SOCK_DGRAM, m_folder->path() / "datagrams");
    fs::permissions(m_folder->path(), fs::perms(0777));
    // From outside all three can be reached, so that a refusal inside is the sandbox's.
    for (const UnixListener *listener : {&stream, &packets, &datagrams})
        ASSERT_TRUE(listener->canBeReached()) << listener->path();
    for (const Change with : {withoutDevice, withDevice}) {
        for (const Role role : {Role::Candidate, Role::Oracle, Role::Compiler}) {
            expectRefused({"elsewhere-socket"}, role, with);
            expectRefused({"connect", stream.path()}, role, with);
            expectRefused({"connect", packets.path()}, role, with);
            expectRefused({"connect", datagrams.path()}, role, with);
            expectRefused({"send-to", datagrams.path()}, role, with);
            expectRefused({"accept"}, role, with);
        }
        for (const char *role : {"runner", "executor"}) {
            expectRefused(inside(role, {"elsewhere-socket"}), Role::Candidate, with);
            expectRefused(inside(role, {"connect", stream.path()}), Role::Candidate, with);
            expectRefused(inside(role, {"send-to", datagrams.path()}), Role::Candidate, with);
            expectRefused(inside(role, {"accept"}), Role::Candidate, with);
        }
    }
}

TEST_F(SandboxTest, withADeviceAChildWritesToNoOtherProcess)
{
    const std::string worker = "/proc/" + std::to_string(::getpid()) + "/oom_score_adj";
    for (const Change with : {withoutDevice, withDevice}) {
        for (const Role role : {Role::Candidate, Role::Oracle}) {
            expectRefused({"others"}, role, with);
            expectRefused({"write", worker}, role, with);
            expectRefused({"write", "/proc/sys/kernel/core_pattern"}, role, with);
            // What it forks has another folder in /proc, and no leave to write there.
            expectRefused({"forked-name"}, role, with);
        }
        expectRefused(inside("executor", {"others"}), Role::Candidate, with);
        expectRefused(inside("executor", {"write", worker}), Role::Candidate, with);
    }
}

TEST_F(SandboxTest, withoutADeviceAChildHasNeitherUnixSocketsNorItsFolderInProc)
{
    for (const Role role : {Role::Candidate, Role::Oracle, Role::Compiler}) {
        expectRefused({"listen", "socket"}, role);
        expectRefused({"name"}, role);
    }
    for (const char *role : {"runner", "executor", "oracle"}) {
        expectRefused(inside(role, {"listen", "socket"}));
        expectRefused(inside(role, {"name"}));
    }
}

TEST_F(SandboxTest, whatAZygoteForksMayNameItsThreadsWhereProcIsTheSandboxsOwn)
{
    SandboxPolicy zygote = policy(Role::Oracle);
    withDevice(zygote);
    zygote.isForkedBeforeDevices = true;
    SpawnRequest request;
    request.policy = zygote;
    request.argv = {m_hostile.string(), "may-wait"};
    const auto child = s_spawner->spawn(request);
    ASSERT_TRUE(child) << child.error().text();
    const std::string writes = stringOr(memberOr(child->report(), "devices"), "writes");
    const bool isOwn = writes == "/proc";
    EXPECT_TRUE(isOwn || (writes == "/proc/self" && s_spawner->rung().rung == Rung::Landlock)) << writes;
    EXPECT_EQ(run({"forked-name"}, zygote).status.text(), isOwn ? "exit code 0" : "exit code 1");
    EXPECT_EQ(run({"write", "/proc/sys/kernel/core_pattern"}, zygote).status.text(), "exit code 1");
    // Its inner walls leave it the own folder alone.
    EXPECT_EQ(run(inside("oracle", {"may-name"}), zygote).status.text(), "exit code 0");
    EXPECT_EQ(run(inside("oracle", {"forked-name"}), zygote).status.text(), "exit code 1");
}

TEST_F(SandboxTest, aChildWritesNothingOutsideItsScratch)
{
    const fs::path outside = m_folder->path() / "outside";
    fs::permissions(m_folder->path(), fs::perms(0777));
    expectRefused({"write", outside.string()});
    expectRefused({"write", "/tmp/heddle-escaped"});
    expectRefused({"write", "/dev/shm/heddle-escaped"});
    expectRefused({"write", "/proc/sys/kernel/core_pattern"});
    expectRefused({"write", m_hostile.string()});
    expectAllowed({"may-write", "file"});
    EXPECT_FALSE(fs::exists(outside));
    EXPECT_FALSE(fs::exists("/tmp/heddle-escaped"));
    EXPECT_TRUE(fs::exists(m_folder->path() / "scratch/file"));
}

TEST_F(SandboxTest, aChildSeesNothingOfThePersonsFiles)
{
    const fs::path secret = m_folder->path() / "secret";
    std::ofstream(secret) << "secret";
    fs::permissions(m_folder->path(), fs::perms(0777));
    fs::permissions(secret, fs::perms(0666));
    for (const Role role : {Role::Candidate, Role::Oracle, Role::Compiler}) {
        expectRefused({"read", secret.string()}, role);
        expectRefused({"read", "/etc/passwd"}, role);
        expectRefused({"list", "/root"}, role);
        expectRefused({"list", "/home"}, role);
        expectRefused({"chmod", secret.string()}, role);
    }
}

TEST_F(SandboxTest, aChildCannotTouchTheWorker)
{
    const std::string self = std::to_string(::getpid());
    for (const Role role : {Role::Candidate, Role::Oracle, Role::Compiler}) {
        for (const char *name : {"memory", "environ", "ptrace", "kill"})
            expectRefused({name, self}, role);
    }
}

TEST_F(SandboxTest, aChildIsNotRootAndMakesNoNamespace)
{
    expectRefused({"root"});
    expectRefused({"namespace"});
    expectRefused({"descriptors"});
}

TEST_F(SandboxTest, aForkBombIsStoppedAndGone)
{
    SandboxPolicy limited = policy(Role::Compiler);
    limited.processes = 40;
    const CommandResult result = run({"fork-bomb"}, limited);
    EXPECT_FALSE(result.status.isSuccess()) << "it forked 2000 times";
    const auto countHostile = [] {
        int count = 0;
        for (const auto &entry : fs::directory_iterator("/proc")) {
            std::ifstream comm(entry.path() / "comm");
            std::string name;
            if (comm && std::getline(comm, name) && name == "hostile")
                ++count;
        }
        return count;
    };
    for (int i = 0; i < 300 && countHostile() > 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(countHostile(), 0);
}

TEST_F(SandboxTest, aMemoryHogIsKilledAndSaidToBeOne)
{
    SandboxPolicy limited = policy();
    limited.memoryBytes = 128u << 20;
    for (const char *kind : {"hog", "shared-hog"}) {
        const auto result = runLimited(*s_spawner, limited, {m_hostile.string(), kind});
        ASSERT_FALSE(result) << result->status.text();
        EXPECT_EQ(result.error().code(), Code::OutOfMemory) << result.error().text();
    }
}

TEST_F(SandboxTest, afterEnteringACandidateHasThreadsButNoProcesses)
{
    for (const char *role : {"runner", "executor"}) {
        expectAllowed(inside(role, {"may-thread"}));
        expectAllowed(inside(role, {"may-write", "file"}));
        expectRefused(inside(role, {"fork"}));
        expectRefused(inside(role, {"exec"}));
        expectRefused(inside(role, {"hide"}));
        expectRefused(inside(role, {"socket"}));
        expectRefused(inside(role, {"write", "/tmp/heddle-escaped"}));
    }
    expectAllowed(inside("oracle", {"may-fork"}), Role::Oracle);
}

TEST_F(SandboxTest, enteringWithAnUnknownRoleFails)
{
    const CommandResult result = run(inside("visitor", {"may-thread"}), policy());
    EXPECT_EQ(result.status.text(), "exit code 98");
    EXPECT_NE(result.output.find("role must be"), std::string::npos);
}

TEST_F(SandboxTest, theSignalOfADeathIsReported)
{
    EXPECT_EQ(run({"may-abort"}, policy()).status.text(), "killed by SIGABRT");
    EXPECT_EQ(run(inside("executor", {"may-abort"}), policy()).status.text(), "killed by SIGABRT");
}

TEST_F(SandboxTest, aMissingProgramAndAMissingFolderAreNamed)
{
    const auto program = runLimited(*s_spawner, policy(), {"/usr/bin/no-such-program"});
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().code(), Code::NotFound);
    SandboxPolicy wrong = policy();
    wrong.readOnly.emplace_back("/no/such/folder");
    const auto folder = runLimited(*s_spawner, wrong, {"/bin/true"});
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().code(), Code::InvalidInput);
    EXPECT_EQ(folder.error().where(), "/no/such/folder");
}

TEST_F(SandboxTest, aHangingCommandEndsAtItsTimeoutOrCancel)
{
    CommandLimits limits;
    limits.timeout = std::chrono::milliseconds(150);
    const auto late = runLimited(*s_spawner, policy(), {m_hostile.string(), "may-wait"}, limits);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), Code::TimedOut);
    CancelSource source;
    source.request_stop();
    limits.cancel = source.get_token();
    const auto cancelled = runLimited(*s_spawner, policy(), {m_hostile.string(), "may-wait"}, limits);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code(), Code::Cancelled);
}

TEST_F(SandboxTest, outputIsCutAtTheCapAndTheWriterGoesOn)
{
    CommandLimits limits;
    limits.outputBytes = 1000;
    const auto result =
        runLimited(*s_spawner, policy(Role::Compiler),
                   {"/bin/sh", "-c", "head -c 1000000 /dev/zero; echo end >&2; exit 3"}, limits);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->status.text(), "exit code 3");
    EXPECT_EQ(result->output.size(), 1000u);
    EXPECT_EQ(result->error, "end\n");
    EXPECT_TRUE(result->wasCut);
}

TEST_F(SandboxTest, noChildOutlivesAParentKilledBySignal9)
{
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t parent = ::fork();
    if (parent == 0) {
        ::alarm(20);
        // A worker of its own: the threads of the test's spawner do not exist in this copy.
        auto spawner = Spawner::create(s_spawner->rung());
        SpawnRequest request;
        request.policy = policy(Role::Compiler);
        request.argv = {"/bin/sh", "-c", "sleep 300 & sleep 300 & " + m_hostile.string() + " may-wait"};
        auto child = spawner ? spawner.value()->spawn(request) : Result<Child>(spawner.error());
        pid_t pids[4] = {child ? child->pid() : -1, -1, -1, -1};
        for (int i = 0; child && i < 100 && pids[3] < 0; ++i) {
            ::usleep(10'000);
            const std::string pid = std::to_string(pids[0]);
            std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
            for (int j = 1; j < 4; ++j)
                children >> pids[j];
        }
        [[maybe_unused]] const ssize_t count = ::write(pipe[1], pids, sizeof pids);
        ::pause(); // until the test kills it, or the alarm does
    }
    pid_t pids[4] = {};
    ASSERT_EQ(::read(pipe[0], pids, sizeof pids), static_cast<ssize_t>(sizeof pids));
    ASSERT_GT(pids[0], 0);
    ASSERT_EQ(::kill(pids[0], 0), 0);
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    const bool isUser = s_spawner->rung().rung == Rung::Landlock && ::geteuid() != 0;
    for (const pid_t pid : pids) {
        // Without any namespace only the first process dies with the parent; what it started is bounded by its limits.
        if (isUser && pid != pids[0]) {
            ::kill(pid, SIGKILL);
            continue;
        }
        bool isGone = false;
        for (int i = 0; i < 300 && !isGone; ++i) {
            std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
            std::string text;
            std::getline(status, text);
            isGone = text.empty() || text.find(") Z") != std::string::npos;
            if (!isGone)
                ::usleep(10'000);
        }
        EXPECT_TRUE(isGone) << pid;
    }
}

TEST_F(SandboxTest, theReportSaysWhatConfinesTheChild)
{
    SpawnRequest request;
    request.policy = policy();
    request.argv = {m_hostile.string(), "may-wait"};
    const auto start = std::chrono::steady_clock::now();
    auto child = s_spawner->spawn(request);
    const auto spent = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start);
    ASSERT_TRUE(child) << child.error().text();
    std::printf("  spawn took %.1f ms; %s\n", spent.count(), compactText(child->report()).c_str());
    EXPECT_EQ(stringOr(child->report(), "rung"), rungName(s_spawner->rung().rung));
    EXPECT_GE(integerOr(child->report(), "landlock", 0), 1);
    EXPECT_TRUE(boolOr(child->report(), "seccomp", false));
    // Only without mounts of our own may one be left: to pass folders that are closed to others.
    if (s_spawner->rung().rung == Rung::Bubblewrap) {
        EXPECT_TRUE(memberOr(child->report(), "capabilities").empty()) << compactText(child->report());
    }
    EXPECT_TRUE(child->isAlive());
    std::ifstream comm("/proc/" + std::to_string(child->pid()) + "/comm");
    std::string name;
    std::getline(comm, name);
    EXPECT_EQ(name, "hostile") << "pid() must be the program, not what wraps it";
    child->kill();
    EXPECT_FALSE(child->isAlive());
    EXPECT_EQ(child->waitFor(std::chrono::seconds(1))->text(), "killed by SIGKILL");
}

TEST_F(SandboxTest, aCompilerSeesIncludeFoldersOnly)
{
    const fs::path scratch = this->scratch();
    std::ofstream(scratch / "good.cpp") << "#include <vector>\nextern \"C\" int f() { return 1; }\n";
    std::ofstream(scratch / "bad.cpp") << "#include \"/etc/passwd\"\n";
    SandboxPolicy compiler = policy(Role::Compiler);
    compiler.needsCompiler = true;
    const auto compile = [&](const char *file) {
        return runLimited(*s_spawner, compiler, {"/usr/bin/g++", "-shared", "-fPIC", "-o", "out.so", file});
    };
    const auto good = compile("good.cpp");
    ASSERT_TRUE(good) << good.error().text();
    EXPECT_TRUE(good->status.isSuccess()) << good->error;
    EXPECT_TRUE(fs::exists(scratch / "out.so"));
    const auto bad = compile("bad.cpp");
    ASSERT_TRUE(bad) << bad.error().text();
    EXPECT_FALSE(bad->status.isSuccess());
    EXPECT_EQ(bad->error.find("root:"), std::string::npos) << "the file's content is in the log";
}

} // namespace
} // namespace heddle
