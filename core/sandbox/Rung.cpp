// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/Rung.h"

#include "core/base/File.h"
#include "core/sandbox/Landlock.h"
#include "core/sandbox/Spawner.h"

#include <unistd.h>

#include <cstdlib>

namespace heddle {

std::string_view rungName(Rung rung)
{
    switch (rung) {
    case Rung::Bubblewrap: return "bubblewrap";
    case Rung::Landlock: return "landlock";
    case Rung::None: return "none";
    }
    return "none";
}

namespace {

/// Starts /bin/true on the rung; an empty text means that it holds.
std::string trial(RungReport report)
{
    auto spawner = Spawner::create(std::move(report));
    if (!spawner)
        return spawner.error().message();
    auto scratch = TempFolder::create("heddle-probe-");
    if (!scratch)
        return scratch.error().message();
    SandboxPolicy policy;
    policy.role = Role::Compiler;
    policy.scratch = scratch->path();
    SpawnRequest request;
    request.policy = policy;
    request.argv = {"/bin/true"};
    auto child = spawner.value()->spawn(request);
    if (!child)
        return child.error().text();
    const auto status = child->waitFor(std::chrono::seconds(5));
    if (!status)
        return "a trial program did not end";
    return status->isSuccess() ? std::string() : "a trial program ended with " + status->text();
}

} // namespace

RungReport probeRung()
{
    RungReport report;
    report.landlockAbi = landlockAbi();
    const char *forced = std::getenv("HEDDLE_SANDBOX");
    if (forced != nullptr && std::string_view(forced) == "landlock") {
        report.reasons.push_back("bubblewrap: left out because HEDDLE_SANDBOX is landlock");
    } else {
        report.rung = Rung::Bubblewrap;
        std::string reason = trial(report);
        if (reason.empty())
            return report;
        report.reasons.push_back("bubblewrap: " + std::move(reason));
    }
    report.rung = Rung::Landlock;
    std::string reason;
    if (report.landlockAbi < 1)
        reason = "the kernel has no Landlock";
    else if (::geteuid() != 0 && report.landlockAbi < 6)
        reason = "an ordinary user needs Landlock 6 (Linux 6.12), which also scopes signals; this kernel has "
            + std::to_string(report.landlockAbi);
    else
        reason = trial(report);
    if (reason.empty())
        return report;
    report.reasons.push_back("landlock: " + std::move(reason));
    report.rung = Rung::None;
    return report;
}

} // namespace heddle
