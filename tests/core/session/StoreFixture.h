// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/Store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heddle::test {

/// A fresh workspace with an open store and shorthands for the events that tests need.
class StoreFixture : public ::testing::Test {
protected:
    void SetUp() override
    {
        auto made = TempFolder::create("heddle-session-");
        ASSERT_TRUE(made) << made.error().text();
        m_folder = std::make_unique<TempFolder>(*std::move(made));
        m_store = open();
        ASSERT_NE(m_store, nullptr);
    }

    std::filesystem::path workspace() const { return m_folder->path(); }
    std::filesystem::path databaseFile() const { return workspace() / ".heddle" / "workspace.db"; }
    Store &store() { return *m_store; }
    void closeStore() { m_store.reset(); }

    std::unique_ptr<Store> open(const StoreOptions &options = {})
    {
        auto opened = Store::open(workspace(), options);
        EXPECT_TRUE(opened) << opened.error().text();
        return opened ? *std::move(opened) : nullptr;
    }

    Event must(const std::string &session, const std::string &actor, const std::string &type,
               const Json &data)
    {
        auto event = m_store->append(session, actor, type, data);
        EXPECT_TRUE(event) << type << ": " << event.error().text();
        return event ? *std::move(event) : Event();
    }
    Event startSession(const std::string &id)
    {
        return must(id, "builtin", "session_started",
                    {{"task", {{"name", "t"}, {"path", "t.py"}, {"digest", "d1"}}},
                     {"target", "cpu"},
                     {"policy", "builtin"}});
    }
    Event openProposal(const std::string &session, const std::string &id, const std::string &item,
                       const std::string &actor = "builtin")
    {
        return must(session, actor, "proposal_opened",
                    {{"proposal", id},
                     {"task_path", "t.py"},
                     {"candidate", "c-" + id},
                     {"base", ""},
                     {"item", item}});
    }
    Event decide(const std::string &proposal, const std::string &decision, const Json &hunks = Json::array())
    {
        return must("", "person", "decided",
                    {{"proposal", proposal}, {"decision", decision}, {"hunks", hunks}});
    }
    Event land(const std::string &proposal, std::int64_t decision, const std::string &revision,
               const std::string &previous)
    {
        return must("", "person", "landed",
                    {{"proposal", proposal},
                     {"task_path", "t.py"},
                     {"revision", revision},
                     {"previous", previous},
                     {"decision", decision}});
    }
    Event undo(std::int64_t decision, const std::string &revision, const std::string &previous)
    {
        return must(
            "", "person", "undone",
            {{"decision", decision}, {"task_path", "t.py"}, {"revision", revision}, {"previous", previous}});
    }
    std::string stateOf(const std::string &proposal)
    {
        const auto row = m_store->proposal(proposal);
        return row && *row ? (*row)->state : "missing";
    }
    std::string headDigest()
    {
        const auto row = m_store->head("t.py");
        return row && *row ? (*row)->digest : "none";
    }
    Code refusal(const std::string &session, const std::string &type, const Json &data)
    {
        const auto before = m_store->lastEventId();
        const auto event = m_store->append(session, "person", type, data);
        EXPECT_FALSE(event) << type << " was appended";
        EXPECT_EQ(*m_store->lastEventId(), *before) << "a refused event left a row";
        return event ? Code::Internal : event.error().code();
    }
    void expectConsistent()
    {
        const auto checked = m_store->checkProjections();
        EXPECT_TRUE(checked) << checked.error().text();
    }

private:
    std::unique_ptr<TempFolder> m_folder;
    std::unique_ptr<Store> m_store;
};

} // namespace heddle::test
