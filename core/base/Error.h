// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace heddle {

/// What kind of failure it is. Callers branch on this and print the message.
enum class Code {
    InvalidInput,  ///< a file, plan, flag or message is malformed
    NotFound,      ///< a file, candidate, session or program does not exist
    Environment,   ///< the machine lacks something (compiler, PyTorch, sandbox, disk)
    CompileFailed, ///< a candidate's source does not compile
    TaskFailed,    ///< the task file itself fails (no Model, exception in forward)
    Crashed,       ///< a child process died from a signal
    TimedOut,      ///< a limit on time was reached
    OutOfMemory,   ///< a limit on memory was reached
    Cancelled,     ///< the caller asked to stop
    Conflict,      ///< somebody else changed or holds it
    Protocol,      ///< the other side of a socket said something unexpected
    Io,            ///< the operating system refused a read or write
    NotCovered,    ///< the optimiser or capture does not handle this, by name
    Internal,      ///< a broken invariant: our bug
};

/// The stable lower-case word of a code, for logs, JSON and exit messages.
std::string_view codeName(Code code);
/// The inverse of codeName(); Internal for an unknown word.
Code codeFromName(std::string_view name);

/// A failure as a value: what happened, where, what to do next, and what caused it.
/// Plain data; may be copied between threads.
class [[nodiscard]] Error {
public:
    Error(Code code, std::string message, std::string where = {}, std::string next = {});

    Code code() const { return m_code; }
    const std::string &message() const { return m_message; } ///< one sentence: what happened
    const std::string &where() const { return m_where; }     ///< "path:line", a field, or empty
    const std::string &next() const { return m_next; }       ///< what the person can do, or empty
    const std::shared_ptr<const Error> &cause() const { return m_cause; }

    /// The same error wrapped in a more general one; `this` becomes the cause.
    Error wrapped(std::string message, std::string where = {}) const;
    /// All of it on one or more lines, causes included.
    std::string text() const;

private:
    Code m_code;
    std::string m_message;
    std::string m_where;
    std::string m_next;
    std::shared_ptr<const Error> m_cause;
};

} // namespace heddle
