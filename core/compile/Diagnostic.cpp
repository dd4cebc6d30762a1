// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Diagnostic.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

namespace heddle {

namespace {

constexpr std::size_t maxDiagnostics = 200;
constexpr std::size_t maxMessageBytes = 4000;

struct SeverityWord {
    std::string_view word;
    Diagnostic::Severity severity;
};

// "error" last among its kind: "catastrophic error" and "fatal error" contain it.
constexpr std::array<SeverityWord, 5> severityWords = {{
    {"fatal error: ", Diagnostic::Severity::Error},
    {"catastrophic error: ", Diagnostic::Severity::Error},
    {"error: ", Diagnostic::Severity::Error},
    {"warning: ", Diagnostic::Severity::Warning},
    {"note: ", Diagnostic::Severity::Note},
}};

bool startsWith(std::string_view text, std::string_view start)
{
    return text.substr(0, start.size()) == start;
}

/// Takes trailing digits and the separator before them: "a:12" → 12, text "a".
std::optional<int> takeNumber(std::string_view &text, char separator)
{
    const std::size_t at = text.rfind(separator);
    if (at == std::string_view::npos || at + 1 == text.size())
        return std::nullopt;
    int value = 0;
    const char *end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data() + at + 1, end, value);
    if (code != std::errc() || stop != end)
        return std::nullopt;
    text = text.substr(0, at);
    return value;
}

/// Fills file, line and column from "src/kernel.cpp:3:5", or NVRTC's "kernel.cu(12)".
void readPlace(std::string_view place, std::string_view prefix, Diagnostic &out)
{
    if (!place.empty() && place.back() == ')') {
        std::string_view inside = place.substr(0, place.size() - 1);
        if (const auto line = takeNumber(inside, '(')) {
            out.line = *line;
            place = inside;
        }
    } else if (const auto last = takeNumber(place, ':')) {
        if (const auto line = takeNumber(place, ':')) {
            out.line = *line;
            out.column = *last;
        } else {
            out.line = *last;
        }
    }
    // A word without a line is the name of a program ("cc1plus"), not a file.
    if (out.line == 0)
        return;
    while (startsWith(place, "./"))
        place.remove_prefix(2);
    if (startsWith(place, prefix))
        place.remove_prefix(prefix.size());
    out.file = std::string(place);
}

std::optional<Diagnostic> readCompilerLine(std::string_view line, std::string_view prefix)
{
    for (const auto &[word, severity] : severityWords) {
        // Either at the start, or after "place: ".
        std::size_t at = line.find(": " + std::string(word));
        std::size_t skip = 2;
        if (at == std::string_view::npos) {
            if (!startsWith(line, word))
                continue;
            at = 0;
            skip = 0;
        }
        Diagnostic out;
        out.severity = severity;
        out.message = std::string(line.substr(at + skip + word.size(), maxMessageBytes));
        readPlace(line.substr(0, at), prefix, out);
        return out;
    }
    return std::nullopt;
}

/// A message of NVRTC with a number, "kernel.cu(3): warning #177-D: unused", or of the assembler that works for it,
/// "ptxas warning : the stack's size is unknown".
std::optional<Diagnostic> readCudaLine(std::string_view line, std::string_view prefix)
{
    constexpr std::array<std::pair<std::string_view, Diagnostic::Severity>, 3> words = {{
        {"error", Diagnostic::Severity::Error},
        {"fatal", Diagnostic::Severity::Error},
        {"warning", Diagnostic::Severity::Warning},
    }};
    constexpr std::string_view assembler = "ptxas ";
    const bool isAssembler = startsWith(line, assembler);
    const std::size_t place = line.find("): ");
    if (!isAssembler && place == std::string_view::npos)
        return std::nullopt;
    const std::string_view rest = line.substr(isAssembler ? assembler.size() : place + 3);
    for (const auto &[word, severity] : words) {
        const std::size_t colon = rest.find(": ");
        if (!startsWith(rest, word) || colon == std::string_view::npos)
            continue;
        Diagnostic out;
        out.severity = severity;
        out.message = std::string(rest.substr(colon + 2, maxMessageBytes));
        if (!isAssembler) {
            readPlace(line.substr(0, place + 1), prefix, out);
            const std::string_view number = rest.substr(word.size(), colon - word.size());
            if (startsWith(number, " #"))
                out.message += " (" + std::string(number.substr(1)) + ')';
        }
        return out;
    }
    return std::nullopt;
}

/// Below a message NVRTC shows the line of the source, moved right by two, and a caret under the column. Tabs in it would make
/// another column of the caret's place.
void readCaret(std::string_view source, std::string_view caret, Diagnostic &out)
{
    constexpr std::size_t indent = 2;
    const std::size_t at = caret.find('^');
    const bool isPlain = caret.find_first_not_of(' ') == at && source.find('\t') == std::string_view::npos;
    if (at != std::string_view::npos && at >= indent && isPlain && out.line > 0 && out.column == 0)
        out.column = static_cast<int>(at - indent + 1);
}

std::optional<Diagnostic> readLinkerLine(std::string_view line)
{
    constexpr std::array<std::string_view, 3> signs = {"undefined reference to", "multiple definition of",
                                                       "cannot find "};
    for (const std::string_view sign : signs) {
        const std::size_t at = line.find(sign);
        if (at == std::string_view::npos)
            continue;
        Diagnostic out;
        out.message = std::string(line.substr(at, maxMessageBytes));
        return out;
    }
    return std::nullopt;
}

const char *severityName(Diagnostic::Severity severity)
{
    switch (severity) {
    case Diagnostic::Severity::Error: return "error";
    case Diagnostic::Severity::Warning: return "warning";
    case Diagnostic::Severity::Note: return "note";
    }
    return "error";
}

} // namespace

std::vector<Diagnostic> parseDiagnostics(std::string_view log, std::string_view sourcePrefix)
{
    std::vector<Diagnostic> out;
    std::string_view before; // the line before, where it was indented
    while (!log.empty() && out.size() < maxDiagnostics) {
        const std::size_t end = log.find('\n');
        const std::string_view line = log.substr(0, end);
        log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
        const bool isIndented = startsWith(line, " ");
        if (isIndented && !before.empty() && !out.empty())
            readCaret(before, line, out.back());
        before = isIndented ? line : std::string_view();
        // "In file included from" and "In function" lines only lead to the message that follows.
        if (line.empty() || isIndented || startsWith(line, "In file included from"))
            continue;
        auto found = readCompilerLine(line, sourcePrefix);
        if (!found)
            found = readCudaLine(line, sourcePrefix);
        if (!found)
            found = readLinkerLine(line);
        // The linker's verdict repeats what its own lines said.
        if (found && found->message != "ld returned 1 exit status")
            out.push_back(std::move(*found));
    }
    return out;
}

Diagnostic diagnosticOf(const Error &error)
{
    Diagnostic item;
    const std::string &where = error.where();
    item.file = where.empty() ? "plan.json" : where.substr(0, where.find(':'));
    std::string place = where.size() > item.file.size() ? where.substr(item.file.size() + 1) : std::string();
    place.erase(0, place.find_first_not_of(' '));
    int length = 0;
    if (std::sscanf(place.c_str(), "%9d:%9d%n", &item.line, &item.column, &length) == 2
        && place.size() == static_cast<std::size_t>(length))
        place.clear();
    else
        item.line = item.column = 0;
    item.message = (place.empty() ? place : place + ": ") + error.message();
    if (!error.next().empty())
        item.message += " (" + error.next() + ")";
    return item;
}

std::string placeText(const Json &diagnostic)
{
    std::string text = stringOr(diagnostic, "file");
    for (const char *part : {"line", "column"}) {
        const std::int64_t number = integerOr(diagnostic, part, 0);
        if (number <= 0 || text.empty())
            break;
        text += ':' + std::to_string(number);
    }
    return text.empty() ? text : text + ": ";
}

Json toJson(const std::vector<Diagnostic> &diagnostics)
{
    Json list = Json::array();
    for (const Diagnostic &item : diagnostics)
        list.push_back({{"file", item.file},
                        {"line", item.line},
                        {"column", item.column},
                        {"severity", severityName(item.severity)},
                        {"message", item.message}});
    return list;
}

} // namespace heddle
