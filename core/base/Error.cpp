// SPDX-License-Identifier: Apache-2.0
#include "core/base/Error.h"

#include <array>
#include <utility>

namespace heddle {

namespace {

constexpr std::array<std::pair<Code, std::string_view>, 14> names{{
    {Code::InvalidInput, "invalid_input"},
    {Code::NotFound, "not_found"},
    {Code::Environment, "environment"},
    {Code::CompileFailed, "compile_failed"},
    {Code::TaskFailed, "task_failed"},
    {Code::Crashed, "crashed"},
    {Code::TimedOut, "timed_out"},
    {Code::OutOfMemory, "out_of_memory"},
    {Code::Cancelled, "cancelled"},
    {Code::Conflict, "conflict"},
    {Code::Protocol, "protocol"},
    {Code::Io, "io"},
    {Code::NotCovered, "not_covered"},
    {Code::Internal, "internal"},
}};

} // namespace

std::string_view codeName(Code code)
{
    for (const auto &[value, name] : names) {
        if (value == code)
            return name;
    }
    return "internal";
}

Code codeFromName(std::string_view name)
{
    for (const auto &[value, text] : names) {
        if (text == name)
            return value;
    }
    return Code::Internal;
}

Error::Error(Code code, std::string message, std::string where, std::string next)
    : m_code(code), m_message(std::move(message)), m_where(std::move(where)), m_next(std::move(next))
{
}

Error Error::wrapped(std::string message, std::string where) const
{
    Error outer(m_code, std::move(message), std::move(where), m_next);
    outer.m_cause = std::make_shared<const Error>(*this);
    return outer;
}

std::string Error::text() const
{
    std::string out = m_where.empty() ? m_message : m_where + ": " + m_message;
    if (m_cause)
        out += "\n  because: " + m_cause->text();
    else if (!m_next.empty())
        out += "\n  next: " + m_next;
    return out;
}

} // namespace heddle
