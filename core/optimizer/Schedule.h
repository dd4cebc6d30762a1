// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/optimizer/Kernel.h"

#include <cstdint>
#include <set>
#include <vector>

namespace heddle {

/// How the loops of a kernel are laid out on threads, vector lanes and caches.
struct Schedule {
    /// Vector lanes run over this outer axis, because memory is contiguous along it and reductions are
    /// not; -1: lanes run over the innermost axis of each inner space.
    int laneAxis = -1;
    /// Few outer points: threads share each stage's traversal instead of the outer loop.
    bool splitsStages = false;
    /// The only inner axis is cut into chunks that are spread over threads with the outer loop.
    bool splitsInner = false;
    /// Small work: a fork costs more than it gains, unless the tuner finds otherwise.
    bool isSmall = false;
    std::int64_t tile = 0; ///< lanes handled together, where laneAxis is set
    std::vector<std::int64_t> tileChoices;
    /// Values kept in a cache line between stages instead of computed again.
    std::set<int> kept;
    /// Stores whose rows may be written around the caches: large float32 outputs, contiguous along the
    /// vector loop. Whether it pays depends on the machine and on what reads them next: the tuner decides.
    std::set<int> streamed;
    /// Where the tuner starts: stores around the caches pay when nothing but memory holds the kernel up.
    bool streamsAtFirst = false;
    std::int64_t elements = 0; ///< iterations of the largest traversal, over all outer points
};

/// Decides the schedule; may move axes of a kernel without reductions from inner to outer, and reorder
/// the axes of an inner space so that the contiguous one is innermost.
Schedule makeSchedule(Kernel &kernel);

} // namespace heddle
