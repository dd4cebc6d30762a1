// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/Enter.h"

#include "core/json/Json.h"
#include "core/sandbox/Landlock.h"
#include "core/sandbox/Seccomp.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

namespace {

using namespace heddle;

/// Gives up every capability (the Landlock rung may have kept one for reading; see launch/main.cpp).
Result<void> dropCapabilities()
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (::syscall(SYS_capset, &header, none) != 0)
        return Error(Code::Environment, std::string("cannot drop capabilities: ") + std::strerror(errno));
    return {};
}

Result<Json> enter(const std::string &role)
{
    const bool isCandidate = role == "runner" || role == "executor";
    if (!isCandidate && role != "oracle")
        return Error(Code::InvalidInput, "the role must be oracle, runner or executor", role);
    const rlimit noCore{0, 0};
    if (::setrlimit(RLIMIT_CORE, &noCore) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
        return Error(Code::Environment, std::string("cannot set a limit: ") + std::strerror(errno));
    LandlockRules rules;
    rules.confinesReads = false;
    if (const char *scratch = std::getenv("HEDDLE_SCRATCH"); scratch != nullptr)
        rules.readWrite.emplace_back(scratch);
    for (const char *device : {"/dev/null", "/dev/zero", "/dev/full"})
        rules.readWrite.emplace_back(device);
    // Set by the worker (Orders.cpp). Who could forge it gains nothing: the outer wall stands whatever this one allows.
    const char *devices = std::getenv("HEDDLE_DEVICES");
    const bool hasDevices = devices != nullptr && *devices != '\0';
    if (hasDevices) {
        const std::string list(devices);
        for (std::size_t start = 0; start < list.size();) {
            const std::size_t end = std::min(list.find(':', start), list.size());
            rules.readWrite.push_back(list.substr(start, end - start));
            start = end + 1;
        }
        HEDDLE_CHECK_OK(holdOwnProcFolder(false));
        rules.writeExisting.emplace_back("/proc/self");
    }
    if (!isCandidate) {
        for (const char *folder :
             {"/tmp", "/dev/shm"}) // private ones: the outer wall says whether they may be written
            rules.readWrite.emplace_back(folder);
    }
    // Set by the worker where no rung holds and the person asked to go on: what can be raised is raised all the same.
    const char *chosen = std::getenv("HEDDLE_UNSANDBOXED");
    const bool mayLack = chosen != nullptr && std::strcmp(chosen, "1") == 0;
    const auto landlock = enterLandlock(rules);
    if (!landlock && !mayLack)
        return landlock.error();
    // Only an executor has all its files by now; a Python child still imports modules.
    if (role == "executor")
        HEDDLE_CHECK_OK(dropCapabilities());
    const auto seccomp = enterSeccomp(SeccompRules{isCandidate, false, hasDevices});
    if (!seccomp && !mayLack)
        return seccomp.error();
    Json report{{"ok", true},
                {"role", role},
                {"landlock", landlock ? *landlock : 0},
                {"seccomp",
                 !seccomp          ? "none"
                     : isCandidate ? "candidate"
                                   : "base"}};
    if (mayLack)
        report["unsandboxed"] = true;
    return report;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int heddle_sandbox_enter(const char *role, char *report,
                                                                           int bytes)
{
    // Nothing may be thrown into C or Python.
    try {
        const auto result = enter(role != nullptr ? role : "");
        const Json answer = result ? result.value() : Json{{"ok", false}, {"error", result.error().text()}};
        if (report != nullptr && bytes > 0)
            std::snprintf(report, static_cast<std::size_t>(bytes), "%s", compactText(answer).c_str());
        return result ? 0 : -1;
    } catch (const std::exception &exception) {
        if (report != nullptr && bytes > 0)
            std::snprintf(report, static_cast<std::size_t>(bytes),
                          "{\"ok\":false,\"error\":\"out of memory\"}");
        return -1;
    }
}
