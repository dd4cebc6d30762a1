// SPDX-License-Identifier: Apache-2.0
#include "core/plan/Dtype.h"

#include <array>

namespace heddle {

namespace {

struct DtypeRow {
    std::string_view name;
    std::int64_t bytes;
    std::string_view cpu;
    std::string_view cuda;
};

// In the order of the enumerators; docs/architecture/plan.md shows the same table.
constexpr std::array<DtypeRow, 10> rows = {{
    {"float32", 4, "float", "float"},
    {"float64", 8, "double", "double"},
    {"float16", 2, "heddle::float16", "__half"},
    {"bfloat16", 2, "heddle::bfloat16", "__nv_bfloat16"},
    {"int64", 8, "int64_t", "int64_t"},
    {"int32", 4, "int32_t", "int32_t"},
    {"int16", 2, "int16_t", "int16_t"},
    {"int8", 1, "int8_t", "int8_t"},
    {"uint8", 1, "uint8_t", "uint8_t"},
    {"bool", 1, "bool", "bool"},
}};

const DtypeRow &rowOf(Dtype dtype) { return rows[static_cast<std::size_t>(dtype)]; }

} // namespace

std::string_view dtypeName(Dtype dtype) { return rowOf(dtype).name; }

std::optional<Dtype> dtypeFromName(std::string_view name)
{
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].name == name)
            return static_cast<Dtype>(i);
    return std::nullopt;
}

std::int64_t dtypeBytes(Dtype dtype) { return rowOf(dtype).bytes; }

std::string_view dtypeCppName(Dtype dtype, PlanTarget target)
{
    return target == PlanTarget::Cpu ? rowOf(dtype).cpu : rowOf(dtype).cuda;
}

std::string_view targetName(PlanTarget target) { return target == PlanTarget::Cpu ? "cpu" : "cuda"; }

} // namespace heddle
