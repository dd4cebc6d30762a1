// SPDX-License-Identifier: Apache-2.0
#include "core/diff/Merge.h"

#include "core/diff/TreeMerge.h"

#include <gtest/gtest.h>

namespace heddle {

namespace {

TEST(Merge, SeparateChangesBothArrive)
{
    const auto merged = mergeText("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\nf\n");
    EXPECT_TRUE(merged.isClean());
    EXPECT_EQ(merged.text, "A\nb\nc\nd\nE\nf\n");
}

TEST(Merge, TheSameChangeOnBothSidesIsTakenOnce)
{
    const auto merged = mergeText("a\nb\nc\nd\n", "a\nX\nc\nd\nmine\n", "a\nX\nc\nd\n");
    EXPECT_EQ(merged.text, "a\nX\nc\nd\nmine\n");
}

TEST(Merge, DifferentChangesOfTheSameLinesAreAConflictWithItsPlaces)
{
    const auto merged = mergeText("a\nb\nc\nd\n", "0\na\nmine\nalso\nc\nd\n", "a\ntheirs\nc\nd\n");
    EXPECT_TRUE(merged.text.empty());
    ASSERT_EQ(merged.conflicts.size(), 1u);
    EXPECT_EQ(merged.conflicts[0], (MergeConflict{{1, 1}, {2, 2}, {1, 1}}));
}

TEST(Merge, ChangesThatTouchAreAConflict)
{
    EXPECT_FALSE(mergeText("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n").isClean());
    EXPECT_FALSE(mergeText("a\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n").isClean());
    EXPECT_FALSE(mergeText("a\nb\nc\n", "a\nc\n", "a\nB\nc\n").isClean());
}

TEST(Merge, EachConflictHasItsOwnEntry)
{
    const auto merged = mergeText("a\nb\nc\nd\ne\n", "1\nb\nc\nd\n5\n", "one\nb\nc\nd\nfive\n");
    ASSERT_EQ(merged.conflicts.size(), 2u);
    EXPECT_EQ(merged.conflicts[1].base, (Range{4, 1}));
}

TEST(Merge, MyLineEndsAreKept)
{
    const auto merged = mergeText("a\nb\nc\nd\n", "A\r\nb\r\nc\r\nd\r\n", "a\nb\nc\nD\n");
    ASSERT_TRUE(merged.isClean());
    EXPECT_EQ(merged.text, "A\r\nb\r\nc\r\nD\r\n");
    const auto back = mergeText("a\r\nb\r\nc\r\nd\r\n", "A\nb\nc\nd\n", "a\r\nb\r\nc\r\nD\r\n");
    EXPECT_EQ(back.text, "A\nb\nc\nD\n");
}

TEST(Merge, MyByteOrderMarkIsKept)
{
    const std::string mark = "\xEF\xBB\xBF";
    EXPECT_EQ(mergeText("a\nb\nc\n", mark + "a\nb\nc\n", "a\nb\nC\n").text, mark + "a\nb\nC\n");
    EXPECT_EQ(mergeText(mark + "a\nb\nc\n", "a\nb\nc\n", mark + "a\nb\nC\n").text, "a\nb\nC\n");
    EXPECT_EQ(mergeText(mark + "a\nb\nc\n", mark + "a\nb\nc\nd\n", mark + "A\nb\nc\n").text,
              mark + "A\nb\nc\nd\n");
}

TEST(Merge, MixedLineEndsAreLeftAsTheyAre)
{
    EXPECT_EQ(mergeText("a\r\nb\nc\nd\n", "a\r\nb\nc\nD\n", "A\r\nb\nc\nd\n").text, "A\r\nb\nc\nD\n");
}

TEST(Merge, AMissingFinalNewlineSurvives)
{
    EXPECT_EQ(mergeText("a\nb\nc", "A\nb\nc", "a\nb\nc\n").text, "A\nb\nc\n");
    EXPECT_EQ(mergeText("a\nb\nc\n", "A\nb\nc\n", "a\nb\nc").text, "A\nb\nc");
}

TEST(TreeMerge, FilesAreMergedOneByOne)
{
    const FileTree base{{"a", "1\n2\n3\n"}, {"gone", "x"}, {"kept", "k"}};
    const FileTree mine{{"a", "one\n2\n3\n"}, {"gone", "x"}, {"kept", "k"}, {"mine", "m"}};
    const FileTree theirs{{"a", "1\n2\nthree\n"}, {"kept", "k"}, {"theirs", "t"}};
    const TreeMerge merged = mergeTrees(base, mine, theirs);
    ASSERT_TRUE(merged.isClean());
    EXPECT_EQ(merged.tree,
              (FileTree{{"a", "one\n2\nthree\n"}, {"kept", "k"}, {"mine", "m"}, {"theirs", "t"}}));
}

TEST(TreeMerge, RemovingWhatTheOtherChangedIsAConflict)
{
    const TreeMerge one = mergeTrees({{"a", "1\n"}}, {{"a", "2\n"}}, {});
    ASSERT_EQ(one.conflicts.size(), 1u);
    EXPECT_EQ(one.conflicts[0].name, "a");
    EXPECT_NE(one.conflicts[0].reason.find("removes"), std::string::npos);
    EXPECT_FALSE(mergeTrees({{"a", "1\n"}}, {}, {{"a", "2\n"}}).isClean());
    EXPECT_FALSE(mergeTrees({}, {{"a", "1\n"}}, {{"a", "2\n"}}).isClean());
    EXPECT_TRUE(mergeTrees({}, {{"a", "1\n"}}, {{"a", "1\n"}}).isClean());
    EXPECT_EQ(mergeTrees({{"a", "1\n"}}, {{"a", "2\n"}}, {{"a", "3\n"}}).conflicts[0].conflicts.size(), 1u);
}

} // namespace

} // namespace heddle
