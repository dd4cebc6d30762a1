// SPDX-License-Identifier: Apache-2.0
#include "StoreFixture.h"

#include "core/base/Digest.h"

namespace heddle::test {

namespace {

using BlobStoreTest = StoreFixture;

TEST_F(BlobStoreTest, ABlobComesBackUnderTheDigestOfItsBytes)
{
    const std::string bytes("\0\xff\r\n", 4);
    const auto digest = store().putBlob(bytes);
    ASSERT_TRUE(digest) << digest.error().text();
    EXPECT_EQ(*digest, sha256Hex(bytes));
    EXPECT_EQ(*store().blob(*digest), bytes);
    EXPECT_EQ(*store().putBlob(bytes), *digest);
    EXPECT_TRUE(
        std::filesystem::exists(workspace() / ".heddle/blobs" / digest->substr(0, 2) / digest->substr(2)));
    EXPECT_EQ(*store().blob(*store().putBlob("")), "");
}

TEST_F(BlobStoreTest, AMissingOrMalformedDigestIsAnError)
{
    EXPECT_EQ(store().blob(sha256Hex("nothing")).error().code(), Code::NotFound);
    EXPECT_EQ(store().blob("../../../etc/passwd").error().code(), Code::InvalidInput);
    EXPECT_EQ(store().tree(sha256Hex("nothing")).error().code(), Code::NotFound);
}

TEST_F(BlobStoreTest, ADamagedBlobIsNoticedAndCanBePutAgain)
{
    const std::string digest = *store().putBlob("kernel source");
    const auto file = workspace() / ".heddle/blobs" / digest.substr(0, 2) / digest.substr(2);
    ASSERT_TRUE(writeFileAtomically(file, "kernel"));
    EXPECT_EQ(store().blob(digest).error().code(), Code::Io);
    ASSERT_TRUE(store().putBlob("kernel source"));
    EXPECT_EQ(*store().blob(digest), "kernel source");
}

TEST_F(BlobStoreTest, ATreeComesBackWholeUnderItsDigest)
{
    const FileTree tree{{"plan.json", "{}"}, {"src/a.cpp", "int a;"}, {"caf\xc3\xa9 \"q\".txt", ""}};
    const auto digest = store().putTree(tree);
    ASSERT_TRUE(digest) << digest.error().text();
    EXPECT_EQ(*digest, treeDigest(tree));
    EXPECT_EQ(*store().tree(*digest), tree);
    EXPECT_EQ(*store().tree(*store().putTree({})), FileTree());
}

TEST_F(BlobStoreTest, ATreeWithAnUnsafeNameIsRefused)
{
    for (const std::string name : {"../a", "/a", "a\nb", "caf\xe9", ""})
        EXPECT_EQ(store().putTree({{name, "x"}}).error().code(), Code::InvalidInput) << name;
}

} // namespace

} // namespace heddle::test
