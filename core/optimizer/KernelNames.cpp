// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelNames.h"

#include "core/optimizer/CppText.h"

#include <algorithm>

namespace heddle {

namespace {

/// Words that a generated identifier must not be: keywords, and names that the kernel writer uses itself.
const std::set<std::string> &reservedWords()
{
    static const std::set<std::string> words = {
        "alignas",  "and",       "asm",      "auto",      "bool",     "break",     "case",     "catch",
        "char",     "class",     "concept",  "const",     "continue", "default",   "delete",   "do",
        "double",   "else",      "enum",     "explicit",  "export",   "extern",    "false",    "float",
        "for",      "friend",    "goto",     "heddle",    "if",       "inline",    "int",      "long",
        "mutable",  "namespace", "new",      "not",       "operator", "or",        "private",  "protected",
        "public",   "register",  "requires", "return",    "short",    "signed",    "sizeof",   "static",
        "struct",   "switch",    "template", "this",      "throw",    "true",      "try",      "typedef",
        "typename", "union",     "unsigned", "using",     "virtual",  "void",      "volatile", "while",
        "xor",      "lane0",     "chunk",    "chunk_end", "block",    "block_end", "unix",     "linux"};
    return words;
}

std::string identifier(const std::string &text)
{
    std::string result;
    for (const char c : text) {
        const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        result += isPlain ? c : '_';
    }
    // Upper case alone is for tunables.
    const bool isMacroLike =
        std::none_of(result.begin(), result.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (result.empty() || isMacroLike || result.front() == '_'
        || (result.front() >= '0' && result.front() <= '9'))
        result = "p_" + result;
    return reservedWords().contains(result) ? result + "_" : result;
}

} // namespace

std::string operatorName(const std::string &origin)
{
    std::string name = origin.starts_with("aten.") ? origin.substr(5) : origin;
    name = name.substr(0, name.find('.'));
    while (!name.empty() && name.front() == '_')
        name.erase(0, 1);
    while (!name.empty() && name.back() == '_')
        name.pop_back();
    return name.empty() ? "copy" : name;
}

std::string operatorList(const Kernel &kernel)
{
    std::vector<std::string> names;
    for (const KernelExpression &each : kernel.expressions) {
        if (each.kind != KernelExpression::Kind::Operation && each.kind != KernelExpression::Kind::Total)
            continue;
        const std::string name = operatorName(each.origin);
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
    if (names.empty())
        return "a copy";
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
}

KernelNames::KernelNames(const Kernel &kernel, const Schedule &schedule)
    : m_kernel(kernel), m_schedule(schedule)
{
    for (const KernelBuffer &buffer : kernel.buffers) {
        const std::size_t colon = buffer.name.find(':');
        const std::string kind = buffer.name.substr(0, colon);
        std::string word = buffer.name.substr(colon + 1);
        if (kind == "out" || kind == "const")
            word = kind + word;
        m_parameters.push_back(unique(identifier(word)));
    }
    const bool isSingle = kernel.outer.size() == 1;
    for (std::size_t i = 0; i < kernel.outer.size(); ++i)
        m_axes[kernel.outer[i]] = unique(isSingle ? "row" : "row" + std::to_string(i));
    for (std::size_t s = 0; s < kernel.spaces.size(); ++s) {
        const auto &axes = kernel.spaces[s];
        const std::string ending = s == 0 ? "" : "_" + std::to_string(s);
        for (std::size_t i = 0; i < axes.size(); ++i)
            m_axes[axes[i]] =
                unique((i + 1 == axes.size() ? std::string("j") : "i" + std::to_string(i)) + ending);
    }
    m_lane = unique("lane");
    m_lanes = unique("lanes");
    // Pointers at the outer point for everything that the loops touch.
    const auto note = [this](int buffer, const Affine &index) {
        const std::string part = outerPart(index);
        const auto key = std::pair(buffer, part);
        if (part != "0" && !m_rows.contains(key))
            m_rows[key] = unique(parameter(buffer) + "_row");
    };
    for (const KernelExpression &each : kernel.expressions) {
        if (each.kind == KernelExpression::Kind::Load)
            note(each.buffer, each.index);
    }
    for (const KernelStore &store : kernel.stores)
        note(store.buffer, store.index);
}

std::string KernelNames::unique(std::string word)
{
    std::string name = word;
    for (int i = 2; !m_used.insert(name).second; ++i)
        name = word + "_" + std::to_string(i);
    return name;
}

std::string KernelNames::local(const std::string &word)
{
    std::string base = identifier(word);
    if (base.ends_with("_"))
        base.pop_back();
    const std::string name = base + std::to_string(++m_counts[base]);
    return unique(name);
}

std::string KernelNames::sum(const std::vector<std::pair<std::string, std::int64_t>> &terms,
                             std::int64_t offset) const
{
    std::string text;
    for (const auto &[name, coefficient] : terms) {
        const std::int64_t size = coefficient < 0 ? -coefficient : coefficient;
        const std::string term = size == 1 ? name : name + " * " + std::to_string(size);
        if (text.empty())
            text = (coefficient < 0 ? "-" : "") + term;
        else
            text += (coefficient < 0 ? " - " : " + ") + term;
    }
    if (text.empty())
        return std::to_string(offset);
    if (offset != 0)
        text += (offset < 0 ? " - " : " + ") + std::to_string(offset < 0 ? -offset : offset);
    return text;
}

std::string KernelNames::outerPart(const Affine &index) const
{
    std::vector<std::pair<std::string, std::int64_t>> terms;
    for (const auto &[axis, coefficient] : index.terms) {
        if (m_kernel.isOuter(axis))
            terms.emplace_back(axis == m_schedule.laneAxis ? "lane0" : m_axes.at(axis), coefficient);
    }
    return sum(terms, index.offset);
}

std::string KernelNames::innerPart(const Affine &index) const
{
    std::vector<std::pair<std::string, std::int64_t>> terms;
    for (const auto &[axis, coefficient] : index.terms) {
        if (axis == m_schedule.laneAxis)
            terms.emplace_back(m_lane, coefficient);
        else if (!m_kernel.isOuter(axis))
            terms.emplace_back(m_axes.at(axis), coefficient);
    }
    return sum(terms, 0);
}

std::string KernelNames::fullIndex(const Affine &index) const
{
    const std::string outer = outerPart(index);
    const std::string inner = innerPart(index);
    if (outer == "0")
        return inner;
    return inner == "0" ? outer : outer + " + " + inner;
}

std::string KernelNames::spaceIndex(int space) const
{
    const auto &axes = m_kernel.spaces[static_cast<std::size_t>(space)];
    std::vector<std::pair<std::string, std::int64_t>> terms;
    std::int64_t stride = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
        terms.insert(terms.begin(), {m_axes.at(axes[i]), stride});
        stride *= m_kernel.extent(axes[i]);
    }
    return sum(terms, 0);
}

std::string KernelNames::rowPointer(int buffer, const Affine &index) const
{
    const auto known = m_rows.find({buffer, outerPart(index)});
    return known == m_rows.end() ? parameter(buffer) : known->second;
}

std::vector<std::string> KernelNames::rowPointerLines() const
{
    std::vector<std::string> lines;
    for (const auto &[key, name] : m_rows) {
        const auto &[buffer, part] = key;
        const std::string isConst = m_kernel.writes(buffer) ? "" : "const ";
        lines.push_back(isConst + memoryType(m_kernel.buffer(buffer).type.dtype) + " *const " + name + " = "
                        + parameter(buffer) + " + " + part + ";");
    }
    return lines;
}

} // namespace heddle
