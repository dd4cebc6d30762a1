// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/Landlock.h"

#include "core/base/Fd.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace heddle {

namespace {

// The headers of Debian 12 know version 2; the numbers below are the kernel's own for later ones.
constexpr std::uint64_t truncateFile = 1ull << 14;
constexpr std::uint64_t deviceIoctl = 1ull << 15;
constexpr std::uint64_t netBindAndConnect = 3;
constexpr std::uint64_t scopeAbstractSockets = 1;
constexpr std::uint64_t scopeSignals = 2;

struct RulesetAttribute {
    std::uint64_t handledFiles;
    std::uint64_t handledNet;
    std::uint64_t scoped;
};

constexpr std::uint64_t readAccess =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

std::uint64_t allFileAccess(int abi)
{
    std::uint64_t access = (1ull << 13) - 1;
    if (abi >= 2)
        access |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3)
        access |= truncateFile;
    if (abi >= 5)
        access |= deviceIoctl;
    return access;
}

Error systemError(const char *what, const std::string &where = {})
{
    return Error(Code::Environment, std::string(what) + ": " + std::strerror(errno), where);
}

Result<void> allow(int ruleset, const std::string &path, std::uint64_t access)
{
    const Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!fd.isOpen()) {
        if (errno == ENOENT || errno == ENOTDIR || errno == EACCES)
            return {};
        return systemError("cannot open a path of the sandbox", path);
    }
    struct stat info{};
    if (::fstat(fd.value(), &info) != 0)
        return systemError("cannot look at a path of the sandbox", path);
    if (!S_ISDIR(info.st_mode))
        access &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE
            | truncateFile | deviceIoctl;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = access;
    rule.parent_fd = fd.value();
    if (access != 0 && ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        return systemError("Landlock refuses a rule", path);
    return {};
}

} // namespace

int landlockAbi()
{
    const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : static_cast<int>(version);
}

Result<int> enterLandlock(const LandlockRules &rules)
{
    const int abi = landlockAbi();
    if (abi < 1)
        return Error(Code::Environment, "the kernel has no Landlock", {},
                     "use Linux 5.13 or later with Landlock on");
    const std::uint64_t handled = rules.confinesReads ? allFileAccess(abi) : allFileAccess(abi) & ~readAccess;
    RulesetAttribute attribute{handled, abi >= 4 ? netBindAndConnect : 0,
                               abi >= 6 && rules.scopesSignals ? scopeAbstractSockets | scopeSignals : 0};
    // Older kernels refuse a longer structure than they know unless its rest is zero, which it is then.
    const std::size_t size = abi >= 6 ? 24 : (abi >= 4 ? 16 : 8);
    const Fd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attribute, size, 0)));
    if (!ruleset.isOpen())
        return systemError("Landlock refuses the rules");
    if (rules.confinesReads) {
        for (const std::string &path : rules.readOnly)
            HEDDLE_CHECK_OK(allow(ruleset.value(), path, readAccess));
    }
    for (const std::string &path : rules.readWrite)
        HEDDLE_CHECK_OK(allow(ruleset.value(), path, handled));
    for (const std::string &path : rules.writeExisting)
        HEDDLE_CHECK_OK(
            allow(ruleset.value(), path, handled & (LANDLOCK_ACCESS_FS_WRITE_FILE | truncateFile)));
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return systemError("cannot give up gaining privileges");
    if (::syscall(SYS_landlock_restrict_self, ruleset.value(), 0) != 0)
        return systemError("Landlock refuses to confine");
    return std::min(abi, 7);
}

Result<void> holdOwnProcFolder(bool staysOverExec)
{
    const int fd = ::open("/proc/self", O_PATH | O_DIRECTORY | (staysOverExec ? 0 : O_CLOEXEC));
    return fd >= 0 ? Result<void>() : systemError("cannot hold the process's own folder", "/proc/self");
}

} // namespace heddle
