// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelText.h"

#include <algorithm>

namespace heddle {

namespace {

/// Elements of one block: its second reading comes from the first-level cache, and sums in float32 stay as fine as those of
/// other long rows (KernelLoops.cpp).
constexpr std::int64_t onlineBlock = 2048;
/// The shortest row that is worth it: below, a second pass over it reads from the caches.
constexpr std::int64_t shortestOnlineRow = 65536;

} // namespace

/// The maximum m of a stage and, of the next, a sum of e^(x - m) over the same row: both in one pass over memory (online
/// normaliser: Milakov and Gimelshein 2018, arXiv:1805.02867), here for blocks instead of single elements.
std::optional<KernelWriter::OnlinePair> KernelWriter::onlinePair(int stage) const
{
    if (hasLanes() || !m_schedule.kept.empty() || m_kernel.isPrecise)
        return std::nullopt;
    OnlinePair pair;
    for (const KernelReduction &reduction : m_kernel.reductions) {
        if (reduction.stage != stage && reduction.stage != stage + 1)
            continue;
        const KernelReduction *&place = reduction.stage == stage ? pair.peak : pair.sum;
        if (place != nullptr)
            return std::nullopt;
        place = &reduction;
    }
    const bool writes =
        std::any_of(m_kernel.stores.begin(), m_kernel.stores.end(), [stage](const KernelStore &store) {
            return store.space >= 0 && (store.stage == stage || store.stage == stage + 1);
        });
    if (writes || pair.peak == nullptr || pair.sum == nullptr || pair.peak->op != "max_quick"
        || pair.sum->op != "sum" || pair.peak->dtype != Dtype::Float32 || pair.sum->dtype != Dtype::Float32
        || pair.peak->space != pair.sum->space)
        return std::nullopt;
    const std::vector<int> &axes = m_kernel.spaces[static_cast<std::size_t>(pair.peak->space)];
    if (axes.size() != 1 || m_kernel.extent(axes.front()) < shortestOnlineRow)
        return std::nullopt;
    const KernelExpression &exponential = m_kernel.expression(pair.sum->operand);
    if (exponential.kind != Kind::Operation || (exponential.op != "exp" && exponential.op != "exp_flush"))
        return std::nullopt;
    const KernelExpression &shifted = m_kernel.expression(exponential.args.front());
    if (shifted.kind != Kind::Operation || shifted.op != "sub" || shifted.args[0] != pair.peak->operand)
        return std::nullopt;
    pair.total = shifted.args[1];
    const KernelExpression &total = m_kernel.expression(pair.total);
    if (total.kind != Kind::Total
        || &m_kernel.reductions[static_cast<std::size_t>(total.reduction)] != pair.peak)
        return std::nullopt;
    return pair;
}

/// One block: its maximum, what that makes of the sum so far, and the sum of its exponentials.
void KernelWriter::writeOnlineBlock(const OnlinePair &pair, const std::string &peak, const std::string &sum)
{
    const std::string &axis = m_names.axis(m_kernel.spaces[static_cast<std::size_t>(m_space)].front());
    const auto openLanes = [&](const char *type, const std::string &name) {
        m_out.line(std::string(type) + ' ' + name + ';');
        m_out.open("heddle::for_lanes(block, block_end, [&](int64_t " + axis + ", int64_t " + m_names.lane()
                   + ") HEDDLE_INLINE_BODY");
        m_scope.clear();
    };
    const std::string maxLanes = m_names.local("block_max_lanes");
    openLanes("heddle::MaxLanes", maxLanes);
    const std::string value = innerValue(pair.peak->operand);
    m_out.line(maxLanes + ".add(" + m_names.lane() + ", " + value + ");");
    m_out.close(");");
    m_out.line("const float block_max = " + maxLanes + ".total();");
    m_out.open("if (" + peak + " < block_max)");
    m_out.line(sum + " *= __builtin_exp(static_cast<double>(" + peak
               + ") - static_cast<double>(block_max));");
    m_out.line(peak + " = block_max;");
    m_out.close();
    // While all elements were -inf, any base will do: -inf - -inf would be NaN.
    const std::string base = m_names.local("base");
    m_out.line("const float " + base + " = " + peak + " == -heddle::infinity() ? 0.0f : " + peak + ";");
    m_outerValues[pair.total] = base;
    const std::string sumLanes = m_names.local("block_sum_lanes");
    openLanes("heddle::SumLanes", sumLanes);
    const std::string term = innerValue(pair.sum->operand);
    m_out.line(sumLanes + ".add(" + m_names.lane() + ", " + term + ");");
    m_out.close(");");
    m_out.line(sum + " += " + sumLanes + ".total();");
    m_outerValues.erase(pair.total);
    m_scope.clear();
}

void KernelWriter::writeOnline(const OnlinePair &pair, int stage)
{
    const std::vector<const KernelReduction *> folds{pair.peak, pair.sum};
    for (const KernelReduction *reduction : folds)
        m_accumulators[static_cast<int>(reduction - m_kernel.reductions.data())] =
            m_names.local(reduction == pair.peak ? "running_max" : "running_sum");
    prepareOuter({pair.peak->operand, pair.sum->operand});
    m_space = pair.peak->space;
    const std::string extent =
        std::to_string(m_kernel.extent(m_kernel.spaces[static_cast<std::size_t>(m_space)].front()));
    m_out.comment("Passes " + std::to_string(stage + 1) + " and " + std::to_string(stage + 2)
                  + " in one, a block at a time: max for " + operatorName(pair.peak->origin) + ", sum for "
                  + operatorName(pair.sum->origin) + ", rescaled where the maximum grows.");
    declareAccumulators(folds, "");
    const int depth = m_out.depth();
    const bool isShared = m_schedule.splitsStages;
    const std::string ending = isShared ? "_part" : "";
    const std::string peak = accumulator(*pair.peak) + ending;
    const std::string sum = accumulator(*pair.sum) + ending;
    if (isShared) {
        m_out.pragma("omp parallel");
        m_out.open("");
        declareAccumulators(folds, ending);
        m_out.pragma("omp for schedule(static) nowait");
    }
    const int region = m_out.depth();
    m_out.open("for (int64_t block = 0; block < " + extent + "; block += " + std::to_string(onlineBlock)
               + ")");
    m_out.line("const int64_t block_end = heddle::min<int64_t>(block + " + std::to_string(onlineBlock) + ", "
               + extent + ");");
    writeOnlineBlock(pair, peak, sum);
    closeTo(region);
    const std::string &wholePeak = accumulator(*pair.peak);
    const std::string &wholeSum = accumulator(*pair.sum);
    if (isShared) {
        const auto factor = [](const std::string &from, const std::string &to) {
            return "__builtin_exp(static_cast<double>(" + from + ") - static_cast<double>(" + to + "))";
        };
        m_out.pragma("omp critical");
        m_out.open("");
        m_out.open("if (" + wholePeak + " < " + peak + ")");
        m_out.line(wholeSum + " *= " + factor(wholePeak, peak) + ";");
        m_out.line(wholePeak + " = " + peak + ";");
        m_out.close();
        // A part of nothing but -inf has the sum 0, or NaN.
        m_out.line(wholeSum + " += " + peak + " == " + wholePeak + " || " + peak
                   + " == -heddle::infinity() ? " + sum + " : " + sum + " * " + factor(peak, wholePeak)
                   + ";");
    }
    closeTo(depth);
    m_out.line("if (" + wholePeak + " == -heddle::infinity())");
    m_out.line("    " + wholeSum + " = __builtin_nan(\"\"); // as -inf - -inf is");
    finishTotals(folds);
}

} // namespace heddle
