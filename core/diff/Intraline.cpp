// SPDX-License-Identifier: Apache-2.0
#include "core/diff/Intraline.h"

#include "core/diff/SequenceDiff.h"

#include <algorithm>

namespace heddle {

namespace {

constexpr std::size_t LongestLine = 4096;
/// Below this share of common bytes the whole line counts as new.
constexpr double LeastCommon = 0.25;

bool isWord(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t tokenSize(std::string_view text)
{
    const auto run = [&](bool (*belongs)(char)) {
        std::size_t size = 1;
        while (size < text.size() && belongs(text[size]))
            ++size;
        return size;
    };
    if (isWord(text[0]))
        return run(isWord);
    if (isBlank(text[0]))
        return run(isBlank);
    return run(isContinuation);
}

std::vector<std::string_view> tokens(std::string_view text)
{
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t size = tokenSize(text);
        out.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return out;
}

/// Bytes of the tokens, empty ranges left out.
void addRange(std::vector<Range> &out, std::string_view line, const std::vector<std::string_view> &pieces,
              Range range)
{
    if (range.count == 0)
        return;
    const std::string_view first = pieces[static_cast<std::size_t>(range.start)];
    const std::string_view last = pieces[static_cast<std::size_t>(range.end() - 1)];
    out.push_back({static_cast<int>(first.data() - line.data()),
                   static_cast<int>(last.data() + last.size() - first.data())});
}

int total(const std::vector<Range> &ranges)
{
    int bytes = 0;
    for (const Range &range : ranges)
        bytes += range.count;
    return bytes;
}

} // namespace

IntralineDiff diffWithinLine(std::string_view before, std::string_view after)
{
    if (before.size() > LongestLine || after.size() > LongestLine)
        return {};
    const auto left = tokens(before);
    const auto right = tokens(after);
    Interner interner;
    const auto leftNumbers = interner.numbersOf(left);
    const auto rightNumbers = interner.numbersOf(right);
    IntralineDiff diff;
    for (const Change &change : diffSequences(leftNumbers, rightNumbers)) {
        addRange(diff.before, before, left, change.before);
        addRange(diff.after, after, right, change.after);
    }
    const auto longer = static_cast<double>(std::max(before.size(), after.size()));
    const double common = static_cast<double>(before.size()) - total(diff.before);
    if (common < LeastCommon * longer)
        return {};
    return diff;
}

} // namespace heddle
