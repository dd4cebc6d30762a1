// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// One message of a compiler, at a place of the candidate.
struct Diagnostic {
    enum class Severity { Error, Warning, Note };
    std::string file; ///< the candidate's own name ("kernel.cpp"), a header's, or empty
    int line = 0;     ///< from 1; 0 where the message has no place
    int column = 0;   ///< from 1; 0 where unknown
    Severity severity = Severity::Error;
    std::string message;
};

/// Reads the text of g++, its linker, or NVRTC. `sourcePrefix` is the folder that the candidate's files
/// were compiled in ("src/"); it is removed from names. Lines that are no message are left out, at most
/// 200 messages are returned. Never fails: text that nobody understands gives an empty list.
std::vector<Diagnostic> parseDiagnostics(std::string_view log, std::string_view sourcePrefix);

/// What refused a candidate before the compiler saw it, as a message at its place: where() is "plan.json:3:7" (parseJson)
/// or "plan.json: steps[0].args[1]" (the plan's reader). The remedy follows the message in brackets.
Diagnostic diagnosticOf(const Error &error);

/// "kernel.cpp:3:7: " for one object of the list below; what is not known is left out from its end. Empty without a file.
std::string placeText(const Json &diagnostic);

/// [{"file", "line", "column", "severity": "error"|"warning"|"note", "message"}]
Json toJson(const std::vector<Diagnostic> &diagnostics);

} // namespace heddle
