// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Kernel.h"

#include <algorithm>

namespace heddle {

std::int64_t Kernel::count(const std::vector<int> &list) const
{
    std::int64_t result = 1;
    for (const int axis : list)
        result *= extent(axis);
    return result;
}

bool Kernel::isOuter(int axis) const { return std::find(outer.begin(), outer.end(), axis) != outer.end(); }

bool Kernel::writes(int buffer) const
{
    return std::any_of(stores.begin(), stores.end(),
                       [buffer](const KernelStore &store) { return store.buffer == buffer; });
}

bool Kernel::reads(int buffer) const
{
    return std::any_of(expressions.begin(), expressions.end(), [buffer](const KernelExpression &each) {
        return each.kind == KernelExpression::Kind::Load && each.buffer == buffer;
    });
}

void Kernel::settle()
{
    // Expressions are in topological order, so one pass settles space and stage.
    for (KernelExpression &each : expressions) {
        each.space = KernelExpression::outerOnly;
        each.stage = 0;
        for (const auto &[axis, coefficient] : each.index.terms) {
            for (std::size_t s = 0; s < spaces.size(); ++s) {
                const auto &inner = spaces[s];
                if (std::find(inner.begin(), inner.end(), axis) != inner.end())
                    each.space = static_cast<int>(s);
            }
        }
        for (const int arg : each.args) {
            each.space = std::max(each.space, expression(arg).space);
            each.stage = std::max(each.stage, expression(arg).stage);
        }
        if (each.kind == KernelExpression::Kind::Total) {
            KernelReduction &reduction = reductions[static_cast<std::size_t>(each.reduction)];
            reduction.stage = expression(reduction.operand).stage;
            each.stage = reduction.stage + 1;
        }
    }
    stages = 1;
    for (KernelStore &store : stores) {
        const KernelExpression &value = expression(store.value);
        store.stage = value.stage;
        store.space = KernelExpression::outerOnly;
        for (const int axis : spaces[0]) {
            if (store.index.coefficient(axis) != 0)
                store.space = 0;
        }
        stages = std::max(stages, store.stage + 1);
    }
    for (const KernelReduction &reduction : reductions)
        stages = std::max(stages, reduction.stage + 1);
}

std::int64_t Kernel::minimalBytes() const
{
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        if (reads(static_cast<int>(i)) || writes(static_cast<int>(i)))
            bytes += elementCount(buffers[i].type.shape) * dtypeBytes(buffers[i].type.dtype);
    }
    return bytes;
}

} // namespace heddle
