// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/Store.h"

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
    /// Newest report by candidate digest, confirmed before quick.
    const QHash<QString, Json> &reports() const { return m_reports; }
    /// The event of the newest verdict of a candidate.
    std::int64_t verdictEvent(const std::string &candidate) const;
    /// The newest clean candidate judged for the task, for badges and export: digest, or empty.
    std::string bestCandidate(const std::string &taskPath) const;
    std::string sessionOfCandidate(const std::string &candidate) const;

private:
    std::vector<Event> m_events;
    std::map<std::string, std::string> m_sessionTasks;
    std::map<std::string, std::vector<std::size_t>> m_taskEvents; ///< places in m_events by task
    std::vector<ProposalRow> m_proposals;
    std::vector<DecisionRow> m_decisions;
    QHash<QString, Json> m_reports;
    std::map<std::string, std::int64_t> m_verdictEvents;
};

} // namespace heddle
