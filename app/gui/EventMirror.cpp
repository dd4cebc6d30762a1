// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/EventMirror.h"

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
        m_taskDigests = std::move(news.taskDigests);
    }
    for (Event &event : news.events) {
        if (event.type == "judged")
            noteVerdict(event);
        if (!event.session.empty())
            m_taskEvents[taskOfSession(event.session)].push_back(m_events.size());
        m_events.push_back(std::move(event));
    }
}

void EventMirror::noteVerdict(const Event &event)
{
    m_newestVerdicts[taskOfSession(event.session)] = event.id;
    const Judged made{stringOr(event.data, "task_digest"), event.id,
                      Report::isConfirmed(memberOr(event.data, "report"))};
    std::vector<Judged> &known = m_verdicts[stringOr(event.data, "candidate")];
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&made](const Judged &one) { return one.taskDigest == made.taskDigest; });
    if (same == known.end())
        known.push_back(made);
    else if (made.isConfirmed || !same->isConfirmed) // a quick verdict never hides a confirmed one
        *same = made;
}

bool EventMirror::isPresent(const std::string &taskPath, const std::string &taskDigest) const
{
    const auto found = m_taskDigests.find(taskPath);
    return found != m_taskDigests.end() && found->second == taskDigest;
}

const EventMirror::Judged *EventMirror::judged(const std::string &candidate,
                                               const std::string &taskPath) const
{
    const auto found = m_verdicts.find(candidate);
    if (found == m_verdicts.end())
        return nullptr;
    const Judged *newest = nullptr;
    for (const Judged &one : found->second) {
        if (isPresent(taskPath, one.taskDigest))
            return &one;
        if (newest == nullptr || one.event > newest->event)
            newest = &one;
    }
    return newest;
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

ShownVerdict EventMirror::verdict(const std::string &candidate, const std::string &taskPath) const
{
    const Judged *found = judged(candidate, taskPath);
    const Event *source = found != nullptr ? event(found->event) : nullptr;
    if (source == nullptr)
        return {};
    return {&memberOr(source->data, "report"), !isPresent(taskPath, found->taskDigest)};
}

std::int64_t EventMirror::verdictEvent(const std::string &candidate, const std::string &taskPath) const
{
    const Judged *found = judged(candidate, taskPath);
    return found != nullptr ? found->event : 0;
}

QHash<QString, ShownVerdict> EventMirror::proposalVerdicts() const
{
    QHash<QString, ShownVerdict> verdicts;
    for (const ProposalRow &row : m_proposals)
        verdicts.insert(toText(row.id), verdict(row.candidate, row.taskPath));
    return verdicts;
}

std::map<std::string, ShownVerdict> EventMirror::taskVerdicts() const
{
    std::map<std::string, ShownVerdict> verdicts;
    for (const auto &[taskPath, id] : m_newestVerdicts) {
        if (const Event *source = event(id); source != nullptr)
            verdicts[taskPath] = {&memberOr(source->data, "report"),
                                  !isPresent(taskPath, stringOr(source->data, "task_digest"))};
    }
    return verdicts;
}

std::string EventMirror::bestCandidate(const std::string &taskPath) const
{
    for (auto event = m_events.rbegin(); event != m_events.rend(); ++event) {
        if (event->type == "judged" && taskOfSession(event->session) == taskPath
            && isPresent(taskPath, stringOr(event->data, "task_digest"))
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
