// SPDX-License-Identifier: Apache-2.0
#include "core/profile/MetricSets.h"

#include <utility>

namespace heddle {

namespace {

using Names = std::vector<std::string>;

/// Bytes at each level of memory, and the time.
const Names bytes = {"dram__bytes.sum", "lts__t_bytes.sum", "l1tex__t_bytes.sum", "gpu__time_duration.sum",
                     "sm__cycles_elapsed.avg"};

/// Instructions of the arithmetic pipes, by thread and not counting those that were predicated off.
Names arithmetic(const std::string &letter)
{
    Names names;
    for (const char *operation : {"add", "mul", "fma"})
        names.push_back("smsp__sass_thread_inst_executed_op_" + letter + operation + "_pred_on.sum");
    return names;
}

Names joined(std::initializer_list<Names> lists)
{
    Names all;
    for (const Names &list : lists)
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

/// Operations of the tensor cores by type of their operands, where the chip counts operations, else their instructions.
Names tensorOperations(const std::set<std::string> &known)
{
    Names names;
    for (const char *types : {"bf16_dst_fp32", "fp16_dst_fp16", "fp16_dst_fp32", "fp16", "tf32_dst_fp32",
                              "fp8_dst_fp16", "fp8_dst_fp32", "fp8", "int8", "fp64"})
        if (const std::string name = std::string("sm__ops_path_tensor_src_") + types; known.count(name) != 0)
            names.push_back(name + ".sum");
    return names.empty() ? Names{"sm__inst_executed_pipe_tensor.sum"} : names;
}

/// Why warps waited: every reason that the chip tells.
Names stalls(const std::set<std::string> &known)
{
    Names names;
    for (const std::string &name : known)
        if (name.starts_with("smsp__average_warps_issue_stalled_") && name.ends_with("_per_issue_active"))
            names.push_back(name + ".ratio");
    return names;
}

std::string baseOf(const std::string &metric) { return metric.substr(0, metric.find('.')); }

} // namespace

std::optional<std::string> chipOf(int capability)
{
    static const std::vector<std::pair<int, const char *>> chips = {
        {75, "TU102"}, {80, "GA100"}, {86, "GA102"},  {87, "GA10B"},
        {89, "AD102"}, {90, "GH100"}, {100, "GB100"}, {120, "GB202"}};
    for (const auto &[number, chip] : chips)
        if (number == capability)
            return chip;
    return std::nullopt;
}

Result<std::vector<MetricSet>> metricSets(const CuptiHost &host, const std::string &chip)
{
    HEDDLE_TRY(const std::set<std::string> known, host.metrics(chip));
    const Names tensor{"sm__inst_executed_pipe_tensor.sum"};
    const std::vector<std::pair<MetricSet, Names>> wanted = {
        {{"bytes", "traffic of DRAM, L2 and L1, and the time", {}, {}, {}}, bytes},
        {{"roofline", "traffic, FP32 and tensor instructions", {}, {}, {}},
         joined({bytes, arithmetic("f"), tensor})},
        {{"full roofline", "traffic, FP16, FP32 and FP64, tensor operations by type", {}, {}, {}},
         joined({bytes, arithmetic("h"), arithmetic("f"), arithmetic("d"), tensorOperations(known)})},
        {{"stalls", "why warps waited", {}, {}, {}}, stalls(known)},
        {{"speed of light", "share of the peak of compute and memory", {}, {}, {}},
         {"sm__throughput.avg.pct_of_peak_sustained_elapsed",
          "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"}},
    };
    std::vector<MetricSet> sets;
    for (const auto &[empty, names] : wanted) {
        MetricSet set = empty;
        // One that the chip lacks would fail them all.
        for (const std::string &name : names)
            (known.count(baseOf(name)) != 0 ? set.metrics : set.missing).push_back(name);
        if (!set.metrics.empty())
            if (const auto passes = host.passes(chip, set.metrics))
                set.passes = *passes;
        sets.push_back(std::move(set));
    }
    return sets;
}

Json toJson(const CuptiHost &host, const std::string &chip, const std::vector<MetricSet> &sets)
{
    Json list = Json::array();
    for (const MetricSet &set : sets)
        list.push_back({{"name", set.name},
                        {"purpose", set.purpose},
                        {"metrics", set.metrics},
                        {"missing", set.missing},
                        {"passes", set.passes ? Json(*set.passes) : Json()}});
    return {
        {"chip", chip}, {"library", host.library().string()}, {"version", host.version()}, {"sets", list}};
}

} // namespace heddle
