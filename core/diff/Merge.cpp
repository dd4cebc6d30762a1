// SPDX-License-Identifier: Apache-2.0
#include "core/diff/Merge.h"

#include "core/diff/SequenceDiff.h"

#include <algorithm>
#include <limits>

namespace heddle {

namespace {

constexpr std::string_view Mark = "\xEF\xBB\xBF";

std::size_t at(int index) { return static_cast<std::size_t>(index); }

enum class LineEnd { None, Lf, CrLf, Mixed };

LineEnd lineEndOf(std::string_view text)
{
    LineEnd end = LineEnd::None;
    for (std::size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1)) {
        const LineEnd here = i > 0 && text[i - 1] == '\r' ? LineEnd::CrLf : LineEnd::Lf;
        if (end != LineEnd::None && end != here)
            return LineEnd::Mixed;
        end = here;
    }
    return end;
}

std::string withLineEnd(std::string_view text, LineEnd end)
{
    std::string out;
    out.reserve(text.size());
    for (const std::string_view line : splitLines(text)) {
        std::string_view content = line;
        if (!content.ends_with('\n')) {
            out += content;
            continue;
        }
        content.remove_suffix(content.ends_with("\r\n") ? 2 : 1);
        out += content;
        out += end == LineEnd::CrLf ? "\r\n" : "\n";
    }
    return out;
}

bool isUniform(LineEnd end) { return end == LineEnd::Lf || end == LineEnd::CrLf; }

/// `text` written as `mine` is, where that differs from the base in nothing but the manner of writing.
std::string inMannerOf(std::string_view mine, std::string_view base, std::string_view text)
{
    std::string out(text);
    const LineEnd wanted = lineEndOf(mine);
    const LineEnd present = lineEndOf(text);
    if (isUniform(wanted) && isUniform(present) && wanted != present && lineEndOf(base) != wanted)
        out = withLineEnd(text, wanted);
    const bool isMarked = text.starts_with(Mark);
    if (mine.starts_with(Mark) && !base.starts_with(Mark) && !isMarked)
        out.insert(0, Mark);
    if (!mine.starts_with(Mark) && base.starts_with(Mark) && isMarked)
        out.erase(0, Mark.size());
    return out;
}

/// One side's changes, consumed in the order of the base.
class Side {
public:
    Side(const std::vector<std::string_view> &lines, std::vector<Change> changes)
        : m_lines(lines), m_changes(std::move(changes))
    {
    }

    bool hasNext() const { return m_next < m_changes.size(); }
    int nextStart() const
    {
        return hasNext() ? m_changes[m_next].before.start : std::numeric_limits<int>::max();
    }
    /// Takes in the changes that overlap or touch the base lines up to `end`; returns the new end.
    int absorb(int end)
    {
        while (hasNext() && m_changes[m_next].before.start <= end) {
            end = std::max(end, m_changes[m_next].before.end());
            ++m_next;
        }
        return end;
    }
    /// Where base lines [start, end) are in this side, `absorb` having passed their changes.
    Range map(int start, int end)
    {
        const int from = start + m_shift;
        for (; m_shifted < m_next; ++m_shifted)
            m_shift += m_changes[m_shifted].after.count - m_changes[m_shifted].before.count;
        return {from, end + m_shift - from};
    }
    std::string textOf(Range range) const
    {
        std::string out;
        for (int i = range.start; i < range.end(); ++i)
            out += m_lines[at(i)];
        return out;
    }

private:
    const std::vector<std::string_view> &m_lines;
    const std::vector<Change> m_changes;
    std::size_t m_next = 0;
    std::size_t m_shifted = 0; ///< changes counted in m_shift
    int m_shift = 0;           ///< lines that this side is longer than the base so far
};

MergeResult mergeLines(std::string_view baseText, std::string_view mineText, std::string_view theirsText)
{
    const auto base = splitLines(baseText);
    const auto mineLines = splitLines(mineText);
    const auto theirsLines = splitLines(theirsText);
    Interner interner;
    const auto baseNumbers = interner.numbersOf(base);
    Side mine(mineLines, diffSequences(baseNumbers, interner.numbersOf(mineLines)));
    Side theirs(theirsLines, diffSequences(baseNumbers, interner.numbersOf(theirsLines)));
    const Side original(base, {});

    MergeResult result;
    int line = 0;
    while (mine.hasNext() || theirs.hasNext()) {
        const int start = std::min(mine.nextStart(), theirs.nextStart());
        result.text += original.textOf({line, start - line});
        int end = start;
        for (int before = -1; before != end;) {
            before = end;
            end = theirs.absorb(mine.absorb(end));
        }
        const Range mineRange = mine.map(start, end);
        const Range theirsRange = theirs.map(start, end);
        const std::string baseHere = original.textOf({start, end - start});
        const std::string mineHere = mine.textOf(mineRange);
        const std::string theirsHere = theirs.textOf(theirsRange);
        if (mineHere == theirsHere || theirsHere == baseHere)
            result.text += mineHere;
        else if (mineHere == baseHere)
            result.text += theirsHere;
        else
            result.conflicts.push_back({{start, end - start}, mineRange, theirsRange});
        line = end;
    }
    result.text += original.textOf({line, static_cast<int>(base.size()) - line});
    if (!result.isClean())
        result.text.clear();
    return result;
}

} // namespace

MergeResult mergeText(std::string_view base, std::string_view mine, std::string_view theirs)
{
    if (mine == base || mine == theirs)
        return {std::string(theirs), {}};
    if (theirs == base)
        return {std::string(mine), {}};
    return mergeLines(inMannerOf(mine, base, base), mine, inMannerOf(mine, base, theirs));
}

} // namespace heddle
