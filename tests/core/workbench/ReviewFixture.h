// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/workbench/LocalWorkbench.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heddle::test {

/// A workspace with the task `t.py`, whose head lives in `t.heddle/`.
class ReviewFixture : public ::testing::Test {
protected:
    void SetUp() override
    {
        auto made = TempFolder::create("heddle-review-");
        ASSERT_TRUE(made) << made.error().text();
        m_folder = std::make_unique<TempFolder>(*std::move(made));
        ASSERT_TRUE(writeFileAtomically(m_folder->path() / "t.py", "class Model: pass\n"));
        auto store = Store::open(m_folder->path());
        ASSERT_TRUE(store) << store.error().text();
        auto connection = WorkerConnection::create(Environment{}, "cpu");
        ASSERT_TRUE(connection) << connection.error().text();
        m_workbench =
            std::make_unique<LocalWorkbench>(Environment{}, *std::move(store), *std::move(connection));
        auto session = m_workbench->startSession(m_folder->path() / "t.py", "builtin");
        ASSERT_TRUE(session) << session.error().text();
        m_session = *session;
    }

    Workbench &workbench() { return *m_workbench; }
    /// As another window or command line has it.
    std::unique_ptr<Workbench> another()
    {
        auto made = Workbench::create(Environment{}, m_folder->path(), "cpu");
        EXPECT_TRUE(made) << made.error().text();
        return made ? *std::move(made) : nullptr;
    }
    Store &store() { return m_workbench->store(); }
    const std::string &session() const { return m_session; }
    std::filesystem::path head() const { return m_workbench->headFolder("t.py"); }

    /// Opens a proposal of these files on the present head. Items differ, so that none supersedes another.
    std::string propose(const FileTree &files)
    {
        const std::string digest = candidate(files);
        auto proposal =
            m_workbench->propose(m_session, digest, "item-" + std::to_string(++m_items), "faster");
        EXPECT_TRUE(proposal) << proposal.error().text();
        return proposal ? *proposal : std::string();
    }

    /// Stores the files with a verdict, as a judgement does.
    std::string candidate(const FileTree &files)
    {
        auto digest = store().putTree(files);
        EXPECT_TRUE(digest) << digest.error().text();
        must("judged",
             {{"candidate", *digest},
              {"stage", "confirmed"},
              {"task_digest", taskDigest()},
              {"report", {{"verdict", {{"class", "clean"}}}}}});
        return *digest;
    }

    /// Of the task as it is on disk now.
    std::string taskDigest()
    {
        const auto digest = presentTaskDigest(m_folder->path(), "t.py", Environment().mode);
        EXPECT_TRUE(digest) << digest.error().text();
        return digest ? *digest : std::string();
    }
    void rewriteTask(const std::string &text) const
    {
        ASSERT_TRUE(writeFileAtomically(m_folder->path() / "t.py", text));
    }

    Event must(const std::string &type, const Json &data)
    {
        auto event = store().append(m_session, "system", type, data);
        EXPECT_TRUE(event) << event.error().text();
        return event ? *event : Event();
    }

    Json accept(const std::string &proposal, const Selection &selection = {},
                const FileTree &openBuffers = {})
    {
        auto landed = m_workbench->accept(proposal, selection, "person", openBuffers);
        EXPECT_TRUE(landed) << landed.error().text();
        return landed ? *landed : Json();
    }

    FileTree onDisk() const
    {
        auto tree = readTree(head());
        return tree ? *tree : FileTree();
    }
    void type(const std::string &name, const std::string &text) const
    {
        ASSERT_TRUE(writeTree(head(), {{name, text}}));
    }
    std::string stateOf(const std::string &proposal) { return (*store().proposal(proposal))->state; }
    std::string headDigest()
    {
        const auto row = *store().head("t.py");
        return row ? row->digest : std::string();
    }

private:
    std::unique_ptr<TempFolder> m_folder;
    std::unique_ptr<Workbench> m_workbench;
    std::string m_session;
    int m_items = 0;
};

/// Lines "1" to "24", those of `changed` replaced; far enough apart they are hunks of their own.
inline std::string numberedLines(const std::map<int, std::string> &changed = {}, const char *end = "\n")
{
    std::string text;
    for (int line = 1; line <= 24; ++line) {
        const auto found = changed.find(line);
        text += (found == changed.end() ? std::to_string(line) : found->second) + end;
    }
    return text;
}

} // namespace heddle::test
