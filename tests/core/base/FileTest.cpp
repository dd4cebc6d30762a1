// SPDX-License-Identifier: Apache-2.0
#include "core/base/File.h"
#include "core/base/Digest.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace heddle;
namespace fs = std::filesystem;

TEST(File, anAtomicWriteReplacesTheContentAndLeavesNoTemporary)
{
    auto folder = TempFolder::create("heddle-test-");
    ASSERT_TRUE(folder);
    const fs::path path = folder->path() / "a.txt";
    ASSERT_TRUE(writeFileAtomically(path, "one"));
    ASSERT_TRUE(writeFileAtomically(path, std::string_view("two\0three", 9)));
    EXPECT_EQ(readFile(path).value(), std::string("two\0three", 9));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), fs::directory_iterator()), 1);
}

TEST(File, aMissingFileIsNotFoundAndNamesItsPath)
{
    const auto bytes = readFile("/nowhere/at/all");
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().code(), Code::NotFound);
    EXPECT_EQ(bytes.error().where(), "/nowhere/at/all");
}

TEST(File, namesThatLeaveTheFolderAreUnsafe)
{
    for (const char *name : {"", "/etc/passwd", "../x", "a/../../x", "a//b", "./a"})
        EXPECT_FALSE(isSafeRelativePath(name)) << name;
    for (const char *name : {"a", "a/b.cpp", "kernels/..x"})
        EXPECT_TRUE(isSafeRelativePath(name)) << name;
}

TEST(File, aTreeIsWrittenAndReadBackWithoutHiddenFilesAndLinks)
{
    auto folder = TempFolder::create("heddle-test-");
    ASSERT_TRUE(folder);
    const FileTree tree{{"plan.json", "{}"}, {"src/k.cpp", "int x;"}};
    ASSERT_TRUE(writeTree(folder->path(), tree));
    ASSERT_TRUE(writeFileAtomically(folder->path() / ".hidden", "x"));
    fs::create_symlink("/etc/passwd", folder->path() / "link");
    EXPECT_EQ(readTree(folder->path()).value(), tree);
    EXPECT_FALSE(writeTree(folder->path(), {{"../out", "x"}}));
}

TEST(Digest, sha256IsThePublishedValueOfAbc)
{
    EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, movingAByteBetweenFilesChangesTheTreeDigest)
{
    EXPECT_NE(treeDigest({{"a", "xy"}, {"b", "z"}}), treeDigest({{"a", "x"}, {"b", "yz"}}));
}
