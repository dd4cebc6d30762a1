// SPDX-License-Identifier: Apache-2.0
#include "StoreFixture.h"

#include "core/session/EventFollower.h"

#include <cstdlib>
#include <limits>
#include <thread>

namespace heddle::test {

namespace {

using StoreTest = StoreFixture;

TEST_F(StoreTest, AnAppendedEventComesBackAsItWas)
{
    startSession("s1");
    const Event note =
        must("s1", "builtin", "note", {{"text", "fuse"}, {"figures", Json::array({{{"value", 1.5}}})}});
    const auto events = store().eventsAfter(0);
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 2u);
    const Event &last = events->back();
    EXPECT_EQ(last.id, note.id);
    EXPECT_EQ(last.session, "s1");
    EXPECT_EQ(last.actor, "builtin");
    EXPECT_EQ(last.type, "note");
    EXPECT_EQ(last.data, note.data);
    EXPECT_EQ(last.time, note.time);
    EXPECT_EQ(last.time.size(), std::string("2026-11-30T10:30:45.123Z").size());
    EXPECT_EQ(*store().lastEventId(), note.id);
}

TEST_F(StoreTest, EventsAreFilteredBySessionIdAndCount)
{
    startSession("a");
    startSession("b");
    for (int i = 0; i < 5; ++i)
        must(i % 2 == 0 ? "a" : "b", "builtin", "note", {{"text", std::to_string(i)}});
    EXPECT_EQ(store().eventsAfter(0, "b")->size(), 3u);
    EXPECT_EQ(store().eventsAfter(2, "a")->size(), 3u);
    EXPECT_EQ(store().eventsAfter(0, "", 4)->size(), 4u);
}

TEST_F(StoreTest, ASessionHasARowFromItsStartToItsEnd)
{
    startSession("s1");
    EXPECT_EQ((*store().session("s1"))->state, "running");
    must("s1", "builtin", "session_ended", {{"reason", "at_roof"}});
    const auto row = *store().session("s1");
    EXPECT_EQ(row->state, "at_roof");
    EXPECT_EQ(row->taskPath, "t.py");
    EXPECT_EQ(row->taskDigest, "d1");
    EXPECT_FALSE(row->endedAt.empty());
    EXPECT_EQ(store().sessions("t.py")->size(), 1u);
    EXPECT_EQ(store().sessions("other.py")->size(), 0u);
    EXPECT_EQ(refusal("s1", "session_ended", {{"reason", "done"}}), Code::Conflict);
    EXPECT_EQ(refusal("nobody", "note", {{"text", "x"}}), Code::NotFound);
}

TEST_F(StoreTest, TheNewestVerdictOfAStageCounts)
{
    startSession("s1");
    const auto judge = [&](const std::string &stage, const std::string &word) {
        must("s1", "builtin", "judged",
             {{"candidate", "c"},
              {"stage", stage},
              {"task_digest", "d1"},
              {"report", {{"verdict", {{"class", word}}}}}});
    };
    EXPECT_FALSE(*store().verdict("c"));
    judge("quick", "wrong");
    judge("quick", "clean");
    judge("confirmed", "suspicious");
    EXPECT_EQ((*store().verdict("c", "quick"))->verdictClass, "clean");
    EXPECT_EQ((*store().verdict("c"))->verdictClass, "suspicious");
    EXPECT_EQ((*store().verdict("c"))->report, Json({{"verdict", {{"class", "suspicious"}}}}));
}

TEST_F(StoreTest, AVerdictIsOneOfTheTextOfTheTaskThatWasJudged)
{
    startSession("s1");
    for (const char *digest : {"d1", "d2"})
        must("s1", "builtin", "judged",
             {{"candidate", "c"},
              {"stage", "quick"},
              {"task_digest", digest},
              {"report", {{"verdict", {{"class", digest == std::string("d1") ? "clean" : "wrong"}}}}}});
    EXPECT_EQ((*store().verdict("c", {}, "d1"))->verdictClass, "clean");
    EXPECT_EQ((*store().verdict("c", "quick", "d2"))->verdictClass, "wrong");
    EXPECT_FALSE(*store().verdict("c", "confirmed", "d1"));
    EXPECT_FALSE(*store().verdict("c", {}, "d3"));
}

TEST_F(StoreTest, ACandidateKeepsItsFirstParentAndItsPolicy)
{
    startSession("s1");
    must("s1", "system", "candidate_created", {{"candidate", "c"}, {"parent", "p"}, {"format", "native"}});
    must("s1", "person", "candidate_created", {{"candidate", "c"}, {"parent", "q"}, {"format", "native"}});
    const auto rows = *store().candidates("s1");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].parent, "p");
    EXPECT_EQ(rows[0].policy, "builtin");
}

TEST_F(StoreTest, ThePlanIsReplacedAndItsItemsChange)
{
    startSession("s1");
    must("s1", "builtin", "plan_written", {{"items", {{{"id", "item-1"}, {"title", "old"}}}}});
    must("s1", "builtin", "plan_written",
         {{"items", {{{"id", "item-2"}, {"title", "b"}}, {{"id", "item-1"}, {"title", "a"}}}}});
    must("s1", "builtin", "plan_item_changed", {{"id", "item-1"}, {"state", "done"}, {"note", "ok"}});
    const auto items = *store().planItems("s1");
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].id, "item-2");
    EXPECT_EQ(items[0].state, "open");
    EXPECT_EQ(items[1].state, "done");
    EXPECT_EQ(items[1].note, "ok");
    EXPECT_EQ(refusal("s1", "plan_item_changed", {{"id", "item-9"}, {"state", "done"}}), Code::NotFound);
    expectConsistent();
}

TEST_F(StoreTest, HostileValuesAreKeptOrReplacedButNeverBreakTheLog)
{
    const std::string nul("a\0b", 3);
    const std::string invalid = "\xff\xfe caf\xe9";
    const std::string huge(8u << 20, 'x');
    const std::string quote = "'; DROP TABLE events; --";
    startSession(nul);
    startSession(quote);
    must(nul, invalid, "note", {{"text", huge}});
    must(quote, "builtin", "note", {{"text", nul + invalid}});
    must(quote, "builtin", "plan_written", {{"items", {{{"id", nul}, {"title", invalid}}, 3, nullptr}}});
    must(quote, "builtin", "note", {{"text", "x"}, {"figures", {std::numeric_limits<double>::infinity()}}});
    openProposal(nul, nul, quote);
    EXPECT_EQ(stateOf(nul), "open");
    EXPECT_EQ((*store().session(nul))->id, nul);
    const auto events = *store().eventsAfter(0, nul);
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[1].data["text"].get<std::string>(), huge);
    EXPECT_NE(events[1].actor.find("caf"), std::string::npos);
    EXPECT_EQ((*store().planItems(quote))[0].id, nul);
    EXPECT_EQ(refusal(quote, "note", {{"text", std::string(65u << 20, 'y')}}), Code::InvalidInput);
    expectConsistent();
}

TEST_F(StoreTest, AFollowerSeesOwnAndOtherStoresEventsOnceInOrder)
{
    auto other = open();
    EventFollower mine(store(), 0);
    EventFollower theirs(*other, 0);
    startSession("s1");
    ASSERT_TRUE(other->append("s1", "person", "note", {{"text", "from the other"}}));
    must("s1", "builtin", "note", {{"text", "from here"}});
    for (EventFollower *follower : {&mine, &theirs}) {
        const auto events = follower->poll();
        ASSERT_TRUE(events) << events.error().text();
        ASSERT_EQ(events->size(), 3u);
        EXPECT_EQ((*events)[1].actor, "person");
        EXPECT_LT((*events)[1].id, (*events)[2].id);
        EXPECT_TRUE(follower->poll()->empty());
    }
    ASSERT_TRUE(other->append("s1", "person", "note", {{"text", "again"}}));
    EXPECT_EQ(mine.poll()->size(), 1u);
    EXPECT_EQ(theirs.poll()->size(), 1u);
}

TEST_F(StoreTest, AFollowerOfOneSessionSeesThatOneOnly)
{
    startSession("a");
    startSession("b");
    EventFollower follower(store(), *store().lastEventId(), "b");
    must("a", "builtin", "note", {{"text", "no"}});
    EXPECT_TRUE(follower.poll()->empty());
    must("b", "builtin", "note", {{"text", "yes"}});
    EXPECT_EQ(follower.poll()->size(), 1u);
}

TEST_F(StoreTest, AWriterThatWaitsTooLongGetsAConflict)
{
    startSession("s1");
    auto blocked = open({.busyTimeout = std::chrono::milliseconds(50)});
    // A lease is taken inside a write transaction, so a slow writer is imitated by SQLite itself.
    const std::string command = "sqlite3 '" + databaseFile().string() + "' 'BEGIN IMMEDIATE;' '.shell touch "
        + (workspace() / "locked").string() + "' '.shell sleep 1' 'ROLLBACK;'";
    std::thread writer([&] { EXPECT_EQ(std::system(command.c_str()), 0); });
    while (!std::filesystem::exists(workspace() / "locked"))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto event = blocked->append("s1", "builtin", "note", {{"text", "x"}});
    writer.join();
    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().code(), Code::Conflict) << event.error().text();
    EXPECT_TRUE(blocked->append("s1", "builtin", "note", {{"text", "x"}}));
}

} // namespace

} // namespace heddle::test
