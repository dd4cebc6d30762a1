// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/editor/Diagnostic.h"

#include "widgets/common/Text.h"

namespace heddle {

std::vector<Diagnostic> diagnosticsFromJson(const Json &array)
{
    std::vector<Diagnostic> diagnostics;
    if (!array.is_array())
        return diagnostics;
    for (const Json &entry : array) {
        Diagnostic diagnostic;
        diagnostic.message = toText(stringOr(entry, "message"));
        if (diagnostic.message.isEmpty())
            continue;
        diagnostic.file = toText(stringOr(entry, "file"));
        diagnostic.line = static_cast<int>(integerOr(entry, "line", 0));
        diagnostic.column = static_cast<int>(integerOr(entry, "column", 0));
        const std::string severity = stringOr(entry, "severity", "error");
        diagnostic.severity = severity == "warning"    ? Diagnostic::Severity::Warning
            : severity == "note" || severity == "info" ? Diagnostic::Severity::Note
                                                       : Diagnostic::Severity::Error;
        diagnostics.push_back(std::move(diagnostic));
    }
    return diagnostics;
}

} // namespace heddle
