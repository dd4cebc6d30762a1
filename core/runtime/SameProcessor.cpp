// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/SameProcessor.h"

#include <charconv>
#include <fstream>
#include <optional>
#include <string>

namespace heddle {

namespace {

// The field `processor` of proc(5)'s stat; the second, the name in parentheses, may itself hold spaces.
constexpr int processorField = 39;

std::optional<int> lastProcessorOf(pid_t pid)
{
    const std::string number = std::to_string(pid);
    std::ifstream file("/proc/" + number + "/task/" + number + "/stat");
    std::string text;
    std::getline(file, text);
    std::size_t at = text.rfind(')');
    for (int field = 2; field < processorField && at != std::string::npos; ++field)
        at = text.find(' ', at + 1);
    if (at == std::string::npos)
        return std::nullopt;
    int processor = -1;
    const auto [end, code] = std::from_chars(text.data() + at + 1, text.data() + text.size(), processor);
    if (code != std::errc() || processor < 0 || processor >= CPU_SETSIZE)
        return std::nullopt;
    return processor;
}

} // namespace

SameProcessor::SameProcessor(pid_t pid)
{
    const std::optional<int> processor = lastProcessorOf(pid);
    if (!processor || ::sched_getaffinity(0, sizeof m_before, &m_before) != 0
        || !CPU_ISSET(static_cast<std::size_t>(*processor), &m_before))
        return;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(*processor), &only);
    m_isBound = ::sched_setaffinity(0, sizeof only, &only) == 0;
}

SameProcessor::~SameProcessor()
{
    if (m_isBound)
        (void)::sched_setaffinity(0, sizeof m_before, &m_before);
}

} // namespace heddle
