// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelText.h"

#include <algorithm>

namespace heddle {

namespace {

/// Elements of a long row that one thread takes at a time.
constexpr std::int64_t blockElements = 8192;
/// Elements that are summed in float32 before double takes over: 32 additions in each lane, where the partial
/// sums are as small, and their rounding as fine, as in PyTorch's own cascades.
constexpr std::int64_t summedElements = 2048;

bool sumsFloats(const std::vector<const KernelReduction *> &folds)
{
    return std::any_of(folds.begin(), folds.end(), [](const KernelReduction *reduction) {
        return reduction->op == "sum" && reduction->dtype == Dtype::Float32;
    });
}

} // namespace

void KernelWriter::closeTo(int depth)
{
    while (m_out.depth() > depth)
        m_out.close();
}

std::string KernelWriter::threadClause()
{
    if (m_schedule.elements >= 16 * 32768)
        return "";
    m_written.tunables["THREADED" + suffix()] = {m_schedule.isSmall ? 0 : 1, {0, 1}};
    return " if (THREADED" + suffix() + ")";
}

void KernelWriter::openOuterLoops()
{
    std::vector<std::string> loops;
    for (const int axis : m_kernel.outer) {
        const std::string extent = std::to_string(m_kernel.extent(axis));
        if (axis == m_schedule.laneAxis)
            continue;
        const std::string &name = m_names.axis(axis);
        loops.push_back("for (int64_t " + name + " = 0; " + name + " < " + extent + "; ++" + name + ")");
    }
    std::string tail;
    if (hasLanes()) {
        const std::string extent = std::to_string(m_kernel.extent(m_schedule.laneAxis));
        loops.push_back("for (int64_t lane0 = 0; lane0 < " + extent + "; lane0 += " + tileMacro() + ")");
        tail = "const int64_t " + m_names.lanes() + " = heddle::min<int64_t>(" + tileMacro() + ", " + extent
            + " - lane0);";
        m_written.tunables[tileMacro()] = {m_schedule.tile, m_schedule.tileChoices};
    } else if (m_schedule.splitsInner) {
        const std::string extent = std::to_string(m_kernel.extent(m_kernel.spaces[0].back()));
        loops.push_back("for (int64_t chunk = 0; chunk < " + extent + "; chunk += CHUNK" + suffix() + ")");
        tail =
            "const int64_t chunk_end = heddle::min<int64_t>(chunk + CHUNK" + suffix() + ", " + extent + ");";
        m_written.tunables["CHUNK" + suffix()] = {16384, {4096, 16384, 65536}};
    }
    if (!m_schedule.splitsStages && !loops.empty() && m_schedule.elements > 2048) {
        const std::string collapse =
            loops.size() > 1 ? " collapse(" + std::to_string(loops.size()) + ")" : "";
        // Streamed rows need one fence of each thread, after its last row: a region around the loop.
        const std::string clauses = collapse + " schedule(static)";
        if (m_schedule.streamed.empty()) {
            m_out.pragma("omp parallel for" + clauses + threadClause());
        } else {
            m_out.pragma("omp parallel" + threadClause());
            m_out.open("");
            m_fenceDepth = m_out.depth();
            m_out.pragma("omp for" + clauses + " nowait");
        }
    }
    for (const std::string &loop : loops)
        m_out.open(loop);
    if (!tail.empty())
        m_out.line(tail);
}

void KernelWriter::writeRowPointers()
{
    for (const std::string &line : m_names.rowPointerLines())
        m_out.line(line);
    for (const int id : m_schedule.kept) {
        const KernelExpression &expression = m_kernel.expression(id);
        const std::string name = m_names.local(expression.op + "_row");
        std::string count =
            std::to_string(m_kernel.count(m_kernel.spaces[static_cast<std::size_t>(expression.space)]));
        if (hasLanes())
            count += " * " + tileMacro();
        m_out.line("alignas(64) " + cppType(expression.dtype) + " " + name + "[" + count + "];");
        m_keptArrays[id] = name;
    }
}

/// Opens the loops of an inner space down to the vector loop. With `isShared` the threads of a parallel
/// region divide the traversal.
void KernelWriter::openInnerLoops(int space, const std::vector<const KernelReduction *> &folds,
                                  const std::vector<const KernelStore *> &stores, bool isShared)
{
    const std::vector<int> &axes = m_kernel.spaces[static_cast<std::size_t>(space)];
    const std::size_t leading = hasLanes() ? axes.size() : axes.empty() ? 0 : axes.size() - 1;
    const std::int64_t last = hasLanes() || axes.empty() ? 0 : m_kernel.extent(axes.back());
    const bool isSummed = m_foldsInLanes && sumsFloats(folds);
    const std::int64_t blockSize = isSummed ? summedElements : blockElements;
    const bool isBlocked = isSummed ? last > blockSize : isShared && last > 2 * blockSize;
    const std::size_t shared = leading + (isBlocked ? 1 : 0);
    if (isShared && shared > 0) {
        m_out.pragma(std::string("omp for schedule(static)")
                     + (shared > 1 ? " collapse(" + std::to_string(shared) + ")" : ""));
    } else if (isShared) {
        m_out.pragma("omp single");
        m_out.open("");
    }
    for (std::size_t i = 0; i < leading; ++i) {
        const std::string &axis = m_names.axis(axes[i]);
        m_out.open("for (int64_t " + axis + " = 0; " + axis + " < " + std::to_string(m_kernel.extent(axes[i]))
                   + "; ++" + axis + ")");
    }
    if (isBlocked) {
        m_out.open("for (int64_t block = 0; block < " + std::to_string(m_kernel.extent(axes.back()))
                   + "; block += " + std::to_string(blockSize) + ")");
        m_out.line("const int64_t block_end = heddle::min<int64_t>(block + " + std::to_string(blockSize)
                   + ", " + std::to_string(m_kernel.extent(axes.back())) + ");");
    }
    if (hasLanes()) {
        m_out.pragma("omp simd");
        m_out.open("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes()
                   + "; ++" + m_names.lane() + ")");
        return;
    }
    if (axes.empty())
        return;
    declareStreams(stores);
    std::string from = "0";
    std::string to = std::to_string(m_kernel.extent(axes.back()));
    if (m_schedule.splitsInner) {
        from = "chunk";
        to = "chunk_end";
    } else if (isBlocked) {
        from = "block";
        to = "block_end";
    }
    openVectorLoop(folds, axes.back(), from, to, isShared);
}

/// The loop that is vectorised, over one axis.
void KernelWriter::openVectorLoop(const std::vector<const KernelReduction *> &folds, int axis,
                                  const std::string &from, const std::string &to, bool isShared)
{
    const std::string &name = m_names.axis(axis);
    if (m_foldsInLanes) {
        declareFoldLanes(folds);
        m_out.open("heddle::for_lanes(" + from + ", " + to + ", [&](int64_t " + name + ", int64_t "
                   + m_names.lane() + ") HEDDLE_INLINE_BODY");
        return;
    }
    std::string clauses;
    for (const KernelReduction *reduction : folds) {
        const std::string into = accumulator(*reduction) + (isShared ? "_part" : "");
        clauses += " reduction(" + clause(*reduction) + " : " + into + ")";
        if (keepsNaN(*reduction))
            clauses += " reduction(| : " + into + "_nan)";
    }
    m_out.pragma("omp simd" + clauses);
    m_out.open("for (int64_t " + name + " = " + from + "; " + name + " < " + to + "; ++" + name + ")");
}

} // namespace heddle
