// SPDX-License-Identifier: Apache-2.0
#include "core/session/EventFollower.h"

#include <utility>

namespace heddle {

namespace {

constexpr int BatchSize = 10000;

} // namespace

EventFollower::EventFollower(Store &store, std::int64_t afterId, std::string session)
    : m_store(store), m_lastSeen(afterId), m_session(std::move(session))
{
}

Result<std::vector<Event>> EventFollower::poll()
{
    // Read first: what is committed after this moves the counter and is looked at in the next poll.
    HEDDLE_TRY(const std::int64_t counter, m_store.changeCounter());
    if (counter == m_counter)
        return std::vector<Event>();
    HEDDLE_TRY(std::vector<Event> events, m_store.eventsAfter(m_lastSeen, m_session, BatchSize));
    if (!events.empty())
        m_lastSeen = events.back().id;
    if (events.size() < BatchSize)
        m_counter = counter;
    return events;
}

} // namespace heddle
