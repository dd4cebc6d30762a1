// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/Orders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

// Enough of /etc for the loader, the compiler's alternatives and the clock; no user names, no host names.
constexpr const char *systemFiles[] = {
    "/etc/ld.so.cache", "/etc/ld.so.conf",    "/etc/ld.so.conf.d",       "/etc/alternatives",
    "/etc/localtime",   "/etc/nsswitch.conf", "/sys/devices/system/cpu", "/sys/devices/system/node",
};
constexpr const char *systemFolders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
constexpr const char *compilerFolders[] = {"/usr/lib/gcc", "/usr/libexec/gcc", "/usr/lib/llvm-14",
                                           "/usr/include"};
constexpr const char *harmlessDevices[] = {"/dev/null", "/dev/zero", "/dev/full"};

/// Threads of all processes of a user, as RLIMIT_NPROC counts them.
std::uint64_t tasksOfUser(uid_t user)
{
    std::uint64_t tasks = 0;
    std::error_code code;
    for (const fs::directory_entry &entry : fs::directory_iterator("/proc", code)) {
        struct stat info{};
        if (std::isdigit(static_cast<unsigned char>(entry.path().filename().string()[0])) == 0
            || ::stat(entry.path().c_str(), &info) != 0 || info.st_uid != user)
            continue;
        for ([[maybe_unused]] const fs::directory_entry &task :
             fs::directory_iterator(entry.path() / "task", code))
            ++tasks;
    }
    return tasks;
}

Json memoryLimit(std::uint64_t bytes)
{
    // The resident-size watch should act first, since it knows why; this bounds what it cannot see in time.
    return bytes == 0 ? Json(-1) : Json(bytes + bytes / 4 + (256ull << 20));
}

} // namespace

Json launchOrders(const SandboxPolicy &policy, const Launch &launch)
{
    const bool isBubblewrap = launch.rung == Rung::Bubblewrap;
    Json read = Json::array({"/proc", "/dev/urandom", "/dev/random"});
    for (const char *path : systemFolders)
        read.push_back(path);
    for (const char *path : systemFiles)
        read.push_back(path);
    for (const fs::path &path : policy.readOnly)
        read.push_back(path.string());
    Json write = Json::array({policy.scratch.string()});
    for (const char *path : harmlessDevices)
        write.push_back(path);
    for (const fs::path &path : policy.devices)
        write.push_back(path.string());
    if (isBubblewrap && policy.role != Role::Candidate) {
        write.push_back("/tmp"); // private to this sandbox
        write.push_back("/dev/shm");
    }
    const bool isSameUser = !isBubblewrap && !launch.isRoot;
    Json orders{{"rung", rungName(launch.rung)},
                {"namespaces", Json::array()},
                {"isolate", !isBubblewrap && launch.isRoot},
                {"user", launch.isRoot ? Json(launch.user) : Json()},
                {"same_user", isSameUser},
                {"parent", isBubblewrap ? 0 : launch.parent},
                {"folder", policy.scratch.string()},
                {"read", std::move(read)},
                {"write", std::move(write)},
                {"data", memoryLimit(policy.memoryBytes)},
                {"file", policy.fileBytes},
                {"files", policy.openFiles}};
    if (!policy.devices.empty())
        orders["devices"] = Json{{"forked", policy.isForkedBeforeDevices}};
    if (isBubblewrap)
        orders["namespaces"] = Json::array({"mount", "pid", "net", "ipc", "uts"});
    if (isBubblewrap && !launch.isRoot)
        orders["namespaces"].push_back("user");
    // The kernel counts by user and user namespace. A child that stays the person shares the person's count.
    orders["processes"] = policy.processes + (isSameUser ? tasksOfUser(::geteuid()) : 0);
    return orders;
}

std::vector<std::string> bubblewrapArguments(const SandboxPolicy &policy, bool isRoot,
                                             const fs::path &bubblewrap, const fs::path &launcher)
{
    std::vector<std::string> arguments{bubblewrap.string(), "--die-with-parent", "--new-session",
                                       "--cap-drop", "ALL"};
    const auto add = [&](std::initializer_list<std::string> words) {
        arguments.insert(arguments.end(), words);
    };
    if (isRoot)
        add({"--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
             "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_DAC_READ_SEARCH"});
    else
        add({"--unshare-all", "--uid", "65534", "--gid", "65534"});
    add({"--hostname", "heddle"});
    std::error_code code;
    for (const char *folder : systemFolders) {
        if (fs::is_symlink(folder, code))
            add({"--symlink", fs::read_symlink(folder, code).string(), folder});
        else if (fs::is_directory(folder, code))
            add({"--ro-bind", folder, folder});
    }
    if (!policy.needsCompiler) {
        for (const char *folder : compilerFolders) {
            if (fs::is_directory(folder, code) && !fs::is_symlink(folder, code))
                add({"--tmpfs", folder, "--remount-ro", folder});
        }
    }
    add({"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"});
    const auto makeAncestors = [&](const fs::path &path) {
        // Bubblewrap would give the folders on the way the mode that they have outside, so that another user could not
        // pass those of the person.
        fs::path ancestor = "/";
        for (const fs::path &part : path.parent_path().relative_path()) {
            ancestor /= part;
            if (ancestor != "/usr" && ancestor != "/dev" && ancestor != "/proc")
                add({"--perms", "0755", "--dir", ancestor.string()});
        }
    };
    const auto bind = [&](const char *how, const fs::path &path) {
        makeAncestors(path);
        add({how, path.string(), path.string()});
    };
    for (const fs::path file : systemFiles) {
        if (fs::exists(file, code))
            bind("--ro-bind", file);
    }
    for (const fs::path &device : policy.devices)
        bind("--dev-bind", device);
    for (const fs::path &path : policy.readOnly) {
        if (*path.relative_path().begin() == "usr")
            continue; // shown already, and read-only: no folder can be made there
        if (fs::is_symlink(path, code) && !fs::is_directory(path, code)) {
            // A program finds its parts from where its link leads, so it stays one.
            makeAncestors(path);
            add({"--symlink", fs::read_symlink(path, code).string(), path.string()});
        } else {
            bind("--ro-bind", path);
        }
    }
    if (*launcher.relative_path().begin() != "usr")
        bind("--ro-bind", launcher);
    bind("--bind", policy.scratch);
    add({"--chdir", policy.scratch.string(), "--"});
    return arguments;
}

std::vector<std::string> childEnvironment(const SandboxPolicy &policy, Rung rung)
{
    const std::string scratch = policy.scratch.string();
    std::string devices;
    for (const fs::path &device : policy.devices)
        devices += (devices.empty() ? "" : ":") + device.string();
    std::vector<std::string> environment{
        "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + scratch,           "TMPDIR=" + scratch,
        "USER=heddle",        "LOGNAME=heddle", "HEDDLE_SCRATCH=" + scratch, "HEDDLE_DEVICES=" + devices};
    // A compiler asks by access(), which takes no capability into account, whether it may write there: relative to the
    // scratch folder, where it starts, it may, whatever lies above (torch.compile starts it in a folder of its own too).
    if (policy.needsCompiler)
        std::replace(environment.begin(), environment.end(), "TMPDIR=" + scratch, std::string("TMPDIR=."));
    for (const std::string &entry : policy.environment) {
        const std::string_view name = std::string_view(entry).substr(0, entry.find('=') + 1);
        std::erase_if(environment, [&](const std::string &old) { return old.starts_with(name); });
        environment.push_back(entry);
    }
    if (rung == Rung::None)
        environment.emplace_back("HEDDLE_UNSANDBOXED=1");
    return environment;
}

Result<void> checkPolicy(const SandboxPolicy &policy)
{
    std::error_code code;
    if (!policy.scratch.is_absolute() || !fs::is_directory(policy.scratch, code))
        return Error(Code::InvalidInput, "the sandbox needs an existing scratch folder with an absolute path",
                     policy.scratch.string());
    for (const std::vector<fs::path> *list : {&policy.readOnly, &policy.devices}) {
        for (const fs::path &path : *list) {
            if (!path.is_absolute() || path == "/" || !fs::exists(path, code))
                return Error(Code::InvalidInput, "a path of the sandbox must be absolute, below / and exist",
                             path.string());
        }
    }
    for (const std::string &entry : policy.environment) {
        if (entry.find('=') == std::string::npos || entry.front() == '=')
            return Error(Code::InvalidInput, "an environment entry must read NAME=value", entry);
        // They tell the inner walls what the outer ones allow.
        if (entry.starts_with("HEDDLE_DEVICES="))
            return Error(Code::InvalidInput, "HEDDLE_DEVICES is made from the policy's devices", entry);
        if (entry.starts_with("HEDDLE_UNSANDBOXED="))
            return Error(Code::InvalidInput, "HEDDLE_UNSANDBOXED is made from the rung", entry);
    }
    return {};
}

} // namespace heddle
