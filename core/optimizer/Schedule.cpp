// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Schedule.h"

#include "core/optimizer/CppText.h"

#include <algorithm>
#include <map>

namespace heddle {

namespace {

/// Below this many elements one thread is faster: a fork and join costs some microseconds.
constexpr std::int64_t smallWork = 32768;
/// Outer points that keep every thread of a small machine evenly busy.
constexpr std::int64_t enoughTasks = 8;
/// Elements that may be kept between stages by one thread: half of a common second-level cache.
constexpr std::int64_t keptElements = 65536;
/// An inner loop shorter than this fills no vector.
constexpr std::int64_t shortLoop = 8;

std::int64_t spaceCount(const Kernel &kernel)
{
    std::int64_t most = 1;
    for (const auto &space : kernel.spaces)
        most = std::max(most, kernel.count(space));
    return most;
}

/// Weight of each axis along which memory is contiguous: elements that are read or written that way.
std::map<int, std::int64_t> contiguousAxes(const Kernel &kernel)
{
    std::map<int, std::int64_t> votes;
    const auto vote = [&](const Affine &index) {
        std::int64_t elements = 1;
        for (const auto &[axis, coefficient] : index.terms)
            elements *= kernel.extent(axis);
        for (const auto &[axis, coefficient] : index.terms) {
            if (coefficient == 1)
                votes[axis] += elements;
        }
    };
    for (const KernelExpression &each : kernel.expressions) {
        if (each.kind == KernelExpression::Kind::Load)
            vote(each.index);
    }
    for (const KernelStore &store : kernel.stores)
        vote(store.index);
    return votes;
}

int favourite(const std::map<int, std::int64_t> &votes)
{
    int best = -1;
    for (const auto &[axis, weight] : votes) {
        if (best < 0 || weight > votes.at(best))
            best = axis;
    }
    return best;
}

bool hasExpensivePart(const Kernel &kernel, int id)
{
    const KernelExpression &expression = kernel.expression(id);
    if (expression.space == KernelExpression::outerOnly)
        return false;
    // A division by a constant is written as a product.
    const bool isProduct = expression.op == "div" && expression.dtype == Dtype::Float32
        && kernel.expression(expression.args[1]).kind == KernelExpression::Kind::Literal;
    if (expression.kind == KernelExpression::Kind::Operation && isExpensive(expression.op) && !isProduct)
        return true;
    return std::any_of(expression.args.begin(), expression.args.end(),
                       [&kernel](int arg) { return hasExpensivePart(kernel, arg); });
}

void collect(const Kernel &kernel, int id, std::set<int> &into)
{
    if (!into.insert(id).second)
        return;
    for (const int arg : kernel.expression(id).args)
        collect(kernel, arg, into);
}

/// Walks down from what a stage needs; a costly value that an earlier stage computed is kept.
void keepFrom(const Kernel &kernel, int id, const std::set<int> &earlier, std::set<int> &kept)
{
    const KernelExpression &expression = kernel.expression(id);
    if (expression.space == KernelExpression::outerOnly)
        return;
    if (earlier.contains(id)) {
        if (hasExpensivePart(kernel, id))
            kept.insert(id);
        return;
    }
    for (const int arg : expression.args)
        keepFrom(kernel, arg, earlier, kept);
}

std::set<int> valuesToKeep(const Kernel &kernel)
{
    std::set<int> kept;
    std::map<int, std::set<int>> computed; // by inner space
    for (int stage = 0; stage < kernel.stages; ++stage) {
        std::vector<std::pair<int, int>> needed; // (space, expression)
        for (const KernelReduction &reduction : kernel.reductions) {
            if (reduction.stage == stage)
                needed.emplace_back(reduction.space, reduction.operand);
        }
        for (const KernelStore &store : kernel.stores) {
            if (store.stage == stage && store.space >= 0)
                needed.emplace_back(store.space, store.value);
        }
        for (const auto &[space, id] : needed)
            keepFrom(kernel, id, computed[space], kept);
        for (const auto &[space, id] : needed)
            collect(kernel, id, computed[space]);
    }
    return kept;
}

/// Outputs that alone do not fit the second-level caches of a small machine.
constexpr std::int64_t largeOutputBytes = 4 << 20;
/// The longest row that is gathered in a small array before it is streamed.
constexpr std::int64_t streamedRow = 16384;

std::set<int> storesToStream(const Kernel &kernel, bool splitsInner)
{
    std::set<int> streamed;
    const std::vector<int> &space = kernel.spaces[0];
    if (space.empty() || (!splitsInner && kernel.extent(space.back()) > streamedRow)
        || kernel.extent(space.back()) < 256)
        return streamed;
    for (std::size_t i = 0; i < kernel.stores.size(); ++i) {
        const KernelStore &store = kernel.stores[i];
        const TensorType &type = kernel.buffer(store.buffer).type;
        const bool isLarge = elementCount(type.shape) * dtypeBytes(type.dtype) >= largeOutputBytes;
        if (store.space == 0 && isLarge && type.dtype == Dtype::Float32
            && store.index.coefficient(space.back()) == 1)
            streamed.insert(static_cast<int>(i));
    }
    return streamed;
}

/// Below this, a kernel's tensors may stay in a third-level cache from one call to the next.
constexpr std::int64_t largeTrafficBytes = 20 << 20;

/// Large tensors and no function of each element: on a processor that computes faster than it loads, only
/// then do the stores wait for lines that they overwrite.
bool streamsAtFirst(const Kernel &kernel, const std::set<int> &streamed)
{
    return !streamed.empty() && kernel.minimalBytes() >= largeTrafficBytes
        && std::none_of(kernel.stores.begin(), kernel.stores.end(),
                        [&](const KernelStore &store) { return hasExpensivePart(kernel, store.value); });
}

void moveInnermost(std::vector<int> &axes, int axis)
{
    const auto place = std::find(axes.begin(), axes.end(), axis);
    if (place != axes.end())
        std::rotate(place, place + 1, axes.end());
}

void chooseTile(const Kernel &kernel, Schedule &schedule)
{
    const std::int64_t extent = kernel.extent(schedule.laneAxis);
    std::int64_t most =
        schedule.kept.empty() ? 1024 : std::max<std::int64_t>(16, keptElements / spaceCount(kernel));
    most = std::min<std::int64_t>(most, extent);
    for (const std::int64_t choice : {16, 32, 64, 128, 256, 512, 1024}) {
        if (choice <= most)
            schedule.tileChoices.push_back(choice);
    }
    if (schedule.tileChoices.empty())
        schedule.tileChoices.push_back(extent);
    // Start with 128 lanes: eight cache lines a row, enough for the prefetcher, few enough for the cache.
    schedule.tile = schedule.tileChoices.back();
    for (const std::int64_t choice : schedule.tileChoices) {
        if (choice <= 128)
            schedule.tile = choice;
    }
}

void schedulePointwise(Kernel &kernel, Schedule &schedule)
{
    std::vector<int> &space = kernel.spaces[0];
    // Stores are contiguous along the last axis; the others become outer.
    if (space.size() > 1) {
        kernel.outer.insert(kernel.outer.end(), space.begin(), space.end() - 1);
        space.erase(space.begin(), space.end() - 1);
        kernel.settle();
    }
    schedule.splitsInner = !space.empty() && kernel.count(space) > 16384;
}

} // namespace

Schedule makeSchedule(Kernel &kernel)
{
    Schedule schedule;
    schedule.elements = kernel.outerCount() * spaceCount(kernel);
    schedule.isSmall = schedule.elements < smallWork;
    if (kernel.reductions.empty() && kernel.outer.empty()) {
        schedulePointwise(kernel, schedule);
        schedule.streamed = storesToStream(kernel, schedule.splitsInner);
        schedule.streamsAtFirst = streamsAtFirst(kernel, schedule.streamed);
        return schedule;
    }
    schedule.kept = valuesToKeep(kernel);
    const auto votes = contiguousAxes(kernel);
    const int best = favourite(votes);
    const std::int64_t inner = spaceCount(kernel);
    if (best >= 0 && kernel.isOuter(best) && kernel.extent(best) >= shortLoop) {
        schedule.laneAxis = best;
    } else if (inner < shortLoop && !kernel.outer.empty()
               && kernel.extent(kernel.outer.back()) >= 2 * shortLoop) {
        schedule.laneAxis = kernel.outer.back(); // rows too short for vectors: one row a lane
    }
    for (auto &space : kernel.spaces) {
        if (best >= 0 && schedule.laneAxis < 0)
            moveInnermost(space, best);
    }
    std::int64_t tasks = kernel.outerCount();
    if (schedule.laneAxis >= 0) {
        chooseTile(kernel, schedule);
        tasks = tasks / kernel.extent(schedule.laneAxis)
            * ((kernel.extent(schedule.laneAxis) + schedule.tile - 1) / schedule.tile);
        if (tasks < enoughTasks && schedule.tileChoices.front() < schedule.tile) {
            // Narrower tiles give more tasks.
            const std::int64_t narrow = std::max<std::int64_t>(schedule.tileChoices.front(), 32);
            if (narrow < schedule.tile) {
                tasks = tasks * schedule.tile / narrow;
                schedule.tile = narrow;
            }
        }
    }
    schedule.splitsStages = !schedule.isSmall && tasks < enoughTasks && inner >= smallWork / 8;
    if (schedule.splitsStages || inner * std::max<std::int64_t>(schedule.tile, 1) > keptElements)
        schedule.kept.clear();
    if (schedule.laneAxis < 0 && !schedule.splitsStages)
        schedule.streamed = storesToStream(kernel, false);
    schedule.streamsAtFirst = streamsAtFirst(kernel, schedule.streamed);
    return schedule;
}

} // namespace heddle
