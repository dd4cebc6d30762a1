// SPDX-License-Identifier: Apache-2.0
#include "core/diff/Intraline.h"

#include <gtest/gtest.h>

namespace heddle {

namespace {

/// The line with its marked bytes in brackets.
std::string marked(std::string_view line, const std::vector<Range> &ranges)
{
    std::string out;
    std::size_t at = 0;
    for (const Range &range : ranges) {
        out += line.substr(at, static_cast<std::size_t>(range.start) - at);
        out += '[';
        out += line.substr(static_cast<std::size_t>(range.start), static_cast<std::size_t>(range.count));
        out += ']';
        at = static_cast<std::size_t>(range.end());
    }
    out += line.substr(at);
    return out;
}

void expectMarks(std::string_view before, std::string_view after, const char *wantBefore,
                 const char *wantAfter)
{
    const IntralineDiff diff = diffWithinLine(before, after);
    EXPECT_EQ(marked(before, diff.before), wantBefore);
    EXPECT_EQ(marked(after, diff.after), wantAfter);
}

TEST(Intraline, MarksTheWordsThatDiffer)
{
    expectMarks("y[i] = x[i] * 2.0f;\n", "y[i] = x[i] * scale;\n", "y[i] = x[i] * [2.0f];\n",
                "y[i] = x[i] * [scale];\n");
    expectMarks("for (int i = 0; i < n; ++i)\n", "for (int64_t i = 0; i < n; ++i)\n",
                "for ([int] i = 0; i < n; ++i)\n", "for ([int64_t] i = 0; i < n; ++i)\n");
    expectMarks("  a = b;\n", "    a = b;\n", "[  ]a = b;\n", "[    ]a = b;\n");
}

TEST(Intraline, NeverCutsACharacter)
{
    expectMarks("s = \"caf\xc3\xa9\";", "s = \"caf\xc3\xa8\";", "s = \"caf[\xc3\xa9]\";",
                "s = \"caf[\xc3\xa8]\";");
}

TEST(Intraline, MarksTheLineEndWhenOnlyThatDiffers)
{
    expectMarks("int a;\n", "int a;\r\n", "int a;[\n]", "int a;[\r\n]");
}

TEST(Intraline, UnlikeLinesGetNoMarks)
{
    expectMarks("return 0;", "while (true) {", "return 0;", "while (true) {");
    const std::string longLine(5000, 'x');
    expectMarks(longLine, longLine + 'y', longLine.c_str(), (longLine + 'y').c_str());
}

} // namespace

} // namespace heddle
