// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelText.h"

#include <algorithm>
#include <limits>

namespace heddle {

namespace {

/// Rows shorter than this are folded as fast by one vector register.
constexpr std::int64_t shortestLaneFold = 128;

/// The fold of heddle_cpu.h for a reduction; nothing where it has none.
std::string laneFold(const KernelReduction &reduction)
{
    if (reduction.dtype == Dtype::Float64 && reduction.op == "sum")
        return "heddle::WideSumLanes";
    if (reduction.dtype != Dtype::Float32 || reduction.op == "prod")
        return {};
    if (reduction.op == "sum")
        return "heddle::SumLanes";
    return reduction.op == "min" ? "heddle::MinLanes" : "heddle::MaxLanes";
}

} // namespace

/// Whether a traversal keeps as many partial results as hide the latency of its operation: one register
/// for each fold would wait for itself at every step.
bool KernelWriter::foldsInLanes(int space, const std::vector<const KernelReduction *> &folds) const
{
    const std::vector<int> &axes = m_kernel.spaces[static_cast<std::size_t>(space)];
    return !folds.empty() && !hasLanes() && !axes.empty() && m_kernel.extent(axes.back()) >= shortestLaneFold
        && std::none_of(folds.begin(), folds.end(),
                        [](const KernelReduction *reduction) { return laneFold(*reduction).empty(); });
}

void KernelWriter::declareFoldLanes(const std::vector<const KernelReduction *> &folds)
{
    for (const KernelReduction *reduction : folds) {
        const std::string &name = accumulator(*reduction);
        m_out.line(laneFold(*reduction) + " " + name + "_lanes;");
        if (keepsNaN(*reduction))
            m_out.line("heddle::NaNLanes " + name + "_nan_lanes;");
    }
}

void KernelWriter::combineFoldLanes(const std::vector<const KernelReduction *> &folds,
                                    const std::string &ending)
{
    for (const KernelReduction *reduction : folds) {
        const std::string &name = accumulator(*reduction);
        const std::string into = name + ending;
        if (isSum(*reduction)) {
            m_out.line(into + " += " + name + "_lanes.total();");
            continue;
        }
        const std::string function = reduction->op == "min" ? "heddle::min" : "heddle::max";
        m_out.line(into + " = " + function + "(" + into + ", " + name + "_lanes.total());");
        if (keepsNaN(*reduction))
            m_out.line(into + "_nan |= " + name + "_nan_lanes.any();");
    }
}

std::string KernelWriter::accumulatorType(const KernelReduction &reduction) const
{
    if (reduction.dtype == Dtype::Bool)
        return "int32_t";
    if (!isSum(reduction))
        return cppType(reduction.dtype);
    if (!isFloating(reduction.dtype))
        return "int64_t";
    // Sums are kept in double, which costs little beside the memory; short columns of lanes in float do
    // not lose more than eager's own sums.
    const bool isShort = m_kernel.count(m_kernel.spaces[static_cast<std::size_t>(reduction.space)]) <= 64;
    return hasLanes() && isShort && reduction.dtype == Dtype::Float32 ? "float" : "double";
}

std::string KernelWriter::identity(const KernelReduction &reduction) const
{
    const bool isMax = reduction.op.starts_with("max");
    if (isSum(reduction))
        return reduction.op == "prod" ? "1" : "0";
    if (reduction.dtype == Dtype::Bool)
        return isMax ? "0" : "1";
    if (isFloating(reduction.dtype)) {
        const double infinity = std::numeric_limits<double>::infinity();
        return cppLiteral(reduction.dtype, isMax ? -infinity : infinity, 0);
    }
    switch (reduction.dtype) {
    case Dtype::Int32: return isMax ? "INT32_MIN" : "INT32_MAX";
    case Dtype::Int16: return isMax ? "INT16_MIN" : "INT16_MAX";
    case Dtype::Int8: return isMax ? "INT8_MIN" : "INT8_MAX";
    case Dtype::UInt8: return isMax ? "0" : "UINT8_MAX";
    default: return isMax ? "INT64_MIN" : "INT64_MAX";
    }
}

std::string KernelWriter::clause(const KernelReduction &reduction) const
{
    if (isSum(reduction))
        return reduction.op == "sum" ? "+" : "*";
    const bool isMax = reduction.op.starts_with("max");
    if (reduction.dtype == Dtype::Bool)
        return isMax ? "|" : "&";
    return isMax ? "max" : "min";
}

std::string KernelWriter::fold(const KernelReduction &reduction, const std::string &into,
                               const std::string &value) const
{
    const std::string type = accumulatorType(reduction);
    const std::string given = "static_cast<" + type + ">(" + value + ")";
    if (isSum(reduction))
        return into + (reduction.op == "sum" ? " += " : " *= ") + given + ";";
    const bool isMax = reduction.op.starts_with("max");
    if (reduction.dtype == Dtype::Bool)
        return into + (isMax ? " |= " : " &= ") + given + ";";
    const std::string isBeyond = into + (isMax ? " < " : " > ") + value;
    if (keepsNaN(reduction) && hasLanes())
        return into + " = (" + value + " != " + value + " || " + isBeyond + ") ? " + value + " : " + into
            + ";";
    return into + " = " + isBeyond + " ? " + value + " : " + into + ";";
}

void KernelWriter::declareAccumulators(const std::vector<const KernelReduction *> &folds,
                                       const std::string &ending)
{
    for (const KernelReduction *reduction : folds) {
        const std::string name = accumulator(*reduction) + ending;
        if (!hasLanes()) {
            m_out.line(accumulatorType(*reduction) + " " + name + " = " + identity(*reduction) + ";");
            if (keepsNaN(*reduction))
                m_out.line("int32_t " + name + "_nan = 0;");
            continue;
        }
        m_out.line("alignas(64) " + accumulatorType(*reduction) + " " + name + "[TILE" + suffix() + "];");
        m_out.line("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes()
                   + "; ++" + m_names.lane() + ")");
        m_out.line("    " + name + "[" + m_names.lane() + "] = " + identity(*reduction) + ";");
    }
}

void KernelWriter::combineParts(const std::vector<const KernelReduction *> &folds)
{
    if (folds.empty())
        return;
    m_out.pragma("omp critical");
    m_out.open("");
    for (const KernelReduction *reduction : folds) {
        const std::string &name = accumulator(*reduction);
        if (!hasLanes()) {
            m_out.line(fold(*reduction, name, name + "_part"));
            if (keepsNaN(*reduction))
                m_out.line(name + "_nan |= " + name + "_part_nan;");
            continue;
        }
        const std::string at = "[" + m_names.lane() + "]";
        m_out.line("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes()
                   + "; ++" + m_names.lane() + ")");
        m_out.line("    " + fold(*reduction, name + at, name + "_part" + at));
    }
    m_out.close();
}

void KernelWriter::finishTotals(const std::vector<const KernelReduction *> &folds)
{
    if (hasLanes())
        return;
    for (std::size_t id = 0; id < m_kernel.expressions.size(); ++id) {
        const KernelExpression &each = m_kernel.expressions[id];
        if (each.kind != Kind::Total)
            continue;
        const KernelReduction &reduction = m_kernel.reductions[static_cast<std::size_t>(each.reduction)];
        if (std::find(folds.begin(), folds.end(), &reduction) == folds.end())
            continue;
        const std::string name = m_names.local("total");
        const std::string from = accumulator(reduction);
        std::string text = "static_cast<" + cppType(each.dtype) + ">(" + from + ")";
        if (keepsNaN(reduction))
            text = from + "_nan ? " + cppLiteral(each.dtype, std::numeric_limits<double>::quiet_NaN(), 0)
                + " : " + from;
        m_out.line("const " + cppType(each.dtype) + " " + name + " = " + text + ";");
        m_outerValues[static_cast<int>(id)] = name;
    }
}

} // namespace heddle
