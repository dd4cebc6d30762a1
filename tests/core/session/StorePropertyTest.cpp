// SPDX-License-Identifier: Apache-2.0
#include "StoreFixture.h"

#include <map>
#include <random>

namespace heddle::test {

namespace {

/// Random acts, sensible and not. Which of them are refused is the store's business; what is appended
/// must project as a replay does.
class RandomActs {
public:
    RandomActs(Store &store, unsigned seed) : m_store(store), m_random(seed) {}

    bool step()
    {
        switch (pick(12)) {
        case 0:
            return try_("session_started",
                        {{"task", {{"name", "t"}, {"path", task()}, {"digest", name("d")}}},
                         {"target", "cpu"},
                         {"policy", actor()}});
        case 1: return pick(4) == 0 && try_("session_ended", {{"reason", "done"}});
        case 2:
            return try_("plan_written",
                        {{"items", {{{"id", name("i")}, {"title", "t"}}, {{"id", name("i")}}}}});
        case 3: return try_("plan_item_changed", {{"id", name("i")}, {"state", "done"}});
        case 4:
            return try_("candidate_created",
                        {{"candidate", name("c")}, {"parent", name("c")}, {"format", "native"}});
        case 5:
            return try_("judged",
                        {{"candidate", name("c")},
                         {"stage", pick(2) == 0 ? "quick" : "confirmed"},
                         {"task_digest", "d"},
                         {"report", {{"verdict", {{"class", name("k")}}}}}});
        case 6:
        case 7:
            return try_("proposal_opened",
                        {{"proposal", "p" + std::to_string(pick(60))},
                         {"task_path", task()},
                         {"candidate", name("c")},
                         {"base", ""},
                         {"item", name("i")}});
        case 8: {
            static const char *const states[] = {"open", "superseded", "stale", "withdrawn"};
            return try_("proposal_state_changed",
                        {{"proposal", "p" + std::to_string(pick(60))}, {"state", states[pick(4)]}});
        }
        case 9: return decide();
        case 10: return land(0);
        default: return undo();
        }
    }

private:
    int pick(int count) { return static_cast<int>(m_random() % static_cast<unsigned>(count)); }
    std::string name(const char *prefix) { return prefix + std::to_string(pick(4)); }
    std::string task() { return pick(2) == 0 ? "a.py" : "b.py"; }
    std::string actor()
    {
        static const char *const actors[] = {"person", "builtin", "system"};
        return actors[pick(3)];
    }
    std::string head(const std::string &task)
    {
        const auto row = m_store.head(task);
        return row && *row ? (*row)->digest : "";
    }
    bool try_(const std::string &type, const Json &data)
    {
        return m_store.append(name("s"), actor(), type, data).has_value();
    }
    bool decide()
    {
        static const char *const words[] = {"accept", "accept_in_part", "reject"};
        const std::string id = "p" + std::to_string(pick(60));
        const auto event = m_store.append("", actor(), "decided",
                                          {{"proposal", id},
                                           {"decision", words[pick(3)]},
                                           {"hunks", pick(2) == 0 ? Json::array() : Json::array({1})}});
        if (!event)
            return false;
        return pick(2) == 0 ? land(event->id) : true;
    }
    bool land(std::int64_t decision)
    {
        const std::string where = task();
        return m_store
            .append("", actor(), "landed",
                    {{"proposal", ""},
                     {"task_path", where},
                     {"revision", name("r")},
                     {"previous", pick(4) == 0 ? "x" : head(where)},
                     {"decision", decision}})
            .has_value();
    }
    bool undo()
    {
        const auto rows = m_store.decisions();
        if (!rows || rows->empty())
            return false;
        const DecisionRow &row = (*rows)[static_cast<std::size_t>(pick(static_cast<int>(rows->size())))];
        const std::string where = task();
        return m_store
            .append("", actor(), "undone",
                    {{"decision", row.event},
                     {"task_path", where},
                     {"revision", row.previousHead},
                     {"previous", head(where)}})
            .has_value();
    }

    Store &m_store;
    std::mt19937 m_random;
};

using StoreProperty = StoreFixture;

TEST_F(StoreProperty, ProjectionsOfAnyHistoryEqualThoseRebuiltFromItsEvents)
{
    for (unsigned seed = 1; seed <= 8; ++seed) {
        RandomActs acts(store(), seed);
        int appended = 0;
        for (int step = 0; step < 250; ++step)
            appended += acts.step() ? 1 : 0;
        EXPECT_GT(appended, 40) << "seed " << seed;
        const auto checked = store().checkProjections();
        ASSERT_TRUE(checked) << "seed " << seed << ": " << checked.error().text();
    }
    // At most one proposal of an item is open, whatever happened.
    std::map<std::string, int> open;
    const auto rows = *store().proposals();
    for (const ProposalRow &row : rows) {
        if (row.state == "open") {
            EXPECT_EQ(++open[row.session + '/' + row.policy + '/' + row.item], 1) << row.id;
        }
    }
    EXPECT_FALSE(open.empty());
}

} // namespace

} // namespace heddle::test
