// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// What a child is for; decides the system calls that it may make.
enum class Role {
    Oracle,    ///< may start processes (torch.compile); no network
    Candidate, ///< zygote of runners, or executor: after heddle_sandbox_enter no new process either
    Compiler,  ///< may start processes; sees include folders only
};

/// "oracle", "candidate" or "compiler".
std::string_view roleName(Role role);

/// What a child sees and may use. Paths are the same inside and outside. All else is hidden: the home folder,
/// the network, other processes, all of /tmp. /usr, its links, the loader's cache, /proc (own) and a minimal /dev are always there.
struct SandboxPolicy {
    Role role = Role::Candidate;
    std::vector<std::filesystem::path>
        readOnly; ///< files and folders, with all below; missing ones are an error
    std::vector<std::filesystem::path> devices; ///< device nodes opened for reading and writing (GPU)
    bool isForkedBeforeDevices = false;         ///< a zygote: what it forks uses the devices (see README.md)
    std::filesystem::path scratch; ///< the only writable folder; must exist; TMPDIR and HOME point there
    std::uint64_t memoryBytes = 0; ///< RLIMIT_DATA and the resident-size watch; 0: no limit
    std::uint64_t fileBytes = 256ull << 20; ///< largest file that it may write
    std::uint32_t openFiles = 512;
    std::uint32_t processes = 64; ///< processes and threads of the whole sandbox
    bool needsCompiler = false;   ///< false hides the host's gcc (bubblewrap rung)
    std::vector<std::string>
        environment; ///< "NAME=value"; nothing is inherited. PATH, LC_ALL, HOME, TMPDIR are set for you
};

/// The folders that a Python interpreter needs: its prefix and base prefix (venv, pyenv), found from pyvenv.cfg and links.
std::vector<std::filesystem::path> pythonFolders(const std::filesystem::path &interpreter);

} // namespace heddle
