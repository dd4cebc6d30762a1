// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/EventMirror.h"

#include "widgets/common/Report.h"
#include "widgets/common/Text.h"

#include <algorithm>

namespace heddle {

void EventMirror::apply(StoreNews news)
{
    for (const SessionRow &session : news.sessions)
        m_sessionTasks[session.id] = session.taskPath;
    if (!news.hasMore) {
        m_proposals = std::move(news.proposals);
        m_decisions = std::move(news.decisions);
    }
    for (Event &event : news.events) {
        if (event.type == "judged") {
            const std::string candidate = stringOr(event.data, "candidate");
            const QString key = toText(candidate);
            const Json &report = memberOr(event.data, "report");
            // A quick verdict never hides a confirmed one.
            if (!m_reports.contains(key) || !Report::isConfirmed(m_reports.value(key))
                || Report::isConfirmed(report)) {
                m_reports.insert(key, report);
                m_verdictEvents[candidate] = event.id;
            }
        }
        if (!event.session.empty())
            m_taskEvents[taskOfSession(event.session)].push_back(m_events.size());
        m_events.push_back(std::move(event));
    }
}

const Event *EventMirror::event(std::int64_t id) const
{
    const auto found =
        std::lower_bound(m_events.begin(), m_events.end(), id,
                         [](const Event &event, std::int64_t wanted) { return event.id < wanted; });
    return found != m_events.end() && found->id == id ? &*found : nullptr;
}

std::string EventMirror::taskOfSession(const std::string &session) const
{
    const auto found = m_sessionTasks.find(session);
    return found == m_sessionTasks.end() ? std::string() : found->second;
}

std::vector<const Event *> EventMirror::eventsOfTask(const std::string &taskPath) const
{
    std::vector<const Event *> events;
    const auto found = m_taskEvents.find(taskPath);
    if (found == m_taskEvents.end())
        return events;
    for (const std::size_t place : found->second)
        events.push_back(&m_events[place]);
    return events;
}

std::optional<ProposalRow> EventMirror::proposal(const std::string &id) const
{
    for (const ProposalRow &row : m_proposals) {
        if (row.id == id)
            return row;
    }
    return std::nullopt;
}

std::optional<DecisionRow> EventMirror::lastDecision(const std::string &proposal) const
{
    std::optional<DecisionRow> last;
    for (const DecisionRow &row : m_decisions) {
        if (row.proposal == proposal && row.undoneBy == 0 && (!last || row.event > last->event))
            last = row;
    }
    return last;
}

std::string EventMirror::headRevision(const std::string &taskPath) const
{
    for (auto event = m_events.rbegin(); event != m_events.rend(); ++event) {
        if ((event->type != "landed" && event->type != "undone")
            || stringOr(event->data, "task_path") != taskPath)
            continue;
        std::string revision = stringOr(event->data, "revision");
        // Undoing what landed nothing (a rejection) leaves the head alone.
        if (event->type == "landed" || !revision.empty() || !stringOr(event->data, "previous").empty())
            return revision;
    }
    return {};
}

std::int64_t EventMirror::verdictEvent(const std::string &candidate) const
{
    const auto found = m_verdictEvents.find(candidate);
    return found == m_verdictEvents.end() ? 0 : found->second;
}

std::string EventMirror::bestCandidate(const std::string &taskPath) const
{
    for (auto event = m_events.rbegin(); event != m_events.rend(); ++event) {
        if (event->type == "judged" && taskOfSession(event->session) == taskPath
            && Report::verdictClass(memberOr(event->data, "report")) == "clean")
            return stringOr(event->data, "candidate");
    }
    return {};
}

std::string EventMirror::sessionOfCandidate(const std::string &candidate) const
{
    for (auto event = m_events.rbegin(); event != m_events.rend(); ++event) {
        if ((event->type == "judged" || event->type == "candidate_created")
            && stringOr(event->data, "candidate") == candidate)
            return event->session;
    }
    return {};
}

} // namespace heddle
