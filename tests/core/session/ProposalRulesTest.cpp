// SPDX-License-Identifier: Apache-2.0
#include "StoreFixture.h"

namespace heddle::test {

namespace {

class ProposalRules : public StoreFixture {
protected:
    void SetUp() override
    {
        StoreFixture::SetUp();
        startSession("s1");
    }
};

TEST_F(ProposalRules, ANewerProposalForTheSameItemSupersedesTheOpenOneByAnEvent)
{
    openProposal("s1", "p1", "item-1");
    const Event second = openProposal("s1", "p2", "item-1");
    EXPECT_EQ(stateOf("p1"), "superseded");
    EXPECT_EQ(stateOf("p2"), "open");
    const auto events = *store().eventsAfter(second.id);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].type, "proposal_state_changed");
    EXPECT_EQ(events[0].actor, "system");
    EXPECT_EQ(events[0].data["proposal"], "p1");
    EXPECT_NE(events[0].data["reason"].get<std::string>().find("p2"), std::string::npos);
    expectConsistent();
}

TEST_F(ProposalRules, AnotherItemPolicyOrSessionSupersedesNothing)
{
    openProposal("s1", "p1", "item-1");
    openProposal("s1", "p2", "item-2");
    openProposal("s1", "p3", "item-1", "person");
    startSession("s2");
    openProposal("s2", "p4", "item-1");
    for (const char *id : {"p1", "p2", "p3", "p4"})
        EXPECT_EQ(stateOf(id), "open") << id;
}

TEST_F(ProposalRules, ASupersededProposalCanBeReopenedOnlyWhenNoOtherIsOpen)
{
    openProposal("s1", "p1", "item-1");
    openProposal("s1", "p2", "item-1");
    EXPECT_EQ(refusal("", "proposal_state_changed", {{"proposal", "p1"}, {"state", "open"}}), Code::Conflict);
    must("", "person", "proposal_state_changed", {{"proposal", "p2"}, {"state", "withdrawn"}});
    must("", "person", "proposal_state_changed", {{"proposal", "p1"}, {"state", "open"}});
    EXPECT_EQ(stateOf("p1"), "open");
    expectConsistent();
}

TEST_F(ProposalRules, AClosedProposalCanNotBeDecidedAgain)
{
    for (const char *decision : {"accept", "reject"}) {
        const std::string id = std::string("p-") + decision;
        openProposal("s1", id, decision);
        decide(id, decision);
        EXPECT_EQ(refusal("", "decided", {{"proposal", id}, {"decision", "reject"}}), Code::Conflict);
        EXPECT_EQ(refusal("", "proposal_state_changed", {{"proposal", id}, {"state", "stale"}}),
                  Code::Conflict);
    }
    EXPECT_EQ(stateOf("p-accept"), "accepted");
    EXPECT_EQ(stateOf("p-reject"), "rejected");
    EXPECT_EQ(refusal("", "decided", {{"proposal", "nope"}, {"decision", "reject"}}), Code::NotFound);
    EXPECT_EQ(refusal("", "commented", {{"proposal", "nope"}, {"file", "a"}, {"text", "x"}}), Code::NotFound);
    EXPECT_EQ(refusal("s1", "proposal_opened",
                      {{"proposal", "p-accept"}, {"task_path", "t.py"}, {"candidate", "c"}, {"base", ""}}),
              Code::Conflict);
}

TEST_F(ProposalRules, HunksAreDecidedOneByOne)
{
    openProposal("s1", "p1", "");
    decide("p1", "reject", Json::array({"a.cpp:0"}));
    EXPECT_EQ(stateOf("p1"), "open");
    decide("p1", "accept_in_part", Json::array({"a.cpp:1"}));
    EXPECT_EQ(stateOf("p1"), "accepted_in_part");
    decide("p1", "accept_in_part", Json::array({"a.cpp:2"}));
    decide("p1", "reject");
    EXPECT_EQ(stateOf("p1"), "accepted_in_part");
    EXPECT_EQ(store().decisions("t.py")->size(), 4u);
    expectConsistent();
}

TEST_F(ProposalRules, AStaleProposalCanOnlyBeRejectedOrOpenedAgain)
{
    openProposal("s1", "p1", "");
    must("", "system", "proposal_state_changed",
         {{"proposal", "p1"}, {"state", "stale"}, {"reason", "conflict"}});
    EXPECT_EQ(refusal("", "decided", {{"proposal", "p1"}, {"decision", "accept"}}), Code::Conflict);
    must("", "person", "proposal_state_changed", {{"proposal", "p1"}, {"state", "open"}});
    must("", "system", "proposal_state_changed", {{"proposal", "p1"}, {"state", "stale"}});
    decide("p1", "reject");
    EXPECT_EQ(stateOf("p1"), "rejected");
    expectConsistent();
}

TEST_F(ProposalRules, LandingMovesTheHeadAndUndoingMovesItBack)
{
    openProposal("s1", "p1", "");
    const Event accepted = decide("p1", "accept");
    land("p1", accepted.id, "r1", "");
    EXPECT_EQ(headDigest(), "r1");
    const auto rows = *store().decisions("t.py");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].revision, "r1");
    EXPECT_EQ(rows[0].session, "s1");
    EXPECT_EQ(rows[0].actor, "person");
    const Event undone = undo(accepted.id, "", "r1");
    EXPECT_EQ(headDigest(), "");
    EXPECT_EQ(stateOf("p1"), "open");
    EXPECT_EQ((*store().decisions())[0].undoneBy, undone.id);
    EXPECT_EQ(refusal("", "undone",
                      {{"decision", accepted.id}, {"task_path", "t.py"}, {"revision", ""}, {"previous", ""}}),
              Code::Conflict);
    EXPECT_EQ(
        refusal("", "undone", {{"decision", 999}, {"task_path", "t.py"}, {"revision", ""}, {"previous", ""}}),
        Code::NotFound);
    expectConsistent();
}

TEST_F(ProposalRules, TheSecondOfTwoLandingsOnTheSameHeadIsRefused)
{
    openProposal("s1", "p1", "item-1");
    openProposal("s1", "p2", "item-2");
    const Event first = decide("p1", "accept");
    const Event second = decide("p2", "accept");
    land("p1", first.id, "r1", "");
    EXPECT_EQ(refusal("", "landed",
                      {{"proposal", "p2"},
                       {"task_path", "t.py"},
                       {"revision", "r2"},
                       {"previous", ""},
                       {"decision", second.id}}),
              Code::Conflict);
    land("p2", second.id, "r2", "r1");
    EXPECT_EQ(refusal("", "landed",
                      {{"proposal", "p2"},
                       {"task_path", "t.py"},
                       {"revision", "r3"},
                       {"previous", "r2"},
                       {"decision", second.id}}),
              Code::Conflict);
    EXPECT_EQ(refusal("", "landed",
                      {{"proposal", "p2"},
                       {"task_path", "u.py"},
                       {"revision", "r3"},
                       {"previous", ""},
                       {"decision", second.id}}),
              Code::Conflict);
    EXPECT_EQ(headDigest(), "r2");
}

TEST_F(ProposalRules, UndoingARejectLeavesTheHeadAlone)
{
    openProposal("s1", "p1", "");
    const Event rejected = decide("p1", "reject");
    EXPECT_EQ(refusal("", "landed",
                      {{"proposal", "p1"},
                       {"task_path", "t.py"},
                       {"revision", "r"},
                       {"previous", ""},
                       {"decision", rejected.id}}),
              Code::InvalidInput);
    undo(rejected.id, "", "");
    EXPECT_EQ(headDigest(), "none");
    EXPECT_EQ(stateOf("p1"), "open");
}

TEST_F(ProposalRules, UndoingWhileANewerOneIsOpenLeavesTheOldOneSuperseded)
{
    openProposal("s1", "p1", "item-1");
    const Event rejected = decide("p1", "reject");
    openProposal("s1", "p2", "item-1");
    undo(rejected.id, "", "");
    EXPECT_EQ(stateOf("p1"), "superseded");
    EXPECT_EQ(stateOf("p2"), "open");
    expectConsistent();
}

TEST_F(ProposalRules, ARestoreIsADecisionThatCanBeUndone)
{
    const Event restored = land("", 0, "r7", "");
    EXPECT_EQ(headDigest(), "r7");
    const auto rows = *store().decisions("t.py");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].decision, "restore");
    EXPECT_EQ(rows[0].event, restored.id);
    undo(restored.id, "", "r7");
    EXPECT_EQ(headDigest(), "");
    expectConsistent();
}

} // namespace

} // namespace heddle::test
