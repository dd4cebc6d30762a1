// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/cuda/probe/Walls.h"

#include "core/base/Fd.h"
#include "core/base/File.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace heddle {

namespace {

void note(Json &rows, const std::string &attempt, bool isHeld, const std::string &detail)
{
    rows.push_back(Json{{"attempt", attempt}, {"held", isHeld}, {"detail", detail}});
}

/// The wall held when the call was refused; the detail is the error's text. A bad address is no refusal: the attempts do
/// not know where anything lies in another process.
void noteCall(Json &rows, const std::string &attempt, long result)
{
    const bool isRefused = result < 0 && errno != EFAULT;
    note(rows, attempt, isRefused, result < 0 ? std::strerror(errno) : "it worked");
}

/// CUDA's driver makes a Unix socket of its own, so that must work where there is a GPU; reaching somebody must not.
void tryUnixSockets(Json &rows, const std::string &listener)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, listener.c_str(), sizeof address.sun_path - 1);
    const auto *generic = reinterpret_cast<const sockaddr *>(&address);
    const Fd stream(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    noteCall(rows, "connect to a Unix socket outside", ::connect(stream.value(), generic, sizeof address));
    const Fd datagram(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    noteCall(rows, "open a socket: unix datagram", datagram.value());
    const Fd unnamed(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::listen(unnamed.value(), 1);
    const Fd accepted(::accept(unnamed.value(), nullptr, nullptr));
    // Asking is refused, not only answered with nobody.
    note(rows, "accept on a Unix socket", !accepted.isOpen() && errno == EPERM, std::strerror(errno));
}

void tryNetwork(Json &rows)
{
    for (const auto &[family, name] :
         {std::pair{AF_INET, "inet"}, {AF_INET6, "inet6"}, {AF_NETLINK, "netlink"}}) {
        const Fd socket(::socket(family, (family == AF_NETLINK ? SOCK_RAW : SOCK_STREAM) | SOCK_CLOEXEC, 0));
        noteCall(rows, std::string("open a socket: ") + name, socket.value());
    }
}

void tryFiles(Json &rows, const WallTargets &targets)
{
    for (const std::string &path : targets.secretFiles) {
        const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        noteCall(rows, "read " + path, file.value());
    }
    for (const std::string &folder : targets.closedFolders) {
        DIR *listing = ::opendir(folder.c_str());
        int entries = 0;
        if (listing != nullptr) {
            while (const dirent *entry = ::readdir(listing)) {
                // What lies on the way to something that is shown is no secret.
                const std::string path = folder + "/" + entry->d_name;
                const auto isOnTheWay = [&](const std::string &shown) {
                    return (shown + "/").starts_with(path + "/");
                };
                const bool isKnown = std::any_of(targets.visible.begin(), targets.visible.end(), isOnTheWay);
                entries += entry->d_name[0] == '.' || isKnown ? 0 : 1;
            }
            ::closedir(listing);
        }
        const std::string words =
            listing == nullptr ? std::strerror(errno) : std::to_string(entries) + " entries";
        note(rows, "list " + folder, entries == 0, words);
        const std::string path = folder + "/heddle-probe-was-here";
        const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        noteCall(rows, "write into " + folder, file.value());
        if (file.isOpen())
            ::unlink(path.c_str());
    }
    const std::string inside = targets.scratch + "/heddle-probe-control";
    const Fd control(::open(inside.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    note(rows, "control: write into the scratch folder", control.isOpen(),
         control.isOpen() ? "it worked" : std::strerror(errno));
    ::unlink(inside.c_str());
}

void tryProcesses(Json &rows, const WallTargets &targets)
{
    int seen = 0;
    int readable = 0;
    int writable = 0;
    bool hasMarker = false;
    std::error_code code;
    // Without a mount of its own, /proc counts as outside: this process has another number there.
    const std::string self = std::filesystem::read_symlink("/proc/self", code).string();
    for (std::filesystem::directory_iterator entry("/proc", code), end; !code && entry != end;
         entry.increment(code)) {
        const std::string name = entry->path().filename().string();
        if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })
            || name == self)
            continue;
        // The sandbox's own init is no stranger.
        if (const auto command = readFile(entry->path() / "comm", 64); command && *command == "bwrap\n")
            continue;
        ++seen;
        const Fd memory(::open((entry->path() / "mem").c_str(), O_RDONLY | O_CLOEXEC));
        readable += memory.isOpen() ? 1 : 0;
        const Fd setting(::open((entry->path() / "oom_score_adj").c_str(), O_WRONLY | O_CLOEXEC));
        writable += setting.isOpen() ? 1 : 0;
        const auto environment = readFile(entry->path() / "environ", 1u << 20);
        hasMarker = hasMarker || (environment && environment->find(targets.marker) != std::string::npos);
    }
    note(rows, "open another process's memory", readable == 0,
         std::to_string(seen) + " other processes in /proc, " + std::to_string(readable)
             + " with readable memory");
    note(rows, "open another process's settings for writing", writable == 0,
         std::to_string(writable) + " of them can be changed");
    note(rows, "find the oracle's environment", !hasMarker, hasMarker ? "its marker was read" : "not found");
    const pid_t pid = targets.processOutside;
    if (pid <= 1 || pid == ::getpid())
        return;
    char byte = 0;
    iovec local{&byte, 1};
    iovec remote{&byte, 1};
    noteCall(rows, "process_vm_readv of the oracle", ::process_vm_readv(pid, &local, 1, &remote, 1, 0));
    noteCall(rows, "signal the oracle", ::kill(pid, 0));
    const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    noteCall(rows, "hold the oracle by a pidfd", pidfd.value());
}

} // namespace

Json tryWalls(const WallTargets &targets)
{
    Json rows = Json::array();
    tryNetwork(rows);
    tryUnixSockets(rows, targets.listener);
    tryFiles(rows, targets);
    tryProcesses(rows, targets);
    return rows;
}

} // namespace heddle
