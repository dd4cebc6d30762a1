// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/Store.h"
#include "widgets/common/Report.h"

#include <QHash>
#include <QString>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What the store held at one poll: rows of its projections and the events that are new. A value.
struct StoreNews {
    std::vector<Event> events;
    bool hasMore = false; ///< more events are there already; the rows below come with the last of them
    std::vector<SessionRow> sessions;
    std::vector<ProposalRow> proposals;
    std::vector<DecisionRow> decisions;
    std::map<std::string, std::string> taskDigests; ///< of the tasks as they are on disk, by path
};

/// The committed state as the window last saw it. Plain data on the GUI thread; only StoreNews changes it.
class EventMirror {
public:
    void apply(StoreNews news);

    const std::vector<Event> &events() const { return m_events; }
    const Event *event(std::int64_t id) const;
    /// Events of all sessions on the task, oldest first; valid until the next apply().
    std::vector<const Event *> eventsOfTask(const std::string &taskPath) const;
    std::string taskOfSession(const std::string &session) const;
    const std::vector<ProposalRow> &proposals() const { return m_proposals; }
    std::optional<ProposalRow> proposal(const std::string &id) const;
    const std::vector<DecisionRow> &decisions() const { return m_decisions; }
    /// Digest of the tree that is the task's head; empty at first.
    std::string headRevision(const std::string &taskPath) const;
    /// The newest decision on a proposal that nobody has undone.
    std::optional<DecisionRow> lastDecision(const std::string &proposal) const;
    /// The newest verdict of a candidate for the task as it is on disk, confirmed before quick; without one, the newest for
    /// another text of the task. Valid until the next apply().
    ShownVerdict verdict(const std::string &candidate, const std::string &taskPath) const;
    /// The event of that verdict, or 0.
    std::int64_t verdictEvent(const std::string &candidate, const std::string &taskPath) const;
    /// verdict() of each proposal by its id.
    QHash<QString, ShownVerdict> proposalVerdicts() const;
    /// The newest verdict of each task that has any, whatever the candidate. Valid until the next apply().
    std::map<std::string, ShownVerdict> taskVerdicts() const;
    /// The newest candidate that is clean for the task as it is on disk, for export: digest, or empty.
    std::string bestCandidate(const std::string &taskPath) const;
    std::string sessionOfCandidate(const std::string &candidate) const;

private:
    struct Judged {
        std::string taskDigest;
        std::int64_t event = 0;
        bool isConfirmed = false;
    };

    void noteVerdict(const Event &event);
    bool isPresent(const std::string &taskPath, const std::string &taskDigest) const;
    const Judged *judged(const std::string &candidate, const std::string &taskPath) const;

    std::vector<Event> m_events;
    std::map<std::string, std::string> m_sessionTasks;
    std::map<std::string, std::vector<std::size_t>> m_taskEvents; ///< places in m_events by task
    std::vector<ProposalRow> m_proposals;
    std::vector<DecisionRow> m_decisions;
    std::map<std::string, std::string> m_taskDigests;
    std::map<std::string, std::vector<Judged>> m_verdicts; ///< by candidate, one for each text of a task
    std::map<std::string, std::int64_t> m_newestVerdicts;  ///< event by task
};

} // namespace heddle
