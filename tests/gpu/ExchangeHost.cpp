// SPDX-License-Identifier: Apache-2.0
// heddle-gpu-exchange: plays the worker for one run on a GPU. It starts the oracle (core/python/heddle_oracle/cuda_exchange.py)
// and heddle-cuda-probe inside the sandbox, passes the exchange buffers' descriptors from one to the other, and prints one
// JSON object with all that was seen. Exit code 0 when every wall stood and every result was right, else 1; 2: usage.
#include "core/base/Digest.h"
#include "core/base/File.h"
#include "core/rpc/FrameChannel.h"
#include "core/sandbox/Locations.h"
#include "core/sandbox/Spawner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace {

using namespace heddle;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
    std::string python = "python3";
    std::string package = "core/python"; ///< folder that holds heddle_oracle
    std::string library;                 ///< the driver; empty: libcuda.so.1
    bool isFake = false;                 ///< the driver's memory is host memory
    bool confinesOracle = false;         ///< the oracle in a sandbox of its own, with the GPU as well
    bool opensProc = false;              ///< the outer walls as for a zygote; to find out what a driver wants
    bool raisesWalls = true;             ///< the inner walls of an executor as well
    std::int64_t rows = 1000;
    std::int64_t columns = 777; ///< so that no size is a whole number of granules
    int rounds = 200;
};

double microseconds(Clock::duration span) { return std::chrono::duration<double, std::micro>(span).count(); }

/// The nodes that a process needs to compute; not those to set a GPU up.
std::vector<fs::path> gpuDevices()
{
    std::vector<fs::path> devices;
    std::error_code code;
    for (fs::directory_iterator entry("/dev", code), end; !code && entry != end; entry.increment(code)) {
        const std::string name = entry->path().filename().string();
        const bool isNumbered = name.starts_with("nvidia") && name.size() > 6
            && std::all_of(name.begin() + 6, name.end(),
                           [](unsigned char c) { return std::isdigit(c) != 0; });
        if (isNumbered || name == "nvidiactl" || name == "nvidia-uvm")
            devices.push_back(entry->path());
    }
    std::sort(devices.begin(), devices.end());
    return devices;
}

Json describeDevices(const std::vector<fs::path> &devices)
{
    Json rows = Json::array();
    for (const fs::path &path : devices) {
        struct stat info{};
        ::stat(path.c_str(), &info);
        char mode[8] = "";
        std::snprintf(mode, sizeof mode, "%04o", info.st_mode & 07777);
        rows.push_back(Json{{"path", path.string()}, {"mode", mode}});
    }
    return rows;
}

SandboxPolicy policyFor(const Options &options, const fs::path &probe, const fs::path &driver,
                        const fs::path &scratch)
{
    SandboxPolicy policy;
    policy.role = Role::Candidate;
    // A harmless device stands for the GPU in a rehearsal, so that the walls are those of a real run.
    policy.devices = options.isFake ? std::vector<fs::path>{"/dev/zero"} : gpuDevices();
    policy.isForkedBeforeDevices = options.opensProc;
    policy.scratch = scratch;
    policy.readOnly = {probe};
    // The driver and what it loads beside it; what it asks of the kernel about the card and the memory nodes.
    if (driver.is_absolute() && (options.isFake || *std::next(driver.begin()) != "usr"))
        policy.readOnly.push_back(options.isFake ? driver : driver.parent_path());
    std::error_code code;
    for (const char *path :
         {"/sys/devices", "/sys/bus/pci", "/sys/module/nvidia", "/sys/module/nvidia_uvm"}) {
        if (!options.isFake && fs::exists(path, code))
            policy.readOnly.emplace_back(path);
    }
    if (driver.is_absolute())
        policy.environment.push_back("LD_LIBRARY_PATH=" + driver.parent_path().string());
    return policy;
}

/// A child process without any sandbox, its channel as descriptor 3; killed when destroyed.
class PlainProcess {
public:
    /// `entry` is one more "NAME=value" of its environment.
    static Result<std::unique_ptr<PlainProcess>> start(std::vector<std::string> words,
                                                       const std::string &entry, const Fd &channel)
    {
        std::vector<char *> argv;
        for (std::string &word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        const pid_t pid = ::fork();
        if (pid < 0)
            return Error(Code::Environment, "cannot start a process", words.front());
        if (pid == 0) {
            ::putenv(const_cast<char *>(entry.c_str()));
            if (channel.value() != 3)
                ::dup2(channel.value(), 3);
            else
                ::fcntl(3, F_SETFD, 0);
            ::close_range(4, ~0u, 0);
            ::execvp(argv[0], argv.data());
            ::_exit(127);
        }
        return std::make_unique<PlainProcess>(pid);
    }

    explicit PlainProcess(pid_t pid) : m_pid(pid) {}
    PlainProcess(const PlainProcess &) = delete;
    PlainProcess &operator=(const PlainProcess &) = delete;
    ~PlainProcess()
    {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
    pid_t pid() const { return m_pid; }

private:
    pid_t m_pid;
};

/// The oracle with a marker in its environment that nobody else must see: in a sandbox of its own, or a plain child process.
class OracleProcess {
public:
    static Result<std::unique_ptr<OracleProcess>> start(const Options &options, const std::string &marker,
                                                        Spawner &spawner, const fs::path &scratch)
    {
        HEDDLE_TRY(auto pair, FrameChannel::createPair());
        const std::string entry = "HEDDLE_ORACLE_MARKER=" + marker;
        std::vector<std::string> words{options.python, "-c",
                                       "import sys; sys.path.insert(0, sys.argv[1]); "
                                       "from heddle_oracle.cuda_exchange import main; main()",
                                       options.package};
        auto oracle = std::make_unique<OracleProcess>(std::move(pair.first));
        if (options.confinesOracle) {
            SpawnRequest request;
            request.policy = policyFor(options, options.package, options.library, scratch);
            request.policy.role = Role::Oracle;
            request.policy.processes = 512; // PyTorch starts a thread for each core, in more than one pool
            request.policy.environment.push_back(entry);
            for (const fs::path &folder : pythonFolders(options.python))
                request.policy.readOnly.push_back(folder);
            request.argv = words;
            request.channel = pair.second.value();
            request.error = STDERR_FILENO;
            HEDDLE_TRY(oracle->m_child, spawner.spawn(request));
            return oracle;
        }
        HEDDLE_TRY(oracle->m_plain, PlainProcess::start(words, entry, pair.second));
        return oracle;
    }

    explicit OracleProcess(FrameChannel channel) : m_channel(std::move(channel)) {}
    OracleProcess(const OracleProcess &) = delete;
    OracleProcess &operator=(const OracleProcess &) = delete;

    pid_t pid() const { return m_child ? m_child->pid() : m_plain->pid(); }
    FrameChannel &channel() { return m_channel; }

private:
    FrameChannel m_channel;
    std::optional<Child> m_child;
    std::unique_ptr<PlainProcess> m_plain;
};

/// A Unix socket that every user of the machine may connect to.
Result<Fd> listenForAll(const fs::path &path)
{
    Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (::bind(listener.value(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0
        || ::listen(listener.value(), 8) != 0 || ::chmod(path.c_str(), 0777) != 0)
        return Error(Code::Environment, "cannot listen on a Unix socket", path.string());
    return listener;
}

bool allHeld(const Json &attempts)
{
    bool isHeld = attempts.is_array() && !attempts.empty();
    for (const Json &row : attempts)
        isHeld = isHeld && boolOr(row, "held", false);
    return isHeld;
}

Json summary(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * double(values.size() - 1))];
    };
    return Json{{"median", at(0.5)}, {"p10", at(0.1)}, {"p90", at(0.9)}, {"count", values.size()}};
}

/// Fresh content, one launch, a comparison; three times, since a stale result must not pass for a new one.
Result<bool> runChecked(Json &answer, FrameChannel &oracle, FrameChannel &probe, const Json &work)
{
    bool isRight = true;
    answer["checked"] = Json::array();
    for (int round = 0; round < 3; ++round) {
        HEDDLE_TRY(const Reply planted, oracle.call("plant", Json::object()));
        HEDDLE_TRY(const Reply launched, probe.call("run", work));
        HEDDLE_TRY(const Reply compared, oracle.call("compare", Json::object()));
        isRight = isRight && boolOr(compared.result, "ok", false);
        answer["checked"].push_back(
            Json{{"plant", planted.result}, {"launch", launched.result}, {"compare", compared.result}});
    }
    return isRight;
}

Result<void> timeLaunches(Json &answer, FrameChannel &probe, const Json &work, int rounds)
{
    std::vector<double> trips, launches, empty;
    for (int round = 0; round < rounds; ++round) {
        auto begun = Clock::now();
        HEDDLE_TRY(const Reply launched, probe.call("run", work));
        trips.push_back(microseconds(Clock::now() - begun));
        launches.push_back(numberOr(launched.result, "launch_us", 0));
        begun = Clock::now();
        HEDDLE_CHECK_OK([&]() -> Result<void> {
            HEDDLE_TRY(const Reply pong, probe.call("ping", Json::object()));
            return {};
        }());
        empty.push_back(microseconds(Clock::now() - begun));
    }
    answer["timings_us"] = Json{{"round_trip_with_launch", summary(trips)},
                                {"launch_and_wait_inside", summary(launches)},
                                {"round_trip_empty", summary(empty)}};
    return {};
}

/// The same attempts without any sandbox: what they are refused inside must work here, or a refusal proves nothing. For a
/// root user only; an ordinary one is kept from some of it by the system itself.
Result<bool> tryWithoutSandbox(Json &answer, const fs::path &program, const Json &targets)
{
    HEDDLE_TRY(auto pair, FrameChannel::createPair());
    HEDDLE_TRY(const auto process,
               PlainProcess::start({program.string(), "serve"}, "HEDDLE_PLAIN=1", pair.second));
    pair.second.reset();
    HEDDLE_TRY(const Reply reply, pair.first.call("walls", targets));
    answer["walls_without_sandbox"] = memberOr(reply.result, "attempts");
    const std::string secret = targets.at("secret_files").at(0).get<std::string>();
    const std::string folder = targets.at("closed_folders").at(0).get<std::string>();
    bool isReal = true;
    for (const std::string &attempt :
         {std::string("open a socket: inet"), "read " + secret, "list " + folder, "write into " + folder,
          std::string("open another process's memory"),
          std::string("open another process's settings for writing"), std::string("open a socket: netlink"),
          std::string("open a socket: unix datagram"), std::string("connect to a Unix socket outside"),
          std::string("accept on a Unix socket"), std::string("find the oracle's environment"),
          std::string("process_vm_readv of the oracle"), std::string("signal the oracle"),
          std::string("hold the oracle by a pidfd")}) {
        const Json &rows = answer["walls_without_sandbox"];
        const auto row = std::find_if(rows.begin(), rows.end(),
                                      [&](const Json &one) { return stringOr(one, "attempt") == attempt; });
        isReal = isReal && row != rows.end() && !boolOr(*row, "held", true);
    }
    return isReal;
}

/// Whether what the probe mapped is what the oracle made, byte for byte and no byte more.
bool isExactly(const Json &made, const Json &seen)
{
    if (!seen.is_array() || made.size() != seen.size())
        return false;
    bool isSame = true;
    for (std::size_t i = 0; i < made.size(); ++i) {
        isSame = isSame && stringOr(made[i], "name") == stringOr(seen[i], "name")
            && stringOr(made[i], "sha256") == stringOr(seen[i], "sha256")
            && integerOr(made[i], "mapped", 0) == integerOr(seen[i], "range_bytes", -1)
            && boolOr(seen[i], "slack_is_zero", false) && boolOr(seen[i], "starts_range", false);
    }
    return isSame;
}

Result<void> exchange(Json &answer, const Options &options, Spawner &spawner)
{
    const std::string marker = randomHex(16);
    HEDDLE_TRY(const TempFolder outside, TempFolder::create("heddle-outside-"));
    HEDDLE_TRY(const TempFolder scratch, TempFolder::create("heddle-scratch-"));
    HEDDLE_TRY(const TempFolder home, TempFolder::create("heddle-oracle-"));
    const fs::path secret = outside.path() / "secret.txt";
    HEDDLE_CHECK_OK(writeFileAtomically(secret, marker));
    // Readable for everybody by its mode: only the sandbox hides it.
    ::chmod(outside.path().c_str(), 0777);
    ::chmod(secret.c_str(), 0666);
    HEDDLE_TRY(const Fd listener, listenForAll(outside.path() / "listener"));

    HEDDLE_TRY(const auto oracle, OracleProcess::start(options, marker, spawner, home.path()));
    CallOptions patient;
    patient.timeout = std::chrono::minutes(3); // importing torch from a cold disk
    Json open{{"rows", options.rows}, {"columns", options.columns}, {"on_host", options.isFake}};
    if (!options.library.empty())
        open["library"] = options.library;
    auto reply = oracle->channel().call("open", std::move(open), {}, patient);
    if (!reply)
        return reply.error().wrapped("the oracle made no exchange buffers", options.python);
    Reply opened = std::move(reply).value();
    answer["oracle"] = opened.result;
    const Json &made = memberOr(opened.result, "buffers");

    const std::string driver = stringOr(memberOr(opened.result, "environment"), "driver");
    if (!options.isFake && !fs::path(driver).is_absolute())
        return Error(Code::Environment, "the oracle cannot say which driver it uses", driver);
    HEDDLE_TRY(const fs::path program, ownFile("heddle-cuda-probe"));
    HEDDLE_TRY(auto pair, FrameChannel::createPair());
    SpawnRequest request;
    request.policy = policyFor(options, program,
                               options.isFake ? fs::path(options.library) : fs::path(driver), scratch.path());
    answer["devices"] = describeDevices(request.policy.devices);
    request.argv = {program.string(), "serve"};
    request.channel = pair.second.value();
    request.error = STDERR_FILENO;
    const auto begun = Clock::now();
    HEDDLE_TRY(const Child child, spawner.spawn(request));
    pair.second.reset();
    FrameChannel &probe = pair.first;
    answer["sandbox"] = Json{{"report", child.report()}, {"spawn_us", microseconds(Clock::now() - begun)}};

    const std::string library =
        options.isFake ? options.library : driver; // the very file that the oracle uses
    HEDDLE_TRY(const Reply started,
               probe.call("start",
                          Json{{"device", 0}, {"library", library}, {"raise_walls", options.raisesWalls}}, {},
                          patient));
    answer["probe"] = started.result;

    const char *person = std::getenv("HOME");
    Json closed = Json::array({outside.path().string(), "/root", "/home", "/var/tmp", "/etc/ssl"});
    if (person != nullptr && std::string_view(person).starts_with("/") && std::string_view(person) != "/root")
        closed.push_back(person);
    Json visible = Json::array({scratch.path().string()});
    for (const fs::path &path : request.policy.readOnly)
        visible.push_back(path.string());
    const Json targets{{"secret_files", {secret.string(), "/etc/passwd", "/etc/shadow"}},
                       {"closed_folders", std::move(closed)},
                       {"visible", std::move(visible)},
                       {"process_outside", oracle->pid()},
                       {"listener", (outside.path() / "listener").string()},
                       {"marker", marker},
                       {"scratch", scratch.path().string()}};
    HEDDLE_TRY(const Reply walls, probe.call("walls", targets));
    answer["walls"] = memberOr(walls.result, "attempts");

    std::vector<int> descriptors;
    for (const Fd &fd : opened.fds)
        descriptors.push_back(fd.value());
    const auto attaching = Clock::now();
    HEDDLE_TRY(const Reply attached, probe.call("attach", Json{{"buffers", made}}, descriptors, patient));
    answer["attached"] = memberOr(attached.result, "buffers");
    answer["attach_round_trip_us"] = microseconds(Clock::now() - attaching);

    const Json work{{"x", "x"},
                    {"w", "w"},
                    {"b", "b"},
                    {"y", "y"},
                    {"count", options.rows * options.columns},
                    {"columns", options.columns}};
    HEDDLE_TRY(const bool isRight, runChecked(answer, oracle->channel(), probe, work));
    HEDDLE_CHECK_OK(timeLaunches(answer, probe, work, options.rounds));
    HEDDLE_TRY(const Reply overreach, probe.call("overreach", Json{{"buffer", "w"}}, {}, patient));
    answer["overreach"] = memberOr(overreach.result, "attempts");
    // A lost context in the probe must not touch the oracle's.
    HEDDLE_TRY(const Reply after, oracle->channel().call("compare", Json::object()));
    answer["oracle_after_overreach"] = after.result;
    answer["verdict"] = Json{{"walls_held", allHeld(answer["walls"])},
                             {"exactly_those_bytes", isExactly(made, answer["attached"])},
                             {"overreach_refused", allHeld(answer["overreach"])},
                             {"result_right", isRight},
                             {"oracle_unharmed", boolOr(after.result, "ok", false)}};
    if (::geteuid() == 0) {
        HEDDLE_TRY(answer["verdict"]["attempts_work_without_sandbox"],
                   tryWithoutSandbox(answer, program, targets));
    }
    return {};
}

std::optional<Options> parse(int argc, char **argv)
{
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--fake") {
            options.isFake = true;
            continue;
        }
        if (name == "--confined-oracle") {
            options.confinesOracle = true;
            continue;
        }
        if (name == "--open-proc") {
            options.opensProc = true;
            continue;
        }
        if (name == "--outer-walls-only") {
            options.raisesWalls = false;
            continue;
        }
        if (i + 1 >= argc)
            return std::nullopt;
        const std::string value = argv[++i];
        if (name == "--python")
            options.python = value;
        else if (name == "--package")
            options.package = value;
        else if (name == "--library")
            options.library = value;
        else if (name == "--rounds")
            options.rounds = std::max(1, std::atoi(value.c_str()));
        else
            return std::nullopt;
    }
    if (options.isFake && options.library.empty())
        return std::nullopt;
    return options;
}

/// Whether every folder above lets any user pass. The Landlock rung's user has no folders of its own, so what lies in a
/// home of mode 0700 is out of its reach once the walls are up.
bool isReachableByOthers(const fs::path &path)
{
    for (fs::path folder = fs::absolute(path).parent_path(); folder.has_relative_path();
         folder = folder.parent_path()) {
        std::error_code code;
        if ((fs::status(folder, code).permissions() & fs::perms::others_exec) == fs::perms::none)
            return false;
    }
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    const auto options = parse(argc, argv);
    if (!options) {
        std::fputs(
            "usage: heddle-gpu-exchange [--python PROGRAM] [--package FOLDER] [--library DRIVER] [--fake] "
            "[--outer-walls-only] [--open-proc] [--confined-oracle] [--rounds N]\n",
            stderr);
        return 2;
    }
    Json answer = Json::object();
    const RungReport rung = probeRung();
    if (options->isFake && rung.rung == Rung::Landlock && !isReachableByOthers(options->library)) {
        std::printf("skipped: the sandbox's user cannot reach %s, as under a home of mode 0700\n",
                    options->library.c_str());
        return 77;
    }
    answer["rung"] =
        Json{{"rung", rungName(rung.rung)}, {"landlock_abi", rung.landlockAbi}, {"reasons", rung.reasons}};
    auto spawner = Spawner::create(rung);
    const Result<void> done =
        spawner ? exchange(answer, *options, *spawner.value()) : Result<void>(spawner.error());
    if (!done)
        answer["error"] = toJson(done.error());
    bool isGood = done.has_value();
    for (const Json &part : memberOr(answer, "verdict"))
        isGood = isGood && part.is_boolean() && part.get<bool>();
    answer["ok"] = isGood;
    std::printf("%s\n", prettyText(answer).c_str());
    return isGood ? 0 : 1;
}
