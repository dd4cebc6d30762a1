// SPDX-License-Identifier: Apache-2.0
#include "core/compile/ArtefactCache.h"

#include "core/base/Digest.h"
#include "core/base/File.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

namespace heddle {
namespace {

namespace fs = std::filesystem;

class ArtefactCacheTest : public ::testing::Test {
protected:
    ArtefactCacheTest()
        : m_folder(*TempFolder::create("heddle-artefacts-")), m_cache(m_folder.path() / "cubins")
    {
    }
    TempFolder m_folder;
    ArtefactCache m_cache;
    const std::string m_key = sha256Hex("key");
    const std::string m_bytes = std::string("\x7f"
                                            "ELF\0 any bytes\n",
                                            16);
};

TEST_F(ArtefactCacheTest, whatWasStoredIsFoundByItsKeyAlone)
{
    EXPECT_FALSE(m_cache.load(m_key));
    ASSERT_TRUE(m_cache.store(m_key, m_bytes));
    EXPECT_EQ(m_cache.load(m_key), m_bytes);
    EXPECT_FALSE(m_cache.load(sha256Hex("another")));
    ASSERT_TRUE(m_cache.store(m_key, ""));
    EXPECT_FALSE(m_cache.load(m_key)) << "an empty artefact is none";
}

TEST_F(ArtefactCacheTest, aDamagedEntryIsNotBelievedAndMakesRoomForANewOne)
{
    const auto damage = [&](const std::function<void(std::string &)> &change) {
        ASSERT_TRUE(m_cache.store(m_key, m_bytes));
        std::string file = *readFile(m_cache.pathOf(m_key));
        change(file);
        std::ofstream(m_cache.pathOf(m_key), std::ios::binary) << file;
        EXPECT_FALSE(m_cache.load(m_key));
        EXPECT_FALSE(fs::exists(m_cache.pathOf(m_key)));
    };
    damage([](std::string &file) { file.back() ^= 1; });
    damage([](std::string &file) { file.resize(file.size() - 1); });
    damage([](std::string &file) { file += 'x'; });
    damage([](std::string &file) { file.resize(70); });
    damage([](std::string &file) { file.clear(); });
    damage([](std::string &file) { file[3] ^= 1; });
    ASSERT_TRUE(m_cache.store(m_key, m_bytes));
    EXPECT_EQ(m_cache.load(m_key), m_bytes);
}

TEST_F(ArtefactCacheTest, manyWritersOfOneEntryLeaveAWholeOneAndNoTemporaryFile)
{
    const std::string large(200'000, 'x');
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i)
        writers.emplace_back([&] {
            for (int turn = 0; turn < 10; ++turn) {
                EXPECT_TRUE(m_cache.store(m_key, large));
                EXPECT_EQ(m_cache.load(m_key), large);
            }
        });
    writers.clear();
    int files = 0;
    for (const auto &entry : fs::directory_iterator(m_cache.pathOf(m_key).parent_path()))
        files += entry.is_regular_file() ? 1 : 0;
    EXPECT_EQ(files, 1);
}

TEST_F(ArtefactCacheTest, aFolderThatCannotBeWrittenIsAnError)
{
    std::ofstream(m_folder.path() / "file") << "x";
    const ArtefactCache blocked(m_folder.path() / "file");
    EXPECT_FALSE(blocked.store(m_key, m_bytes));
    EXPECT_FALSE(blocked.load(m_key));
}

} // namespace
} // namespace heddle
