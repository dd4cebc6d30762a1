// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>
#include <vector>

namespace heddle::test {

/// Seeded texts and edits of them.
class RandomText {
public:
    explicit RandomText(unsigned seed) : m_random(seed) {}

    int pick(int count) { return static_cast<int>(m_random() % static_cast<unsigned>(count)); }

    /// A line from a small alphabet, so that lines repeat; now and then with odd bytes.
    std::string line(int variety)
    {
        static const char *const odd[] = {"", "}", "\xEF\xBB\xBF", "caf\xc3\xa9", "\xff\xfe", "a\rb"};
        std::string text = pick(10) == 0 ? odd[pick(6)] : "line " + std::to_string(pick(variety));
        if (pick(25) == 0)
            text += std::string("\0nul", 4);
        return text + (pick(4) == 0 ? "\r\n" : "\n");
    }

    std::string text(int lines, int variety)
    {
        std::string out;
        for (int i = 0; i < lines; ++i)
            out += line(variety);
        if (!out.empty() && pick(3) == 0)
            out.pop_back(); // a missing final newline, or a lone carriage return at the end
        return out;
    }

    /// A few random deletions, insertions and replacements of lines.
    std::string edited(const std::string &text, int edits, int variety)
    {
        std::vector<std::string> lines;
        std::size_t start = 0;
        while (start < text.size()) {
            const std::size_t end = text.find('\n', start);
            const std::size_t size = end == std::string::npos ? text.size() - start : end - start + 1;
            lines.push_back(text.substr(start, size));
            start += size;
        }
        for (int i = 0; i < edits; ++i) {
            const auto place = static_cast<std::ptrdiff_t>(pick(static_cast<int>(lines.size()) + 1));
            const bool isEnd = place == static_cast<std::ptrdiff_t>(lines.size());
            switch (isEnd ? 0 : pick(3)) {
            case 0: lines.insert(lines.begin() + place, line(variety)); break;
            case 1: lines.erase(lines.begin() + place); break;
            default: lines[static_cast<std::size_t>(place)] = line(variety);
            }
        }
        std::string out;
        for (const std::string &each : lines)
            out += each;
        return out;
    }

private:
    std::mt19937 m_random;
};

} // namespace heddle::test
