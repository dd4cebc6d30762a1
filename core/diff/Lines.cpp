// SPDX-License-Identifier: Apache-2.0
#include "core/diff/Lines.h"

namespace heddle {

std::vector<std::string_view> splitLines(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t newline = text.find('\n');
        const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
        lines.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return lines;
}

std::vector<int> Interner::numbersOf(const std::vector<std::string_view> &pieces)
{
    std::vector<int> numbers;
    numbers.reserve(pieces.size());
    for (const std::string_view piece : pieces)
        numbers.push_back(m_numbers.emplace(piece, static_cast<int>(m_numbers.size())).first->second);
    return numbers;
}

} // namespace heddle
