// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/optimizer/CppText.h"
#include "core/optimizer/KernelNames.h"
#include "core/optimizer/KernelWriter.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle {

inline bool isSum(const KernelReduction &reduction)
{
    return reduction.op == "sum" || reduction.op == "prod";
}

/// Writes the C++ of one kernel: its frame and loops (KernelWriter.cpp, KernelLoops.cpp), the stages
/// (KernelStages.cpp), two of them in one (KernelOnline.cpp), the scalars of the loop bodies (KernelValues.cpp), folds
/// (KernelFolds.cpp) and rows that go around the caches (KernelStreams.cpp). One object for one kernel; not thread-safe.
class KernelWriter {
public:
    KernelWriter(Kernel kernel, const std::vector<std::vector<double>> &constants, std::size_t number)
        : m_kernel(std::move(kernel)),
          m_schedule(makeSchedule(m_kernel)),
          m_constants(constants),
          m_number(number),
          m_names(m_kernel, m_schedule)
    {
    }
    Result<WrittenKernel> run();

private:
    using Kind = KernelExpression::Kind;
    bool hasLanes() const { return m_schedule.laneAxis >= 0; }

    // The frame.
    void writeHeader();
    void writeConstants();
    void openOuterLoops();
    void writeRowPointers();
    void describe();
    std::string tileMacro() { return "TILE" + suffix(); }
    std::string suffix() const { return m_number == 0 ? "" : "_" + std::to_string(m_number); }
    std::string threadClause();

    // Stages.
    void writeStage(int stage);
    void writeTraversal(int stage, int space);
    void writeOuterStores(int stage);
    void prepareOuter(const std::vector<int> &needed);
    void frontier(int id, std::vector<int> &into) const;
    bool dependsOnLane(int id) const;
    void openInnerLoops(int space, const std::vector<const KernelReduction *> &folds,
                        const std::vector<const KernelStore *> &stores, bool isShared);
    void openVectorLoop(const std::vector<const KernelReduction *> &folds, int axis, const std::string &from,
                        const std::string &to, bool isShared);
    void writeFolds(const std::vector<const KernelReduction *> &folds, bool isShared);
    void closeTo(int depth);
    void declareAccumulators(const std::vector<const KernelReduction *> &folds, const std::string &ending);
    void combineParts(const std::vector<const KernelReduction *> &folds);
    void finishTotals(const std::vector<const KernelReduction *> &folds);

    // A maximum and the sum that hangs on it, in one pass (KernelOnline.cpp).
    struct OnlinePair {
        const KernelReduction *peak = nullptr;
        const KernelReduction *sum = nullptr;
        int total = -1; ///< the expression that is the maximum
    };
    std::optional<OnlinePair> onlinePair(int stage) const;
    void writeOnline(const OnlinePair &pair, int stage);
    void writeOnlineBlock(const OnlinePair &pair, const std::string &peak, const std::string &sum);

    // Expressions.
    std::string outerValue(int id);
    std::string innerValue(int id);
    std::string define(int id, std::vector<std::string> args);
    std::string literal(const KernelExpression &expression) const;
    std::string loadText(const KernelExpression &expression) const;
    std::string pointerTo(int buffer, const Affine &index) const;
    std::string keptText(int id) const;
    void storeInner(const KernelStore &store);
    void declareStreams(const std::vector<const KernelStore *> &stores);
    void writeStreams(const std::vector<const KernelStore *> &stores);
    std::string streamMacro() { return "STREAM" + suffix(); }

    // Reductions.
    bool foldsInLanes(int space, const std::vector<const KernelReduction *> &folds) const;
    void declareFoldLanes(const std::vector<const KernelReduction *> &folds);
    void combineFoldLanes(const std::vector<const KernelReduction *> &folds, const std::string &ending);
    std::string accumulatorType(const KernelReduction &reduction) const;
    std::string identity(const KernelReduction &reduction) const;
    std::string clause(const KernelReduction &reduction) const;
    std::string fold(const KernelReduction &reduction, const std::string &into,
                     const std::string &value) const;
    bool keepsNaN(const KernelReduction &reduction) const
    {
        return !isSum(reduction) && reduction.op != "max_quick" && isFloating(reduction.dtype);
    }
    const std::string &accumulator(const KernelReduction &reduction) const
    {
        return m_accumulators.at(static_cast<int>(&reduction - m_kernel.reductions.data()));
    }

    Kernel m_kernel;
    Schedule m_schedule;
    const std::vector<std::vector<double>> &m_constants;
    std::size_t m_number;
    KernelNames m_names;
    CppText m_out;
    WrittenKernel m_written;
    std::map<int, std::string> m_outerValues;  ///< outer-level scalar → name
    std::map<int, std::string> m_laneValues;   ///< outer-level value for each lane → array
    std::map<int, std::string> m_scope;        ///< values of the innermost loop being written
    std::map<int, std::string> m_accumulators; ///< reduction → name
    std::map<int, std::string> m_keptArrays;
    std::set<int> m_keptReady;
    std::set<int> m_keptPending;
    int m_fenceDepth = 0; ///< of the parallel region that ends with a fence; 0: none is open
    int m_space = 0;
    int m_mergedStage = -1; ///< its traversal was written together with the one before
    bool m_isInLaneLoop = false;
    bool m_foldsInLanes = false; ///< the traversal being written folds with heddle::for_lanes
    std::string m_unknownOperation;
    struct Stream {
        std::string block;
        std::string target;
        std::string row;
    };
    std::map<int, Stream> m_streams; ///< store → where its row is gathered
};

} // namespace heddle
