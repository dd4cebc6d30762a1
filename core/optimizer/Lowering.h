// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/optimizer/Graph.h"
#include "core/optimizer/Ir.h"

#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// A graph as tensor expressions, with what the candidate must write.
struct LoweredGraph {
    Ir ir;
    std::vector<ValueId> outputs;                         ///< out:0, out:1, …
    std::vector<std::pair<std::string, ValueId>> updates; ///< "state:…" and its new value
};

/// Writes each ATen operator as pointwise operations, reductions and views; in-place operators on buffers
/// become updates. Errors: NotCovered naming every operator that it does not know, or the first use of a
/// known one that it cannot write, with the reason.
Result<LoweredGraph> lowerGraph(const CapturedGraph &graph);

} // namespace heddle
