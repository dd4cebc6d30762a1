// SPDX-License-Identifier: Apache-2.0
// For any three texts: a side that changed nothing takes the other as it is; all hunks of a diff give the new text and
// none the old; a merge that is clean does not depend on which side is whose, where neither line ends nor byte-order
// marks (on which `mine` decides) are in play.
#include "core/diff/Merge.h"
#include "core/diff/TextDiff.h"

#include <cstdint>
#include <cstdlib>
#include <numeric>

namespace {

/// The next part of the input, up to a byte 0xFF (which no text of ours has) or the end.
std::string_view takeText(std::string_view &rest)
{
    const std::size_t end = rest.find('\xff');
    const std::string_view text = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return text;
}

void require(bool holds)
{
    if (!holds)
        std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    std::string_view rest(reinterpret_cast<const char *>(data), size);
    const std::string_view base = takeText(rest);
    const std::string_view mine = takeText(rest);
    const std::string_view theirs = takeText(rest);

    require(heddle::mergeText(base, base, theirs).text == theirs);
    require(heddle::mergeText(base, mine, base).text == mine);
    bool isPlain = true;
    for (const std::string_view text : {base, mine, theirs})
        isPlain = isPlain && text.find('\r') == std::string_view::npos && !text.starts_with("\xef\xbb\xbf");
    const heddle::MergeResult merged = heddle::mergeText(base, mine, theirs);
    if (merged.isClean() && isPlain)
        require(heddle::mergeText(base, theirs, mine).text == merged.text);

    std::vector<int> all(heddle::diffText(base, mine).size());
    std::iota(all.begin(), all.end(), 0);
    const auto after = heddle::applyHunks(base, mine, all);
    const auto before = heddle::applyHunks(base, mine, {});
    require(after && *after == mine && before && *before == base);
    return 0;
}
