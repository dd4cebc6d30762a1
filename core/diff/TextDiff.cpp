// SPDX-License-Identifier: Apache-2.0
#include "core/diff/TextDiff.h"

#include "core/diff/Intraline.h"

#include <algorithm>

namespace heddle {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

struct Texts {
    std::vector<std::string_view> before;
    std::vector<std::string_view> after;
    std::vector<Change> changes;
};

Texts compare(std::string_view before, std::string_view after)
{
    Texts texts{splitLines(before), splitLines(after), {}};
    Interner interner;
    const auto beforeNumbers = interner.numbersOf(texts.before);
    const auto afterNumbers = interner.numbersOf(texts.after);
    texts.changes = diffSequences(beforeNumbers, afterNumbers);
    return texts;
}

/// Changes near one another, which share a hunk.
std::vector<std::vector<Change>> groups(const std::vector<Change> &changes)
{
    std::vector<std::vector<Change>> out;
    for (const Change &change : changes) {
        if (out.empty() || change.before.start - out.back().back().before.end() > 2 * ContextLines)
            out.emplace_back();
        out.back().push_back(change);
    }
    return out;
}

void addContext(Hunk &hunk, const Texts &texts, int beforeLine, int afterLine, int count)
{
    for (int i = 0; i < count; ++i)
        hunk.lines.push_back({DiffLineKind::Context,
                              beforeLine + i,
                              afterLine + i,
                              std::string(texts.before[at(beforeLine + i)]),
                              {}});
}

void addChange(Hunk &hunk, const Texts &texts, const Change &change)
{
    const std::size_t firstRemoved = hunk.lines.size();
    for (int i = change.before.start; i < change.before.end(); ++i)
        hunk.lines.push_back({DiffLineKind::Removed, i, -1, std::string(texts.before[at(i)]), {}});
    const std::size_t firstAdded = hunk.lines.size();
    for (int i = change.after.start; i < change.after.end(); ++i)
        hunk.lines.push_back({DiffLineKind::Added, -1, i, std::string(texts.after[at(i)]), {}});
    const int pairs = std::min(change.before.count, change.after.count);
    for (int i = 0; i < pairs; ++i) {
        DiffLine &removed = hunk.lines[firstRemoved + at(i)];
        DiffLine &added = hunk.lines[firstAdded + at(i)];
        IntralineDiff within = diffWithinLine(removed.text, added.text);
        removed.marks = std::move(within.before);
        added.marks = std::move(within.after);
    }
}

Hunk makeHunk(int index, const Texts &texts, std::vector<Change> changes)
{
    Hunk hunk;
    hunk.index = index;
    const Change &first = changes.front();
    const Change &last = changes.back();
    const int lead = std::min(ContextLines, first.before.start);
    const int tail = std::min(ContextLines, static_cast<int>(texts.before.size()) - last.before.end());
    hunk.range = {{first.before.start - lead, last.before.end() + tail - first.before.start + lead},
                  {first.after.start - lead, last.after.end() + tail - first.after.start + lead}};
    int beforeLine = hunk.range.before.start;
    int afterLine = hunk.range.after.start;
    for (const Change &change : changes) {
        addContext(hunk, texts, beforeLine, afterLine, change.before.start - beforeLine);
        addChange(hunk, texts, change);
        beforeLine = change.before.end();
        afterLine = change.after.end();
    }
    addContext(hunk, texts, beforeLine, afterLine, hunk.range.before.end() - beforeLine);
    hunk.changes = std::move(changes);
    return hunk;
}

/// The "start,count" of the unified format, where an empty range names the line before it.
std::string rangeText(Range range)
{
    return std::to_string(range.count == 0 ? range.start : range.start + 1) + ','
        + std::to_string(range.count);
}

} // namespace

std::vector<Hunk> diffText(std::string_view before, std::string_view after)
{
    const Texts texts = compare(before, after);
    std::vector<Hunk> hunks;
    for (auto &group : groups(texts.changes))
        hunks.push_back(makeHunk(static_cast<int>(hunks.size()), texts, std::move(group)));
    return hunks;
}

Result<std::string> applyHunks(std::string_view before, std::string_view after,
                               const std::vector<int> &indices)
{
    const Texts texts = compare(before, after);
    const auto hunks = groups(texts.changes);
    std::vector<bool> isWanted(hunks.size(), false);
    for (const int index : indices) {
        if (index < 0 || at(index) >= hunks.size())
            return Error(Code::InvalidInput,
                         "there is no hunk " + std::to_string(index) + ", the diff has "
                             + std::to_string(hunks.size()) + " (counted from 0)");
        isWanted[at(index)] = true;
    }
    std::string out;
    int line = 0;
    const auto copyUpTo = [&](int end) {
        for (; line < end; ++line)
            out += texts.before[at(line)];
    };
    for (std::size_t hunk = 0; hunk < hunks.size(); ++hunk) {
        if (!isWanted[hunk])
            continue;
        for (const Change &change : hunks[hunk]) {
            copyUpTo(change.before.start);
            for (int i = change.after.start; i < change.after.end(); ++i)
                out += texts.after[at(i)];
            line = change.before.end();
        }
    }
    copyUpTo(static_cast<int>(texts.before.size()));
    return out;
}

std::string unifiedText(const std::vector<Hunk> &hunks)
{
    std::string out;
    for (const Hunk &hunk : hunks) {
        out += "@@ -" + rangeText(hunk.range.before) + " +" + rangeText(hunk.range.after) + " @@\n";
        for (const DiffLine &line : hunk.lines) {
            out += line.kind == DiffLineKind::Context ? ' ' : line.kind == DiffLineKind::Removed ? '-' : '+';
            out += line.text;
            if (!line.text.ends_with('\n'))
                out += "\n\\ No newline at end of file\n";
        }
    }
    return out;
}

} // namespace heddle
