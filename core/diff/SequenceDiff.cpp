// SPDX-License-Identifier: Apache-2.0
#include "core/diff/SequenceDiff.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

namespace heddle {

namespace {

/// More differences than this in one gap are not searched for the shortest script.
constexpr int CostLimit = 256;
/// So low that adding two of them, or a step, stays below every real position.
constexpr int Unreachable = std::numeric_limits<int>::min() / 4;

struct Point {
    int x = 0; ///< in before
    int y = 0; ///< in after
};

/// A part of both sequences.
struct Box {
    int left = 0, right = 0; ///< before[left, right)
    int top = 0, bottom = 0; ///< after[top, bottom)
    int width() const { return right - left; }
    int height() const { return bottom - top; }
};

std::size_t at(int index) { return static_cast<std::size_t>(index); }

class Differ {
public:
    Differ(std::span<const int> before, std::span<const int> after) : m_before(before), m_after(after)
    {
        int largest = -1;
        for (const std::span<const int> side : {before, after})
            for (const int number : side)
                largest = std::max(largest, number);
        m_seen.resize(at(largest + 1));
        m_forward.resize(at(2 * CostLimit + 3));
        m_backward.resize(m_forward.size());
    }

    std::vector<Change> run()
    {
        // A stack of our own: a long chain of bad splits must not overflow the thread's.
        m_work.push_back({0, static_cast<int>(m_before.size()), 0, static_cast<int>(m_after.size())});
        while (!m_work.empty()) {
            const Box box = m_work.back();
            m_work.pop_back();
            compare(box);
        }
        return std::move(m_changes);
    }

private:
    struct Occurrences {
        int before = 0, after = 0;
        int x = 0, y = 0;
    };

    bool isEqual(int x, int y) const { return m_before[at(x)] == m_after[at(y)]; }

    /// Boxes are handled in order, so changes come in order; those that touch become one.
    void emit(const Box &box)
    {
        const Change change{{box.left, box.width()}, {box.top, box.height()}};
        if (!m_changes.empty()) {
            Change &last = m_changes.back();
            if (last.before.end() == change.before.start && last.after.end() == change.after.start) {
                last.before.count += change.before.count;
                last.after.count += change.after.count;
                return;
            }
        }
        m_changes.push_back(change);
    }

    void compare(Box box)
    {
        while (box.left < box.right && box.top < box.bottom && isEqual(box.left, box.top)) {
            ++box.left;
            ++box.top;
        }
        while (box.left < box.right && box.top < box.bottom && isEqual(box.right - 1, box.bottom - 1)) {
            --box.right;
            --box.bottom;
        }
        if (box.width() == 0 && box.height() == 0)
            return;
        if (box.width() == 0 || box.height() == 0) {
            emit(box);
            return;
        }
        const std::vector<Point> anchors = uniqueMatches(box);
        if (!anchors.empty()) {
            pushGaps(box, anchors);
            return;
        }
        if (const std::optional<Point> split = middle(box)) {
            m_work.push_back({split->x, box.right, split->y, box.bottom});
            m_work.push_back({box.left, split->x, box.top, split->y});
            return;
        }
        emit(box);
    }

    void pushGaps(const Box &box, const std::vector<Point> &anchors)
    {
        int right = box.right;
        int bottom = box.bottom;
        for (auto anchor = anchors.rbegin(); anchor != anchors.rend(); ++anchor) {
            m_work.push_back({anchor->x + 1, right, anchor->y + 1, bottom});
            right = anchor->x;
            bottom = anchor->y;
        }
        m_work.push_back({box.left, right, box.top, bottom});
    }

    /// Items that occur once on each side of the box, thinned to the longest run that rises on both.
    std::vector<Point> uniqueMatches(const Box &box)
    {
        for (int x = box.left; x < box.right; ++x) {
            Occurrences &seen = m_seen[at(m_before[at(x)])];
            ++seen.before;
            seen.x = x;
        }
        for (int y = box.top; y < box.bottom; ++y) {
            Occurrences &seen = m_seen[at(m_after[at(y)])];
            ++seen.after;
            seen.y = y;
        }
        std::vector<Point> matches;
        for (int x = box.left; x < box.right; ++x) {
            const Occurrences &seen = m_seen[at(m_before[at(x)])];
            if (seen.before == 1 && seen.after == 1)
                matches.push_back({x, seen.y});
        }
        for (int x = box.left; x < box.right; ++x)
            m_seen[at(m_before[at(x)])] = {};
        for (int y = box.top; y < box.bottom; ++y)
            m_seen[at(m_after[at(y)])] = {};
        return longestRising(matches);
    }

    static std::vector<Point> longestRising(const std::vector<Point> &points)
    {
        // tails[n] is the point with the smallest y that ends a rising run of n + 1 points.
        std::vector<int> tails;
        std::vector<int> previous(points.size(), -1);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const auto place = std::lower_bound(tails.begin(), tails.end(), points[i].y,
                                                [&](int tail, int y) { return points[at(tail)].y < y; });
            if (place != tails.begin())
                previous[i] = *std::prev(place);
            if (place == tails.end())
                tails.push_back(static_cast<int>(i));
            else
                *place = static_cast<int>(i);
        }
        std::vector<Point> rising;
        for (int i = tails.empty() ? -1 : tails.back(); i >= 0; i = previous[at(i)])
            rising.push_back(points[at(i)]);
        std::reverse(rising.begin(), rising.end());
        return rising;
    }

    /// Where an optimal path crosses the middle of the box, or a good point when that is too far away.
    /// Nothing when the box has no pair in common worth a split. Both searches start at their corner; the
    /// diagonal k is x - y relative to it.
    std::optional<Point> middle(const Box &box)
    {
        const int width = box.width();
        const int height = box.height();
        const int delta = width - height;
        const bool isOdd = (delta & 1) != 0;
        const int limit = std::min((width + height + 1) / 2, CostLimit);
        Point best;
        for (int d = 0; d <= limit; ++d) {
            for (int k = -d; k <= d; k += 2) {
                int x = furthest(m_forward, d, k, box);
                int y = x - k;
                while (x >= 0 && x < width && y < height && isEqual(box.left + x, box.top + y)) {
                    ++x;
                    ++y;
                }
                reached(m_forward, k) = x;
                if (x + y > best.x + best.y)
                    best = {x, y};
                const int opposite = delta - k;
                if (isOdd && std::abs(opposite) <= d - 1 && x + reached(m_backward, opposite) >= width)
                    return split(box, {x, y});
            }
            for (int k = -d; k <= d; k += 2) {
                int x = furthest(m_backward, d, k, box);
                int y = x - k;
                while (x >= 0 && x < width && y < height && isEqual(box.right - 1 - x, box.bottom - 1 - y)) {
                    ++x;
                    ++y;
                }
                reached(m_backward, k) = x;
                const int opposite = delta - k;
                if (!isOdd && std::abs(opposite) <= d && x + reached(m_forward, opposite) >= width)
                    return split(box, {width - x, height - y});
            }
        }
        return split(box, best);
    }

    /// How far a search came on diagonal k, counted in x.
    static int &reached(std::vector<int> &search, int k) { return search[at(CostLimit + 1 + k)]; }

    /// One step further onto diagonal k from its neighbours, or Unreachable when both would leave the box.
    static int furthest(std::vector<int> &search, int d, int k, const Box &box)
    {
        if (d == 0)
            return 0;
        int x = Unreachable;
        if (k != -d) {
            const int right = reached(search, k - 1) + 1;
            if (right > 0 && right <= box.width())
                x = right;
        }
        if (k != d) {
            const int down = reached(search, k + 1);
            if (down >= 0 && down - k <= box.height())
                x = std::max(x, down);
        }
        return x;
    }

    /// A split at a corner would give the same box again.
    static std::optional<Point> split(const Box &box, Point inside)
    {
        const bool isCorner =
            (inside.x == 0 && inside.y == 0) || (inside.x == box.width() && inside.y == box.height());
        if (isCorner)
            return std::nullopt;
        return Point{box.left + inside.x, box.top + inside.y};
    }

    const std::span<const int> m_before;
    const std::span<const int> m_after;
    std::vector<Occurrences> m_seen; ///< by number; all zero between calls of uniqueMatches()
    std::vector<int> m_forward, m_backward;
    std::vector<Box> m_work;
    std::vector<Change> m_changes;
};

} // namespace

std::vector<Change> diffSequences(std::span<const int> before, std::span<const int> after)
{
    return Differ(before, after).run();
}

} // namespace heddle
