// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QString>

#include <vector>

namespace heddle {

/// One message of a compiler or lint about a place in a file.
struct Diagnostic {
    enum class Severity { Error, Warning, Note };

    QString file;   ///< relative to the candidate's folder, '/' between parts; empty: no place
    int line = 0;   ///< from 1; 0: no line
    int column = 0; ///< from 1; 0: no column
    Severity severity = Severity::Error;
    QString message;

    bool operator==(const Diagnostic &) const = default;
};

/// Reads a `diagnostics` array of the events (`compiled`) or the report; entries without a message are left out.
std::vector<Diagnostic> diagnosticsFromJson(const Json &array);

} // namespace heddle
