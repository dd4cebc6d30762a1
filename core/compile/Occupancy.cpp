// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Occupancy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace heddle {

namespace {

constexpr int kib = 1024;

std::int64_t ceilDivide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t roundUp(std::int64_t a, std::int64_t step) { return ceilDivide(a, step) * step; }

/// A limit that this launch goes beyond whatever else runs, as a sentence; empty where there is none.
std::string refusalOf(const MultiprocessorLimits &limits, const LaunchNeeds &needs,
                      std::int64_t warpRegisters)
{
    const std::int64_t warps = ceilDivide(needs.threads, MultiprocessorLimits::warpSize);
    if (needs.threads > MultiprocessorLimits::threadsPerBlock)
        return "a block has at most " + std::to_string(MultiprocessorLimits::threadsPerBlock)
            + " threads, this one " + std::to_string(needs.threads);
    if (needs.sharedBytes > limits.sharedPerBlock())
        return "a block has at most " + std::to_string(limits.sharedPerBlock())
            + " bytes of shared memory, this one " + std::to_string(needs.sharedBytes);
    if (needs.registers > MultiprocessorLimits::registersPerThread)
        return "a thread has at most " + std::to_string(MultiprocessorLimits::registersPerThread)
            + " registers";
    // The hardware checks as if each partition of the register file held the same number of the block's warps.
    if (warpRegisters * roundUp(warps, MultiprocessorLimits::partitions) > MultiprocessorLimits::registers)
        return "its " + std::to_string(needs.threads) + " threads of " + std::to_string(needs.registers)
            + " registers are more than the " + std::to_string(MultiprocessorLimits::registers)
            + " of a block";
    return {};
}

} // namespace

Result<CudaArchitecture> parseArchitecture(std::string_view text)
{
    CudaArchitecture architecture;
    const bool isNamed = text.starts_with("sm_");
    const std::string_view rest = isNamed ? text.substr(3) : std::string_view();
    const char *end = rest.data() + rest.size();
    const auto [stop, code] = std::from_chars(rest.data(), end, architecture.number);
    const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
    if (!isNamed || code != std::errc() || architecture.number < 10 || architecture.number > 999
        || (suffix != "" && suffix != "a" && suffix != "f"))
        return Error(Code::InvalidInput, "this is no architecture of a GPU", std::string(text.substr(0, 80)),
                     "write sm_ and the compute capability without its point, such as sm_90");
    architecture.suffix = std::string(suffix);
    return architecture;
}

const std::vector<MultiprocessorLimits> &allMultiprocessorLimits()
{
    // capability, threads, blocks, shared, granularity, reserved, barriers
    static const std::vector<MultiprocessorLimits> rows = {
        {75, 1024, 16, 64 * kib, 256, 0, 0},          {80, 2048, 32, 164 * kib, 128, 1 * kib, 0},
        {86, 1536, 16, 100 * kib, 128, 1 * kib, 0},   {87, 1536, 16, 164 * kib, 128, 1 * kib, 0},
        {88, 1536, 16, 100 * kib, 128, 1 * kib, 0},   {89, 1536, 24, 100 * kib, 128, 1 * kib, 0},
        {90, 2048, 32, 228 * kib, 128, 1 * kib, 64},  {100, 2048, 32, 228 * kib, 128, 1 * kib, 64},
        {103, 2048, 32, 228 * kib, 128, 1 * kib, 64}, {110, 1536, 24, 228 * kib, 128, 1 * kib, 24},
        {120, 1536, 24, 100 * kib, 128, 1 * kib, 24}, {121, 1536, 24, 100 * kib, 128, 1 * kib, 24},
    };
    return rows;
}

std::optional<MultiprocessorLimits> multiprocessorLimits(int capability)
{
    for (const MultiprocessorLimits &row : allMultiprocessorLimits())
        if (row.capability == capability)
            return row;
    return std::nullopt;
}

Occupancy occupancyOf(const MultiprocessorLimits &limits, const LaunchNeeds &needs)
{
    Occupancy out;
    const std::int64_t warps = ceilDivide(needs.threads, MultiprocessorLimits::warpSize);
    const std::int64_t warpRegisters = roundUp(std::int64_t{needs.registers} * MultiprocessorLimits::warpSize,
                                               MultiprocessorLimits::registerGranularity);
    out.refusal = refusalOf(limits, needs, warpRegisters);
    if (!out.refusal.empty())
        return out;
    constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
    struct Limit {
        const char *name;
        std::int64_t blocks;
    };
    // Registers are given to whole warps, of one partition each.
    const std::int64_t registerWarps = warpRegisters == 0 ? unlimited
                                                          : MultiprocessorLimits::registers
            / MultiprocessorLimits::partitions / warpRegisters * MultiprocessorLimits::partitions;
    const std::int64_t shared =
        roundUp(needs.sharedBytes + limits.reservedSharedBytes, limits.sharedGranularity);
    const std::array<Limit, 5> all = {{
        {"threads", limits.warps() / warps},
        {"registers", registerWarps == unlimited ? unlimited : registerWarps / warps},
        {"shared memory", shared == 0 ? unlimited : limits.sharedBytes / shared},
        {"blocks", limits.blocks},
        {"barriers", limits.barriers == 0 ? unlimited : limits.barriers / std::max(1, needs.barriers)},
    }};
    const auto least = std::min_element(all.begin(), all.end(),
                                        [](const Limit &a, const Limit &b) { return a.blocks < b.blocks; });
    out.blocks = static_cast<int>(least->blocks);
    out.warps = static_cast<int>(out.blocks * warps);
    out.share = static_cast<double>(out.warps) / limits.warps();
    for (const Limit &limit : all)
        if (limit.blocks == least->blocks)
            out.limiters.emplace_back(limit.name);
    return out;
}

} // namespace heddle
