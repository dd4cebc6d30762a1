// SPDX-License-Identifier: Apache-2.0
#include "core/session/ProcessIdentity.h"

#include "core/base/File.h"

#include <unistd.h>

#include <optional>
#include <sstream>

namespace heddle {

namespace {

struct ProcessStat {
    std::string program;
    char state = '?';
    std::int64_t startTime = 0;
};

std::optional<ProcessStat> readStat(std::int64_t pid)
{
    const auto text = readFile("/proc/" + std::to_string(pid) + "/stat", 1 << 16);
    if (!text)
        return std::nullopt;
    // The name is in parentheses and may hold spaces and parentheses itself.
    const std::size_t open = text->find('(');
    const std::size_t close = text->rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open)
        return std::nullopt;
    ProcessStat stat;
    stat.program = text->substr(open + 1, close - open - 1);
    std::istringstream fields(text->substr(close + 1));
    fields >> stat.state;
    std::string skipped;
    for (int field = 4; field < 22; ++field)
        fields >> skipped;
    fields >> stat.startTime;
    if (!fields)
        return std::nullopt;
    return stat;
}

std::optional<std::string> readBootId()
{
    auto text = readFile("/proc/sys/kernel/random/boot_id", 1 << 10);
    if (!text)
        return std::nullopt;
    while (!text->empty() && text->back() == '\n')
        text->pop_back();
    return *text;
}

} // namespace

Result<ProcessIdentity> ProcessIdentity::self()
{
    ProcessIdentity identity;
    identity.pid = ::getpid();
    const auto stat = readStat(identity.pid);
    const auto boot = readBootId();
    if (!stat || !boot)
        return Error(Code::Environment, "cannot read this process's start time", "/proc/self/stat",
                     "mount /proc");
    identity.startTime = stat->startTime;
    identity.bootId = *boot;
    identity.program = stat->program;
    return identity;
}

bool ProcessIdentity::isAlive() const
{
    if (readBootId() != bootId)
        return false;
    const auto stat = readStat(pid);
    return stat && stat->startTime == startTime && stat->state != 'Z' && stat->state != 'X';
}

} // namespace heddle
