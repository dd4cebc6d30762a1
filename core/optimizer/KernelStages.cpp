// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelText.h"

#include <algorithm>

namespace heddle {

void KernelWriter::frontier(int id, std::vector<int> &into) const
{
    const KernelExpression &expression = m_kernel.expression(id);
    if (m_keptReady.contains(id))
        return;
    if (expression.space == KernelExpression::outerOnly) {
        if (std::find(into.begin(), into.end(), id) == into.end())
            into.push_back(id);
        return;
    }
    for (const int arg : expression.args)
        frontier(arg, into);
}

/// Computes what the inner loops need from the outer level, once for each outer point.
void KernelWriter::prepareOuter(const std::vector<int> &needed)
{
    std::vector<int> scalars;
    for (const int id : needed)
        frontier(id, scalars);
    std::vector<int> forLanes;
    for (const int id : scalars) {
        if (!dependsOnLane(id))
            outerValue(id);
        else if (m_kernel.expression(id).kind == Kind::Operation && !m_laneValues.contains(id))
            forLanes.push_back(id);
    }
    if (forLanes.empty())
        return;
    std::vector<std::pair<int, std::string>> arrays;
    for (const int id : forLanes) {
        const std::string name = m_names.local(m_kernel.expression(id).op + "_of_lane");
        m_out.line("alignas(64) " + cppType(m_kernel.expression(id).dtype) + " " + name + "[TILE" + suffix()
                   + "];");
        arrays.emplace_back(id, name);
    }
    // What does not vary over lanes is computed outside their loop.
    m_isInLaneLoop = true;
    m_out.pragma("omp simd");
    m_out.open("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes() + "; ++"
               + m_names.lane() + ")");
    m_scope.clear();
    for (const auto &[id, name] : arrays) {
        const std::string value = outerValue(id);
        m_out.line(name + "[" + m_names.lane() + "] = " + value + ";");
    }
    m_out.close();
    m_scope.clear();
    m_isInLaneLoop = false;
    for (const auto &[id, name] : arrays)
        m_laneValues[id] = name;
}

/// Folds the value of one point into each accumulator of a traversal.
void KernelWriter::writeFolds(const std::vector<const KernelReduction *> &folds, bool isShared)
{
    for (const KernelReduction *reduction : folds) {
        const std::string value = innerValue(reduction->operand);
        if (m_foldsInLanes) {
            const std::string add = ".add(" + m_names.lane() + ", " + value + ");";
            m_out.line(accumulator(*reduction) + "_lanes" + add);
            if (keepsNaN(*reduction))
                m_out.line(accumulator(*reduction) + "_nan_lanes" + add);
            continue;
        }
        const std::string at = hasLanes() ? "[" + m_names.lane() + "]" : "";
        const std::string into = accumulator(*reduction) + (isShared ? "_part" : "") + at;
        m_out.line(fold(*reduction, into, value));
        // PyTorch's maxima are NaN where an element is; noting that apart keeps the vector loop short.
        if (keepsNaN(*reduction) && !hasLanes())
            m_out.line(into + "_nan |= " + value + " != " + value + ";");
    }
}

void KernelWriter::writeTraversal(int stage, int space)
{
    std::vector<const KernelReduction *> folds;
    std::vector<int> needed;
    std::string purpose;
    for (std::size_t i = 0; i < m_kernel.reductions.size(); ++i) {
        const KernelReduction &reduction = m_kernel.reductions[i];
        if (reduction.stage != stage || reduction.space != space)
            continue;
        const std::string word = reduction.op == "max_quick" ? "max" : reduction.op;
        m_accumulators[static_cast<int>(i)] = m_names.local("running_" + word);
        folds.push_back(&reduction);
        needed.push_back(reduction.operand);
        purpose += (purpose.empty() ? "" : ", ") + word + " for " + operatorName(reduction.origin);
    }
    std::vector<const KernelStore *> stores;
    for (const KernelStore &store : m_kernel.stores) {
        if (store.stage != stage || store.space != space)
            continue;
        stores.push_back(&store);
        needed.push_back(store.value);
        purpose += (purpose.empty() ? "" : ", ") + ("write " + m_names.parameter(store.buffer));
    }
    if (folds.empty() && stores.empty())
        return;
    prepareOuter(needed);
    if (m_kernel.stages > 1 || !folds.empty())
        m_out.comment("Pass " + std::to_string(stage + 1) + ": " + purpose + ".");
    declareAccumulators(folds, "");
    const int depth = m_out.depth();
    const bool isShared = m_schedule.splitsStages;
    if (isShared) {
        m_out.pragma("omp parallel");
        m_out.open("");
        declareAccumulators(folds, "_part");
    }
    const int region = m_out.depth();
    m_space = space;
    m_scope.clear();
    m_isInLaneLoop = hasLanes();
    m_foldsInLanes = foldsInLanes(space, folds);
    openInnerLoops(space, folds, stores, isShared);
    writeFolds(folds, isShared);
    for (const KernelStore *store : stores)
        storeInner(*store);
    if (m_foldsInLanes) {
        m_out.close(");");
        combineFoldLanes(folds, isShared ? "_part" : "");
    } else if (!m_streams.empty()) {
        m_out.close();
    }
    writeStreams(stores);
    closeTo(region);
    m_isInLaneLoop = false;
    m_foldsInLanes = false;
    m_scope.clear();
    if (isShared)
        combineParts(folds);
    closeTo(depth);
    m_keptReady.insert(m_keptPending.begin(), m_keptPending.end());
    m_keptPending.clear();
    finishTotals(folds);
}

/// Stores of one element for each outer point: results of reductions, running statistics.
void KernelWriter::writeOuterStores(int stage)
{
    std::vector<const KernelStore *> stores;
    for (const KernelStore &store : m_kernel.stores) {
        if (store.stage == stage && store.space == KernelExpression::outerOnly)
            stores.push_back(&store);
    }
    if (stores.empty())
        return;
    const int depth = m_out.depth();
    if (hasLanes()) {
        m_isInLaneLoop = true;
        m_scope.clear();
        m_out.pragma("omp simd");
        m_out.open("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes()
                   + "; ++" + m_names.lane() + ")");
    }
    // Every value before the first store: a buffer that is updated is read before.
    std::vector<std::string> values;
    for (const KernelStore *store : stores)
        values.push_back(outerValue(store->value));
    for (std::size_t i = 0; i < stores.size(); ++i)
        m_out.line(pointerTo(stores[i]->buffer, stores[i]->index) + " = " + values[i] + ";");
    closeTo(depth);
    m_isInLaneLoop = false;
    m_scope.clear();
}

void KernelWriter::writeStage(int stage)
{
    writeOuterStores(stage);
    if (stage == m_mergedStage)
        return;
    if (const auto pair = onlinePair(stage)) {
        writeOnline(*pair, stage);
        m_mergedStage = stage + 1;
        return;
    }
    for (std::size_t space = 0; space < m_kernel.spaces.size(); ++space)
        writeTraversal(stage, static_cast<int>(space));
}

} // namespace heddle
