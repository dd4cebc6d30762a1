// SPDX-License-Identifier: Apache-2.0
#include "core/session/EventTypes.h"

#include <algorithm>

namespace heddle {

namespace {

using enum MemberKind;

constexpr bool Required = true;
constexpr bool Optional = false;

/// Deeper values would overflow the stack of code that walks them recursively.
constexpr int MaxDepth = 200;

std::vector<EventType> makeEventTypes()
{
    const EventScope session = EventScope::Session;
    const EventScope workspace = EventScope::Workspace;
    return {
        {"session_started",
         session,
         {{"task", Object}, {"target", Name}, {"policy", Name}, {"options", Object, Optional}}},
        {"session_ended",
         session,
         {{"reason",
           Name,
           Required,
           {"done", "cancelled", "failed", "at_roof", "no_candidate", "taken_over"}},
          {"message", Text, Optional}}},
        {"linted", session, {{"findings", Array}, {"properties", Object, Optional}}},
        {"baseline_measured",
         session,
         {{"baselines", Object},
          {"operators", Array, Optional},
          {"roof", Object, Optional},
          {"environment", Object, Optional}}},
        {"graph_captured", session, {{"operators", Object}, {"blob", Name, Optional}}},
        {"plan_written", session, {{"items", Array}}},
        {"plan_item_changed", session, {{"id", Name}, {"state", Name}, {"note", Text, Optional}}},
        {"note", session, {{"text", Text}, {"figures", Array, Optional}}},
        {"tool_called", session, {{"tool", Name}, {"arguments", Object}}},
        {"tool_returned",
         session,
         {{"tool", Name},
          {"call", Integer},
          {"ok", Boolean},
          {"result", Any, Optional},
          {"error", Any, Optional},
          {"seconds", Number}}},
        {"candidate_created",
         session,
         {{"candidate", Name},
          {"parent", Text, Optional},
          {"format", Name, Required, {"native", "modelnew", "work_folder"}},
          {"plan_item", Text, Optional},
          {"policy", Text, Optional}}},
        {"compiled",
         session,
         {{"candidate", Name}, {"ok", Boolean}, {"diagnostics", Array}, {"seconds", Number, Optional}}},
        {"judged",
         session,
         {{"candidate", Name},
          {"stage", Name, Required, {"quick", "confirmed"}},
          {"report", Object},
          {"task_digest", Name}}},
        {"benchmarked",
         session,
         {{"candidate", Name},
          {"tunables", Object},
          {"median_ms", Number},
          {"undisturbed_ms", Number, Optional},
          {"ci_ms", Array},
          {"runs", Integer}}},
        {"proposal_opened",
         session,
         {{"proposal", Name},
          {"task_path", Name},
          {"candidate", Name},
          {"base", Text},
          {"item", Text, Optional},
          {"summary", Text, Optional},
          {"policy", Text, Optional}}},
        {"proposal_state_changed",
         workspace,
         {{"proposal", Name},
          {"state", Name, Required, {"open", "superseded", "stale", "withdrawn"}},
          {"reason", Text, Optional}}},
        {"decided",
         workspace,
         {{"proposal", Name},
          {"decision", Name, Required, {"accept", "accept_in_part", "reject"}},
          {"reason", Text, Optional, {"wrong", "slower", "unsafe", "style", "other", ""}},
          {"comment", Text, Optional},
          {"hunks", Any, Optional}}},
        {"landed",
         workspace,
         {{"proposal", Text},
          {"task_path", Name},
          {"revision", Name},
          {"previous", Text},
          {"decision", Integer, Optional}}},
        {"undone",
         workspace,
         {{"decision", Integer}, {"task_path", Name}, {"revision", Text}, {"previous", Text}}},
        {"commented",
         workspace,
         {{"proposal", Name},
          {"file", Text},
          {"line", Integer, Optional},
          {"hunk", Integer, Optional},
          {"text", Text}}},
        {"exported",
         workspace,
         {{"candidate", Name},
          {"folder", Name},
          {"as", Name},
          {"kind", Name, Required, {"auto_export", "export"}},
          {"files", Array, Optional}}},
        {"cancel_requested", session, {{"reason", Text, Optional}}},
        {"trusted", workspace, {{"folder", Name}}},
        {"setting_changed", workspace, {{"key", Name}, {"value", Any, Optional}}},
        {"job_started", workspace, {{"job", Any}, {"name", Name}}},
        {"job_ended", workspace, {{"job", Any}, {"ok", Boolean}, {"error", Any, Optional}}},
    };
}

bool fits(const Json &value, MemberKind kind)
{
    switch (kind) {
    case Name: return value.is_string() && !value.get_ref<const std::string &>().empty();
    case Text: return value.is_string();
    case Integer: return value.is_number_integer();
    case Number: return value.is_number();
    case Boolean: return value.is_boolean();
    case Array: return value.is_array();
    case Object: return value.is_object();
    case Any: return !value.is_null();
    }
    return false;
}

bool isDeeperThan(const Json &value, int limit)
{
    if (!value.is_structured())
        return false;
    if (limit == 0)
        return true;
    return std::any_of(value.begin(), value.end(),
                       [limit](const Json &child) { return isDeeperThan(child, limit - 1); });
}

Result<void> validateMember(const EventMember &member, const Json &data, const std::string &where)
{
    const Json &value = memberOr(data, member.name);
    if (value.is_null()) {
        if (!member.isRequired)
            return {};
        return Error(Code::InvalidInput, "the event lacks the member \"" + std::string(member.name) + '"',
                     where);
    }
    if (!fits(value, member.kind))
        return Error(Code::InvalidInput,
                     "this member must be of kind " + std::string(memberKindName(member.kind)),
                     where + '.' + std::string(member.name));
    if (member.words.empty())
        return {};
    const std::string &word = value.get_ref<const std::string &>();
    if (std::find(member.words.begin(), member.words.end(), word) != member.words.end())
        return {};
    std::string allowed;
    for (const std::string_view each : member.words)
        allowed += (allowed.empty() ? "" : ", ") + ('"' + std::string(each) + '"');
    return Error(Code::InvalidInput, "\"" + word.substr(0, 80) + "\" is not one of " + allowed,
                 where + '.' + std::string(member.name));
}

} // namespace

const std::vector<EventType> &eventTypes()
{
    static const std::vector<EventType> types = makeEventTypes();
    return types;
}

std::string_view memberKindName(MemberKind kind)
{
    switch (kind) {
    case Name: return "name";
    case Text: return "text";
    case Integer: return "integer";
    case Number: return "number";
    case Boolean: return "boolean";
    case Array: return "array";
    case Object: return "object";
    case Any: return "any";
    }
    return "any";
}

Result<void> validateEvent(const std::string &session, const std::string &type, const Json &data)
{
    const std::vector<EventType> &types = eventTypes();
    const auto found =
        std::find_if(types.begin(), types.end(), [&](const EventType &each) { return each.name == type; });
    if (found == types.end())
        return Error(Code::InvalidInput, "there is no event type \"" + type.substr(0, 80) + '"', "event",
                     "see docs/architecture/events.md for the types");
    const std::string where = "event " + type;
    if (session.empty() && found->scope == EventScope::Session)
        return Error(Code::InvalidInput, "this event belongs to a session, none was named", where);
    if (!data.is_object())
        return Error(Code::InvalidInput, "the data of an event must be an object", where);
    if (isDeeperThan(data, MaxDepth))
        return Error(Code::InvalidInput,
                     "the data is nested more than " + std::to_string(MaxDepth) + " levels deep", where);
    for (const EventMember &member : found->members)
        HEDDLE_CHECK_OK(validateMember(member, data, where));
    return {};
}

} // namespace heddle
