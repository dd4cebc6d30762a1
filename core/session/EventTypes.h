// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// What a member of an event's data must be.
enum class MemberKind {
    Name, ///< text that is not empty
    Text, ///< text, may be empty
    Integer,
    Number, ///< integer or real
    Boolean,
    Array,
    Object,
    Any, ///< anything but null
};

/// Where an event may be appended.
enum class EventScope {
    Session,   ///< only with a session
    Workspace, ///< with a session or without
};

struct EventMember {
    std::string_view name;
    MemberKind kind = MemberKind::Any;
    bool isRequired = true;
    std::vector<std::string_view> words = {}; ///< the only values allowed; empty: any
};

struct EventType {
    std::string_view name;
    EventScope scope = EventScope::Session;
    std::vector<EventMember> members;
};

/// The table behind docs/architecture/events.md; a test compares the two. Thread-safe.
const std::vector<EventType> &eventTypes();

/// The word of a kind as the document writes it.
std::string_view memberKindName(MemberKind kind);

/// Checks type, scope and members. Further members are kept and not checked; an optional member may be
/// null. Error InvalidInput names the type and the member.
Result<void> validateEvent(const std::string &session, const std::string &type, const Json &data);

} // namespace heddle
