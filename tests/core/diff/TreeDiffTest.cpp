// SPDX-License-Identifier: Apache-2.0
#include "core/diff/TreeDiff.h"

#include <gtest/gtest.h>

namespace heddle {

namespace {

const FileTree Before{{"kernel.cpp", "a\nb\n1\n2\n3\n4\n5\n6\n7\nc\n"}, {"old.h", "x\n"}, {"same", "s"}};
const FileTree After{{"kernel.cpp", "A\nb\n1\n2\n3\n4\n5\n6\n7\nC\n"}, {"new.h", ""}, {"same", "s"}};

TEST(TreeDiff, ListsTheFilesThatDiffer)
{
    const auto diffs = diffTrees(Before, After);
    ASSERT_EQ(diffs.size(), 3u);
    EXPECT_EQ(diffs[0].name, "kernel.cpp");
    EXPECT_EQ(diffs[0].change, FileChange::Modified);
    EXPECT_EQ(diffs[0].hunks.size(), 2u);
    EXPECT_EQ(diffs[1].name, "new.h");
    EXPECT_EQ(diffs[1].change, FileChange::Added);
    EXPECT_EQ(diffs[1].hunks.size(), 1u);
    EXPECT_EQ(diffs[2].change, FileChange::Removed);
    EXPECT_TRUE(diffTrees(Before, Before).empty());
}

TEST(TreeDiff, ABinaryFileIsSaidToBeOne)
{
    const auto diffs = diffTrees({}, {{"x.bin", std::string("a\0b", 3)}});
    ASSERT_EQ(diffs.size(), 1u);
    EXPECT_TRUE(diffs[0].isBinary);
}

TEST(TreeDiff, AnEmptySelectionIsEverything) { EXPECT_EQ(*applySelection(Before, After, {}), After); }

TEST(TreeDiff, FilesAndHunksAreTakenSeparately)
{
    EXPECT_EQ(*applySelection(Before, After, {{"kernel.cpp", "new.h", "old.h"}, {}}), After);
    FileTree expected = Before;
    expected["kernel.cpp"] = "A\nb\n1\n2\n3\n4\n5\n6\n7\nc\n";
    EXPECT_EQ(*applySelection(Before, After, {{}, {{"kernel.cpp", 0}}}), expected);
    expected["kernel.cpp"] = After.at("kernel.cpp");
    EXPECT_EQ(*applySelection(Before, After, {{}, {{"kernel.cpp", 1}, {"kernel.cpp", 0}}}), expected);
    expected.erase("old.h");
    expected["new.h"] = "";
    EXPECT_EQ(*applySelection(Before, After, {{"kernel.cpp"}, {{"old.h", 0}, {"new.h", 0}}}), expected);
}

TEST(TreeDiff, WhatIsNotInTheDiffCanNotBeTaken)
{
    for (const TreeSelection &selection :
         {TreeSelection{{"same"}, {}}, TreeSelection{{"none"}, {}}, TreeSelection{{}, {{"kernel.cpp", 2}}},
          TreeSelection{{}, {{"new.h", 1}}}, TreeSelection{{}, {{"none", 0}}}}) {
        const auto tree = applySelection(Before, After, selection);
        ASSERT_FALSE(tree);
        EXPECT_EQ(tree.error().code(), Code::InvalidInput);
    }
}

} // namespace

} // namespace heddle
