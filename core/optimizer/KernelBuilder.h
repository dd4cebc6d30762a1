// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/optimizer/Kernel.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// A value that a kernel must leave in a buffer.
struct KernelRoot {
    ValueId value = -1;
    std::string buffer;
};

/// What came of fusing some roots into one kernel.
struct BuildOutcome {
    std::optional<Kernel> kernel;
    std::optional<ValueId> realise; ///< set when that value must lie in a buffer before
    std::string refusal;            ///< set when the roots do not fit one loop nest
};

/// Fuses roots into one loop nest by evaluating them symbolically at the indices of its loops. Producers
/// are inlined; a reduction becomes a stage when it varies over exactly the outer axes; reshapes that cut
/// through an axis split it. One object for one attempt; not thread-safe.
class KernelBuilder {
public:
    /// `available`: values that earlier kernels leave in buffers.
    KernelBuilder(const Ir &ir, const std::map<ValueId, KernelBuffer> &available)
        : m_ir(ir), m_available(available)
    {
    }
    /// A reduction is a kernel of its own and is read from a buffer elsewhere: the conservative form.
    void separateReductions() { m_separate = true; }

    BuildOutcome build(std::vector<KernelRoot> roots);

private:
    using Index = std::vector<Affine>;
    struct Split {
        int list; ///< -1: the domain, else an inner space of a reduction
        std::size_t place;
        std::int64_t inner;
    };

    bool attempt(const std::vector<KernelRoot> &roots);
    bool placeRoot(const KernelRoot &root, bool isFirst);
    int evaluate(ValueId value, const Index &index, int space);
    int evaluateReduction(ValueId id, const Index &index);
    int load(const KernelBuffer &buffer, const Index &index, const Shape &shape);
    int loadAt(const KernelBuffer &buffer, Affine element);
    int append(KernelExpression expression);
    std::optional<Index> unflatten(const Affine &linear, const Shape &shape);
    Affine flatten(const Index &index, const Shape &shape) const;
    Affine flattenAxes(const std::vector<int> &axes) const;
    bool chooseOuter(const std::set<int> &axes);
    int spaceFor(const Shape &reduced);
    const KernelBuffer *bufferOf(ValueId value) const;
    void requestSplit(int axis, std::int64_t inner);
    int fail(std::string reason);
    int demand(ValueId value);
    void finish();
    void mergeAxes(std::vector<int> &list);
    void recogniseSoftmax();

    const Ir &m_ir;
    const std::map<ValueId, KernelBuffer> &m_available;
    bool m_separate = false;

    // Kept over attempts.
    std::map<int, std::vector<std::int64_t>> m_extents; ///< extents of a list of axes after splits
    std::set<int> m_preferredOuter;

    // Of one attempt.
    Kernel m_kernel;
    std::vector<int> m_domain;
    std::set<ValueId> m_rootValues;
    std::optional<std::set<int>> m_outer;
    std::map<int, std::pair<int, std::size_t>> m_axisPlace; ///< axis → (list, place)
    std::map<std::string, int> m_memo;
    std::optional<Split> m_split;
    std::optional<ValueId> m_realise;
    bool m_widen = false;
    std::string m_refusal;
};

} // namespace heddle
