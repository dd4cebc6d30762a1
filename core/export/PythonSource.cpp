// SPDX-License-Identifier: Apache-2.0
#include "core/export/PythonSource.h"

#include <algorithm>

namespace heddle {

namespace {

bool isNamePart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
        || static_cast<unsigned char>(c) >= 0x80;
}

bool startsWord(std::string_view text, std::size_t at, std::string_view word)
{
    return text.substr(at, word.size()) == word
        && (at + word.size() == text.size() || !isNamePart(text[at + word.size()]));
}

std::size_t skipSpace(std::string_view text, std::size_t at)
{
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
        ++at;
    return at;
}

std::string trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n\\");
    if (first == std::string_view::npos)
        return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r\n\\") - first + 1));
}

/// The identifier `from` as a whole word that is not an attribute, replaced outside strings and comments.
std::string renamed(const PythonSource &source, std::string_view from, std::string_view to)
{
    const std::string &code = source.code();
    std::string out;
    std::size_t copied = 0;
    for (std::size_t at = code.find(from); at != std::string::npos; at = code.find(from, at + from.size())) {
        const char before = at == 0 ? '\n' : code[at - 1];
        if (isNamePart(before) || before == '.' || !startsWord(code, at, from))
            continue;
        out += source.text().substr(copied, at - copied);
        out += to;
        copied = at + from.size();
    }
    return out + source.text().substr(copied);
}

/// Position of the bracket that closes the one at `open`, or npos.
std::size_t closing(std::string_view code, std::size_t open)
{
    int depth = 0;
    for (std::size_t i = open; i < code.size(); ++i) {
        if (code[i] == '(' || code[i] == '[' || code[i] == '{')
            ++depth;
        if (code[i] == ')' || code[i] == ']' || code[i] == '}')
            if (--depth == 0)
                return i;
    }
    return std::string_view::npos;
}

/// Fills the names of parameters from the masked text between the brackets of a header.
void readParameters(std::string_view code, ReferenceSource &out)
{
    std::vector<std::string> parts;
    int depth = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= code.size(); ++i) {
        if (i == code.size() || (code[i] == ',' && depth == 0)) {
            parts.push_back(trimmed(code.substr(start, i - start)));
            start = i + 1;
            continue;
        }
        if (code[i] == '(' || code[i] == '[' || code[i] == '{')
            ++depth;
        if (code[i] == ')' || code[i] == ']' || code[i] == '}')
            --depth;
    }
    for (const std::string &part : parts) {
        const std::size_t stars = std::min(part.find_first_not_of('*'), part.size());
        const std::string_view rest = std::string_view(part).substr(stars);
        std::size_t length = 0;
        while (length < rest.size() && isNamePart(rest[length]))
            ++length;
        const std::string name(rest.substr(0, length));
        if (name.empty())
            continue;
        if (stars == 2)
            out.keywords = name;
        else if (stars == 1)
            out.variadic = name;
        else if (out.self.empty())
            out.self = name;
        else
            out.parameters.push_back(name);
    }
}

bool isFutureImport(std::string_view code, std::size_t at)
{
    return startsWord(code, at, "from") && startsWord(code, skipSpace(code, at + 4), "__future__");
}

Error notCovered(std::string message)
{
    return Error(Code::NotCovered, std::move(message), "Model",
                 "export as a native folder, or write Model as a class at the top of the task file with its "
                 "own forward");
}

} // namespace

PythonSource::PythonSource(std::string text) : m_text(std::move(text)), m_code(m_text)
{
    if (!m_text.empty() && m_text.back() != '\n') {
        m_text += '\n';
        m_code += '\n';
    }
    scan();
}

void PythonSource::scan()
{
    std::size_t lineStart = 0;
    int depth = 0;
    bool isContinued = false;
    for (std::size_t i = 0; i < m_text.size();) {
        const char c = m_text[i];
        if (c == '#') {
            while (i < m_text.size() && m_text[i] != '\n')
                m_code[i++] = ' ';
            continue;
        }
        if (c == '"' || c == '\'') {
            const bool isTriple = m_text.compare(i, 3, std::string(3, c)) == 0;
            const std::size_t width = isTriple ? 3 : 1;
            const std::string end(width, c);
            std::size_t j = i + width;
            while (j < m_text.size() && m_text.compare(j, width, end) != 0) {
                if (!isTriple && m_text[j] == '\n')
                    break;
                j += m_text[j] == '\\' ? 2 : 1;
            }
            j = std::min(j + width, m_text.size());
            for (std::size_t k = i; k < j; ++k)
                if (m_code[k] != '\n')
                    m_code[k] = '_';
            i = j;
            isContinued = false;
            continue;
        }
        if (c == '\n') {
            if (depth == 0 && !isContinued) {
                m_lines.push_back({.begin = lineStart, .end = i + 1, .indent = 0, .isCode = false});
                lineStart = i + 1;
            }
            isContinued = false;
        } else {
            if (c == '(' || c == '[' || c == '{')
                ++depth;
            if ((c == ')' || c == ']' || c == '}') && depth > 0)
                --depth;
            isContinued = c == '\\' || (isContinued && c == '\r');
        }
        ++i;
    }
    if (lineStart < m_text.size())
        m_lines.push_back({.begin = lineStart, .end = m_text.size(), .indent = 0, .isCode = false});
    for (PythonLine &line : m_lines) {
        std::size_t at = line.begin;
        for (; at < line.end && (m_code[at] == ' ' || m_code[at] == '\t'); ++at)
            line.indent = m_code[at] == '\t' ? (line.indent / 8 + 1) * 8 : line.indent + 1;
        // A string alone is code; a masked comment is blanks.
        line.isCode = at < line.end && m_code[at] != '\n' && m_code[at] != '\r';
    }
}

bool PythonSource::find(std::string_view keyword, std::string_view name, std::size_t from, std::size_t to,
                        int indent, Block &block) const
{
    bool isFound = false;
    for (std::size_t i = from; i < to; ++i) {
        const PythonLine &line = m_lines[i];
        std::size_t at = skipSpace(m_code, line.begin);
        if (!line.isCode || line.indent != indent || !startsWord(m_code, at, keyword))
            continue;
        at = skipSpace(m_code, at + keyword.size());
        if (!startsWord(m_code, at, name))
            continue;
        isFound = true; // the last definition is the one that counts
        block.header = block.first = i;
        while (block.first > from && m_lines[block.first - 1].isCode
               && m_lines[block.first - 1].indent == indent
               && m_code[skipSpace(m_code, m_lines[block.first - 1].begin)] == '@')
            --block.first;
        block.last = i + 1;
        for (std::size_t j = i + 1; j < to && (!m_lines[j].isCode || m_lines[j].indent > indent); ++j)
            if (m_lines[j].isCode)
                block.last = j + 1;
    }
    return isFound;
}

bool definesName(const std::string &text, std::string_view name)
{
    const PythonSource source(text);
    const std::string &code = source.code();
    for (const PythonLine &line : source.lines()) {
        if (!line.isCode || line.indent != 0)
            continue;
        const std::string_view words = std::string_view(code).substr(line.begin, line.end - line.begin);
        for (std::size_t at = words.find(name); at != std::string_view::npos; at = words.find(name, at + 1)) {
            if (!startsWord(words, at, name) || (at > 0 && isNamePart(words[at - 1])))
                continue;
            const std::size_t after = skipSpace(words, at + name.size());
            const bool isAssigned =
                at == 0 && after + 1 < words.size() && words[after] == '=' && words[after + 1] != '=';
            if (isAssigned || startsWord(words, 0, "class") || startsWord(words, 0, "def")
                || startsWord(words, 0, "import") || startsWord(words, 0, "from"))
                return true;
        }
    }
    return false;
}

Result<ReferenceSource> splitTask(const std::string &taskSource)
{
    const PythonSource source(taskSource);
    const auto &lines = source.lines();
    PythonSource::Block model;
    if (!source.find("class", "Model", 0, lines.size(), 0, model))
        return notCovered("the task does not define Model by a class statement at the top of its file");
    std::size_t firstLine = model.header + 1;
    while (firstLine < model.last && !lines[firstLine].isCode)
        ++firstLine;
    PythonSource::Block forward;
    if (firstLine >= model.last
        || !source.find("def", "forward", firstLine, model.last, lines[firstLine].indent, forward))
        return notCovered("the task's Model has no forward of its own");

    ReferenceSource out;
    const std::size_t begin = skipSpace(source.code(), lines[forward.header].begin);
    const std::size_t open = source.code().find('(', begin);
    const std::size_t close = open == std::string::npos ? open : closing(source.code(), open);
    const std::size_t colon = close == std::string::npos ? close : source.code().find(':', close);
    if (colon == std::string::npos)
        return notCovered("the header of forward was not understood");
    out.forwardHeader =
        renamed(PythonSource(source.text().substr(begin, colon + 1 - begin)), "Model", "_Reference");
    out.forwardHeader.pop_back(); // the newline that PythonSource ensures
    readParameters(std::string_view(source.code()).substr(open + 1, close - open - 1), out);

    std::vector<PythonSource::Block> cuts{forward};
    for (const char *name : {"get_inputs", "get_init_inputs"}) {
        PythonSource::Block block;
        if (source.find("def", name, 0, lines.size(), 0, block))
            cuts.push_back(block);
    }
    bool isAlone = true; // forward was all that the class had
    for (std::size_t i = firstLine; i < model.last; ++i)
        isAlone = isAlone && (!lines[i].isCode || (i >= forward.first && i < forward.last));
    const std::string indent(static_cast<std::size_t>(lines[forward.header].indent), ' ');
    std::string kept;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto isIn = [i](const PythonSource::Block &cut) { return i >= cut.first && i < cut.last; };
        if (lines[i].indent == 0 && isFutureImport(source.code(), lines[i].begin))
            out.future += source.text().substr(lines[i].begin, lines[i].end - lines[i].begin);
        else if (std::none_of(cuts.begin(), cuts.end(), isIn))
            kept += source.text().substr(lines[i].begin, lines[i].end - lines[i].begin);
        else if (i == forward.first)
            kept +=
                indent + "# forward is replaced by ModelNew below.\n" + (isAlone ? indent + "pass\n" : "");
    }
    // Of the blank lines between the functions that were cut, none at the end.
    if (const std::size_t end = kept.find_last_not_of(" \t\r\n"); end != std::string::npos)
        kept.erase(kept.find('\n', end) + 1);
    out.text = renamed(PythonSource(kept), "Model", "_Reference");
    return out;
}

} // namespace heddle
