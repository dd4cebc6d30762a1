// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle {

/// `count` items from the zero-based `start`: lines of a text, or bytes of a line.
struct Range {
    int start = 0;
    int count = 0;
    int end() const { return start + count; }
    bool operator==(const Range &) const = default;
};

/// The lines with their ends ("\n" or "\r\n"), so that joining them gives the text again, byte for byte. A
/// text without a final newline has a last line without one; the empty text has no lines.
/// The views point into `text`.
std::vector<std::string_view> splitLines(std::string_view text);

/// Numbers equal pieces of text alike, so that comparing them is comparing integers.
class Interner {
public:
    std::vector<int> numbersOf(const std::vector<std::string_view> &pieces);

private:
    std::unordered_map<std::string_view, int> m_numbers;
};

} // namespace heddle
