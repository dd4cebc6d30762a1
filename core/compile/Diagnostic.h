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

/// [{"file", "line", "column", "severity": "error"|"warning"|"note", "message"}]
Json toJson(const std::vector<Diagnostic> &diagnostics);

} // namespace heddle
