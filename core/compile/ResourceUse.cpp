// SPDX-License-Identifier: Apache-2.0
#include "core/compile/ResourceUse.h"

#include <charconv>

namespace heddle {

namespace {

/// The number that stands before `words` in `line` ("16 registers" → 16).
std::optional<std::int64_t> numberBefore(std::string_view line, std::string_view words)
{
    for (std::size_t at = line.find(words); at != std::string_view::npos; at = line.find(words, at + 1)) {
        std::size_t start = at;
        while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9')
            --start;
        std::int64_t value = 0;
        const auto [stop, code] = std::from_chars(line.data() + start, line.data() + at, value);
        if (start < at && code == std::errc() && stop == line.data() + at)
            return value;
    }
    return std::nullopt;
}

void set(std::optional<std::int64_t> &field, std::optional<std::int64_t> value)
{
    if (value)
        field = value;
}

/// "Compile time = 26.400 ms" → 0.0264
std::optional<double> secondsIn(std::string_view line)
{
    constexpr std::string_view mark = "Compile time = ";
    const std::size_t at = line.find(mark);
    double value = 0.0;
    if (at == std::string_view::npos)
        return std::nullopt;
    const auto [stop, code] =
        std::from_chars(line.data() + at + mark.size(), line.data() + line.size(), value);
    const std::string_view unit(stop, static_cast<std::size_t>(line.data() + line.size() - stop));
    return code == std::errc() && unit.starts_with(" ms") ? std::optional(value / 1e3) : std::nullopt;
}

/// What stands between the first pair of quotes.
std::string quoted(std::string_view line)
{
    const std::size_t start = line.find('\'');
    const std::size_t end = start == std::string_view::npos ? start : line.find('\'', start + 1);
    return end == std::string_view::npos ? std::string()
                                         : std::string(line.substr(start + 1, end - start - 1));
}

} // namespace

void ResourceUse::addFrom(const ResourceUse &other)
{
    const auto add = [](auto &field, const auto &from) {
        if (!field)
            field = from;
    };
    add(registers, other.registers);
    add(staticSharedBytes, other.staticSharedBytes);
    add(constantBytes, other.constantBytes);
    add(stackBytes, other.stackBytes);
    add(spillStoreBytes, other.spillStoreBytes);
    add(spillLoadBytes, other.spillLoadBytes);
    add(barriers, other.barriers);
    add(codeBytes, other.codeBytes);
    add(maxThreads, other.maxThreads);
    add(assemblySeconds, other.assemblySeconds);
}

Json toJson(const ResourceUse &use)
{
    const auto value = [](const std::optional<std::int64_t> &field) { return field ? Json(*field) : Json(); };
    return {{"registers", value(use.registers)},
            {"shared_static_bytes", value(use.staticSharedBytes)},
            {"constant_bytes", value(use.constantBytes)},
            {"stack_bytes", value(use.stackBytes)},
            {"spill_store_bytes", value(use.spillStoreBytes)},
            {"spill_load_bytes", value(use.spillLoadBytes)},
            {"barriers", value(use.barriers)},
            {"code_bytes", value(use.codeBytes)},
            {"max_threads", value(use.maxThreads)},
            {"assembly_seconds", use.assemblySeconds ? Json(*use.assemblySeconds) : Json()}};
}

std::map<std::string, ResourceUse> resourcesFromLog(std::string_view log)
{
    std::map<std::string, ResourceUse> uses;
    std::string entry;      // whose "Used … registers" line is awaited
    std::string last;       // the entry before that line
    std::string properties; // whose stack and spills come next: the entry, or a function that it calls
    while (!log.empty()) {
        const std::size_t end = log.find('\n');
        const std::string_view line = log.substr(0, end);
        log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
        if (line.find("Compiling entry function '") != std::string_view::npos) {
            entry = properties = last = quoted(line);
            uses[entry];
        } else if (const std::size_t at = line.find("Function properties for ");
                   at != std::string_view::npos) {
            properties = std::string(line.substr(at + 24));
        } else if (line.find(" bytes stack frame") != std::string_view::npos) {
            if (properties == entry && !entry.empty()) {
                ResourceUse &use = uses[entry];
                set(use.stackBytes, numberBefore(line, " bytes stack frame"));
                set(use.spillStoreBytes, numberBefore(line, " bytes spill stores"));
                set(use.spillLoadBytes, numberBefore(line, " bytes spill loads"));
            }
        } else if (line.find(": Used ") != std::string_view::npos && !entry.empty()) {
            ResourceUse &use = uses[entry];
            set(use.registers, numberBefore(line, " registers"));
            // A kernel for which this line has no shared memory or barrier uses none: ptxas leaves zeros out.
            use.barriers = numberBefore(line, " barriers").value_or(0);
            use.staticSharedBytes = numberBefore(line, " bytes smem").value_or(0);
            set(use.constantBytes, numberBefore(line, " bytes cmem[0]"));
            entry.clear();
        } else if (const auto seconds = secondsIn(line); seconds && !last.empty()) {
            uses[last].assemblySeconds = seconds;
        }
    }
    return uses;
}

} // namespace heddle
