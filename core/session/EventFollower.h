// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/Store.h"

#include <chrono>

namespace heddle {

/// Follows a workspace's events, whoever appends them: this Store, another one, another process. The owner
/// calls poll() from the Store's thread, at least every `interval`; no threads of its own. A poll without
/// news costs one pragma. `store` outlives it.
class EventFollower {
public:
    static constexpr std::chrono::milliseconds interval{100};

    /// Yields the events after `afterId` (0: all), of one session or of all where it is empty.
    EventFollower(Store &store, std::int64_t afterId, std::string session = {});

    /// New events in order, at most 10000 a call; the rest comes with the next. After an error the same
    /// events come again.
    Result<std::vector<Event>> poll();
    std::int64_t lastSeen() const { return m_lastSeen; }

private:
    Store &m_store;
    std::int64_t m_lastSeen = 0;
    std::int64_t m_counter = -1;
    std::string m_session;
};

} // namespace heddle
