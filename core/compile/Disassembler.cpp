// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Disassembler.h"

#include <charconv>
#include <cstdlib>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr const char *cubinName = "module.cubin";

CompileCommand commandOf(const fs::path &program, std::vector<std::string> arguments, FileTree files)
{
    return {.program = program.string(),
            .arguments = std::move(arguments),
            .environment = {},
            .files = std::move(files),
            .output = {},
            .readOnly = {program},
            .isHostCompiler = false};
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t start = text.find_first_not_of(" \t\r");
    if (start == std::string_view::npos)
        return {};
    return text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

/// "release 13.0, V13.0.39" → "13.0"; empty where it is not said.
std::string releaseIn(std::string_view text)
{
    constexpr std::string_view mark = "release ";
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos)
        return {};
    const std::string_view rest = text.substr(at + mark.size());
    return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

/// Reads `//## File "kernel.cu", line 12 …` into `at`.
void readPlace(std::string_view comment, SassLine &at)
{
    const std::size_t open = comment.find('"');
    const std::size_t close = open == std::string_view::npos ? open : comment.find('"', open + 1);
    constexpr std::string_view mark = "line ";
    const std::size_t number = close == std::string_view::npos ? close : comment.find(mark, close);
    int line = 0;
    if (number == std::string_view::npos
        || std::from_chars(comment.data() + number + mark.size(), comment.data() + comment.size(), line).ec
            != std::errc())
        return;
    at.file = std::string(comment.substr(open + 1, close - open - 1));
    at.line = line;
}

/// Reads "/*0070*/   IADD R1, R2 ;" into an offset and a text.
bool readInstruction(std::string_view text, SassLine &at)
{
    const std::size_t end = text.find("*/");
    std::uint32_t offset = 0;
    if (!text.starts_with("/*") || end == std::string_view::npos)
        return false;
    const auto [stop, code] = std::from_chars(text.data() + 2, text.data() + end, offset, 16);
    if (code != std::errc() || stop != text.data() + end)
        return false;
    at.offset = offset;
    at.text = std::string(trimmed(text.substr(end + 2)));
    return true;
}

} // namespace

Disassembler::Disassembler(fs::path program, std::string version, CompilerLauncher launch)
    : m_program(std::move(program)), m_version(std::move(version)), m_launch(std::move(launch))
{
}

Result<Disassembler> Disassembler::create(const std::vector<fs::path> &programs, CompilerLauncher launch)
{
    std::error_code code;
    std::string said;
    for (const fs::path &program : programs) {
        if (!fs::is_regular_file(program, code))
            continue;
        const auto output = launch(commandOf(program, {"--version"}, {}), {});
        if (output && output->exitCode == 0)
            if (const std::string version = releaseIn(output->log); !version.empty())
                return Disassembler(program, version, std::move(launch));
        said = output ? output->log.substr(0, 200) : output.error().message();
    }
    const char *chosen = std::getenv("HEDDLE_NVDISASM");
    const bool isChosen = chosen != nullptr && chosen[0] != '\0';
    return Error(
        Code::Environment,
        std::string(isChosen ? "HEDDLE_NVDISASM names no working nvdisasm" : "there is no working nvdisasm")
            + " (the disassembler of CUDA)" + (said.empty() ? "" : ": " + said),
        isChosen ? chosen : "",
        isChosen ? "set it to the program, or leave it out to have one looked for"
                 : "pip install nvidia-cuda-nvdisasm, or install a CUDA toolkit, or set HEDDLE_NVDISASM");
}

Result<std::vector<SassKernel>> Disassembler::disassemble(const std::string &cubin,
                                                          const std::set<std::string> &ownFiles,
                                                          const CancelToken &cancel) const
{
    HEDDLE_TRY(const CompilerOutput output,
               m_launch(commandOf(m_program, {"-c", "-g", cubinName}, {{cubinName, cubin}}), cancel));
    std::vector<SassKernel> kernels = parseSass(output.log);
    if (output.exitCode != 0 || kernels.empty())
        return Error(Code::Environment,
                     "nvdisasm " + m_version + " can't read this code: "
                         + std::string(trimmed(std::string_view(output.log).substr(0, 300))),
                     m_program.string(), "use an nvdisasm that is not older than NVRTC, by HEDDLE_NVDISASM");
    // NVRTC calls the files that were given in memory by their place below the folder where it works, which is /.
    for (SassKernel &kernel : kernels)
        for (SassLine &line : kernel.lines)
            if (line.file.starts_with('/') && ownFiles.count(line.file.substr(1)) != 0)
                line.file.erase(0, 1);
    return kernels;
}

std::vector<SassKernel> parseSass(std::string_view text)
{
    constexpr std::string_view section = ".section";
    constexpr std::string_view code = ".text.";
    std::vector<SassKernel> kernels;
    SassLine at; // the place that the next instructions come from
    const auto dropLastLabels = [&] {
        while (!kernels.empty() && !kernels.back().lines.empty() && !kernels.back().lines.back().offset)
            kernels.back().lines.pop_back();
    };
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.starts_with(section)) {
            const std::string_view name = trimmed(line.substr(section.size()));
            if (!name.starts_with(code))
                continue;
            dropLastLabels();
            kernels.push_back({std::string(name.substr(code.size(), name.find(',') - code.size())), {}});
            at = {};
        } else if (kernels.empty()) {
            continue;
        } else if (line.starts_with("//##")) {
            readPlace(line, at);
        } else if (SassLine found = at; readInstruction(line, found)) {
            kernels.back().lines.push_back(std::move(found));
        } else if (line.starts_with(".L") && line.back() == ':') {
            kernels.back().lines.push_back({std::nullopt, std::string(line), {}, 0});
        }
    }
    dropLastLabels();
    return kernels;
}

Json toJson(const SassKernel &kernel)
{
    Json lines = Json::array();
    for (const SassLine &line : kernel.lines) {
        Json row{{"offset", line.offset ? Json(*line.offset) : Json()}, {"text", line.text}};
        if (line.line > 0) {
            row["file"] = line.file;
            row["line"] = line.line;
        }
        lines.push_back(std::move(row));
    }
    return lines;
}

} // namespace heddle
