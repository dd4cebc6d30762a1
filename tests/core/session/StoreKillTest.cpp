// SPDX-License-Identifier: Apache-2.0
#include "ChildProcess.h"
#include "StoreFixture.h"

#include "core/base/Digest.h"

#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace heddle::test {

namespace {

using StoreKill = StoreFixture;

/// Writes blobs, trees, events and decisions until it is killed; reports "id blob tree" after each append.
int writeForever(const std::filesystem::path &workspace, int round, int fd)
{
    auto opened = Store::open(workspace);
    if (!opened)
        return 1;
    Store &store = **opened;
    std::mt19937 random(static_cast<unsigned>(round));
    for (int i = 0;; ++i) {
        const std::string tag = std::to_string(round) + '-' + std::to_string(i);
        const auto blob = store.putBlob(std::string(random() % 200000, 'a') + tag);
        const auto tree = store.putTree({{"plan.json", "{}" + tag}, {"kernel.cpp", tag}});
        if (!blob || !tree)
            return 2;
        auto event = store.append("s1", "builtin", "note", {{"text", tag}, {"blob", *blob}, {"tree", *tree}});
        if (!event)
            return 3;
        report(fd, std::to_string(event->id) + ' ' + *blob + ' ' + *tree);
        if (i % 3 != 0)
            continue;
        if (!store.append(
                "s1", "builtin", "proposal_opened",
                {{"proposal", "p" + tag}, {"task_path", "t.py"}, {"candidate", *tree}, {"base", ""}}))
            return 4;
        event = store.append("", "person", "decided", {{"proposal", "p" + tag}, {"decision", "reject"}});
        if (!event)
            return 5;
        report(fd, std::to_string(event->id) + ' ' + *blob + ' ' + *tree);
    }
}

TEST_F(StoreKill, NothingThatAppendReturnedIsLostByAKillAtFiftyRandomMoments)
{
    startSession("s1");
    closeStore();
    std::mt19937 random(20261130);
    int survivors = 0;
    for (int round = 0; round < 50; ++round) {
        ChildProcess child([&](int fd) { return writeForever(workspace(), round, fd); });
        // A third dies while it opens, the others while they write.
        std::vector<std::string> reported;
        if (round % 3 != 0) {
            reported.push_back(child.readLine());
            ASSERT_FALSE(reported.back().empty()) << "round " << round << ": the writer failed";
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 30000));
        child.kill();
        ASSERT_EQ(child.wait(), -1) << "round " << round << ": the writer ended by itself";

        auto store = open();
        ASSERT_NE(store, nullptr) << "round " << round;
        const auto checked = store->checkProjections();
        ASSERT_TRUE(checked) << "round " << round << ": " << checked.error().text();
        for (std::string line = child.readLine(); !line.empty(); line = child.readLine())
            reported.push_back(line);
        for (const std::string &line : reported) {
            const std::int64_t id = std::stoll(line);
            const std::string blob = line.substr(line.find(' ') + 1, 64);
            const std::string tree = line.substr(line.find(' ') + 66);
            const auto events = store->eventsAfter(id - 1, "", 1);
            ASSERT_TRUE(events && events->size() == 1 && (*events)[0].id == id)
                << "event " << id << " is lost";
            ASSERT_TRUE(store->blob(blob)) << store->blob(blob).error().text();
            ASSERT_TRUE(store->tree(tree)) << store->tree(tree).error().text();
            ++survivors;
        }
    }
    EXPECT_GE(survivors, 33);

    // No file is half written, under its final name or another.
    for (const auto &entry : std::filesystem::recursive_directory_iterator(workspace() / ".heddle/blobs")) {
        if (!entry.is_regular_file())
            continue;
        const std::string name =
            entry.path().parent_path().filename().string() + entry.path().filename().string();
        ASSERT_EQ(sha256Hex(*readFile(entry.path())), name);
    }
    for (const auto &entry : std::filesystem::recursive_directory_iterator(workspace() / ".heddle/trees"))
        ASSERT_TRUE(entry.is_directory() || entry.path().filename().string().size() == 62u) << entry.path();
}

} // namespace

} // namespace heddle::test
