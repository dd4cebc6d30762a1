// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/Quiet.h"

#include "core/base/File.h"

#include <sys/times.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace heddle {

namespace {

constexpr double foreignLimit = 0.10;
constexpr double stealLimit = 0.02;

std::string percentText(double share)
{
    const int tenths = static_cast<int>(share * 1000.0 + 0.5);
    return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " %";
}

} // namespace

Result<CpuCounters> readCpuCounters(const std::string &statPath)
{
    auto text = readFile(statPath, 1u << 20);
    if (!text)
        return Error(Code::Environment, "the processor's counters cannot be read", statPath, "mount /proc");
    std::istringstream line(text->substr(0, text->find('\n')));
    std::string word;
    line >> word;
    // user nice system idle iowait irq softirq steal: proc(5).
    std::array<std::uint64_t, 8> values{};
    for (std::uint64_t &value : values)
        line >> value;
    if (word != "cpu" || !line)
        return Error(Code::Protocol, "the first line is not that of all processors", statPath);
    CpuCounters counters;
    counters.busy = values[0] + values[1] + values[2] + values[5] + values[6];
    counters.idle = values[3] + values[4];
    counters.steal = values[7];
    tms own{};
    ::times(&own);
    counters.processTicks =
        static_cast<std::uint64_t>(own.tms_utime + own.tms_stime + own.tms_cutime + own.tms_cstime);
    return counters;
}

QuietReport judgeQuiet(const CpuCounters &before, const CpuCounters &after, double loadAverage)
{
    QuietReport report;
    report.loadAverage = loadAverage;
    const auto delta = [](std::uint64_t from, std::uint64_t to) {
        return to > from ? static_cast<double>(to - from) : 0.0;
    };
    const double busy = delta(before.busy, after.busy);
    const double steal = delta(before.steal, after.steal);
    const double all = busy + steal + delta(before.idle, after.idle);
    if (all > 0.0) {
        report.foreignShare = std::max(0.0, busy - delta(before.processTicks, after.processTicks)) / all;
        report.stealShare = steal / all;
    }
    report.isQuiet = report.foreignShare <= foreignLimit && report.stealShare <= stealLimit;
    report.message = std::string(report.isQuiet ? "quiet" : "not quiet") + ": others use "
        + percentText(report.foreignShare) + " of the processors, the hypervisor takes "
        + percentText(report.stealShare);
    return report;
}

Result<QuietReport> measureQuiet(std::chrono::milliseconds window)
{
    HEDDLE_TRY(const CpuCounters before, readCpuCounters());
    std::this_thread::sleep_for(window);
    HEDDLE_TRY(const CpuCounters after, readCpuCounters());
    double load = 0.0;
    if (::getloadavg(&load, 1) != 1)
        load = 0.0;
    return judgeQuiet(before, after, load);
}

Json QuietReport::toJson() const
{
    return {{"quiet", isQuiet},
            {"foreign_share", foreignShare},
            {"steal_share", stealShare},
            {"load_average", loadAverage},
            {"message", message}};
}

} // namespace heddle
