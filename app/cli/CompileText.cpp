// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/CompileText.h"

#include "core/compile/Diagnostic.h"
#include "core/verify/Words.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace heddle::cli {

namespace {

using Row = std::vector<std::string>;

std::size_t widthOf(const std::string &text)
{
    // Characters, not bytes.
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Columns as wide as their widest cell.
std::string tableText(const std::vector<Row> &rows)
{
    std::vector<std::size_t> widths;
    for (const Row &row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths.resize(std::max(widths.size(), i + 1));
            widths[i] = std::max(widths[i], widthOf(row[i]));
        }
    std::string out;
    for (const Row &row : rows) {
        std::string line = " ";
        for (std::size_t i = 0; i < row.size(); ++i)
            line += ' ' + row[i] + std::string(widths[i] - widthOf(row[i]) + 1, ' ');
        out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return out;
}

std::string bytesText(double bytes)
{
    std::array<char, 32> text{};
    if (bytes < 10'000)
        std::snprintf(text.data(), text.size(), "%.0f B", bytes);
    else if (bytes < 10'000'000)
        std::snprintf(text.data(), text.size(), "%.1f KiB", bytes / 1024);
    else
        std::snprintf(text.data(), text.size(), "%.1f MiB", bytes / (1024 * 1024));
    return text.data();
}

/// The number of a member, with `unit` behind; "?" where it is unknown.
std::string numberText(const Json &object, const char *key, const char *unit = "")
{
    const Json &value = memberOr(object, key);
    return value.is_number_integer() ? std::to_string(value.get<std::int64_t>()) + unit : "?";
}

std::string spillText(const Json &kernel)
{
    const Json &stores = memberOr(kernel, "spill_store_bytes");
    const Json &loads = memberOr(kernel, "spill_load_bytes");
    if (!stores.is_number() || !loads.is_number())
        return "?";
    if (stores == 0 && loads == 0)
        return "none";
    return numberText(kernel, "spill_store_bytes") + " + " + numberText(kernel, "spill_load_bytes") + " B";
}

std::string joined(const Json &words)
{
    std::string out;
    for (const Json &word : words)
        out += (out.empty() ? "" : ", ") + word.get<std::string>();
    return out;
}

/// "128 × 2" for a block of more than one dimension.
std::string blockText(const Json &launch)
{
    const Json &block = memberOr(launch, "block");
    if (!block.is_array())
        return "?";
    std::string out = std::to_string(block[0].get<std::int64_t>());
    const std::size_t last = block[2] != 1 ? 2 : block[1] != 1 ? 1 : 0;
    for (std::size_t i = 1; i <= last; ++i)
        out += " × " + std::to_string(block[i].get<std::int64_t>());
    return out;
}

Row kernelRow(const Json &kernel, const Json &launch)
{
    const Json &occupancy = memberOr(launch, "occupancy");
    Row row{stringOr(kernel, "name"),
            numberText(kernel, "registers"),
            spillText(kernel),
            numberText(kernel, "shared_static_bytes") + " + "
                + (launch.is_object() ? numberText(launch, "shared_dynamic_bytes") : "?") + " B",
            numberText(kernel, "code_bytes", " B"),
            memberOr(kernel, "assembly_seconds").is_number()
                ? timeText(numberOr(kernel, "assembly_seconds", 0.0))
                : "?",
            launch.is_object() ? blockText(launch) : "–"};
    if (!launch.is_object()) {
        row.insert(row.end(), {"–", "–", "no step launches it"});
    } else if (!occupancy.is_object()) {
        row.insert(row.end(), {"?", "?", "?"});
    } else {
        row.push_back(numberText(occupancy, "blocks"));
        row.push_back(std::to_string(static_cast<int>(numberOr(occupancy, "share", 0.0) * 100.0 + 0.5))
                      + " %");
        row.push_back(integerOr(occupancy, "blocks", 0) == 0 ? "it can't run"
                                                             : joined(memberOr(occupancy, "limiters")));
    }
    return row;
}

std::string kernelsText(const Json &kernels)
{
    std::vector<Row> rows{{"kernel", "registers", "spilled + reloaded", "static + dynamic shared", "code",
                           "ptxas", "block", "blocks/SM", "occupancy", "limited by"}};
    std::string notes;
    for (const Json &kernel : kernels) {
        const Json &launches = memberOr(kernel, "launches");
        if (launches.empty())
            rows.push_back(kernelRow(kernel, Json()));
        for (const Json &launch : launches) {
            rows.push_back(kernelRow(kernel, launch));
            if (const std::string message = stringOr(launch, "message"); !message.empty())
                notes += "  " + stringOr(kernel, "name") + ": " + message + '\n';
        }
        if (const std::int64_t stack = integerOr(kernel, "stack_bytes", 0); stack > 0)
            notes += "  " + stringOr(kernel, "name") + ": each thread has a stack of " + std::to_string(stack)
                + " B in local memory\n";
    }
    return rows.size() == 1 ? std::string() : tableText(rows) + notes;
}

std::string headline(const Json &report)
{
    const Json &target = memberOr(report, "target");
    const Json &compilation = memberOr(report, "compilation");
    const Json &compiler = memberOr(compilation, "compiler");
    std::string text = boolOr(compilation, "ok", false) ? "compiled for " : "it does not compile for ";
    text += stringOr(target, "architecture", stringOr(target, "name"));
    if (const std::string capability = stringOr(target, "capability"); !capability.empty())
        text += " (compute capability " + capability + ')';
    if (compiler.is_object())
        text += " by " + (stringOr(compiler, "name") == "NVRTC" ? "NVRTC " : std::string())
            + stringOr(compiler, "version");
    if (const double seconds = numberOr(memberOr(report, "seconds"), "compile", -1.0); seconds >= 0.0)
        text += (boolOr(compilation, "cached", false) ? ", from the cache in " : " in ") + timeText(seconds);
    if (const double bytes = numberOr(compilation, "binary_bytes", -1.0); bytes >= 0.0)
        text += ": " + bytesText(bytes);
    std::string tunables;
    for (const auto &[name, value] : memberOr(compilation, "tunables").items())
        tunables += (tunables.empty() ? "\nwith " : ", ") + name + '=' + value.dump();
    return text + tunables + '\n';
}

std::string codeText(const Json &compilation)
{
    std::string text;
    for (const auto &[source, ptx] : memberOr(compilation, "ptx").items())
        text += "\nPTX of " + source + '\n' + ptx.get<std::string>();
    for (const auto &[kernel, lines] : memberOr(compilation, "sass").items()) {
        text += "\nSASS of " + kernel + '\n';
        std::vector<Row> rows;
        for (const Json &line : lines) {
            const bool isLabel = memberOr(line, "offset").is_null();
            std::array<char, 16> offset{};
            std::snprintf(offset.data(), offset.size(), "%04llx",
                          static_cast<unsigned long long>(integerOr(line, "offset", 0)));
            rows.push_back(isLabel ? Row{stringOr(line, "text")}
                                   : Row{offset.data(), stringOr(line, "text"),
                                         line.contains("line")
                                             ? stringOr(line, "file") + ':' + numberText(line, "line")
                                             : std::string()});
        }
        text += tableText(rows);
    }
    return text;
}

std::string metricsText(const Json &metrics)
{
    if (!metrics.is_object())
        return {};
    std::vector<Row> rows{{"counters", "passes", "metrics", "what they tell"}};
    for (const Json &set : memberOr(metrics, "sets"))
        rows.push_back(
            {stringOr(set, "name"), numberText(set, "passes"),
             std::to_string(memberOr(set, "metrics").size())
                 + (memberOr(set, "missing").empty()
                        ? std::string()
                        : " (" + std::to_string(memberOr(set, "missing").size()) + " not on this chip)"),
             stringOr(set, "purpose")});
    return "\nwhat can be measured on " + stringOr(metrics, "chip") + ", by CUPTI "
        + stringOr(metrics, "version") + ": a kernel runs once for each pass\n" + tableText(rows);
}

} // namespace

std::string compileText(const Json &report)
{
    const Json &compilation = memberOr(report, "compilation");
    std::string text = headline(report);
    for (const Json &row : memberOr(report, "diagnostics"))
        text += "  " + placeText(row) + stringOr(row, "severity") + ": " + stringOr(row, "message") + '\n';
    return text + kernelsText(memberOr(compilation, "kernels"))
        + metricsText(memberOr(compilation, "metrics")) + codeText(compilation);
}

} // namespace heddle::cli
