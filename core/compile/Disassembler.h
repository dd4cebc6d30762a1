// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/HostCompiler.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// One line of a kernel's machine code: an instruction with its offset, or a label without one.
struct SassLine {
    std::optional<std::uint32_t> offset; ///< bytes from the start of the kernel
    std::string text;
    std::string file; ///< where it comes from, as far as line information says; empty where unknown
    int line = 0;     ///< from 1; 0 where unknown
};

struct SassKernel {
    std::string name;
    std::vector<SassLine> lines;
};

/// nvdisasm, NVIDIA's disassembler: found at run time and run by a launcher (the sandbox), since a cubin is made from a
/// stranger's source. Needs no GPU. Thread-safe as its launcher is.
class Disassembler {
public:
    /// The first of `programs` that answers. Errors: Environment, saying how to get one.
    static Result<Disassembler> create(const std::vector<std::filesystem::path> &programs,
                                       CompilerLauncher launch);

    const std::filesystem::path &program() const { return m_program; }
    const std::string &version() const { return m_version; } ///< "13.0"

    /// The machine code of each kernel of a cubin that CudaCompiler made. `ownFiles` are the names of the candidate's files and
    /// of our headers; other places are absolute paths. Errors: Environment where nvdisasm does not know the architecture, with
    /// what it said; those of the launch.
    Result<std::vector<SassKernel>> disassemble(const std::string &cubin,
                                                const std::set<std::string> &ownFiles,
                                                const CancelToken &cancel = {}) const;

private:
    Disassembler(std::filesystem::path program, std::string version, CompilerLauncher launch);
    std::filesystem::path m_program;
    std::string m_version;
    CompilerLauncher m_launch;
};

/// Reads what `nvdisasm -c -g` prints. Never fails: lines that are neither code nor a label are left out.
std::vector<SassKernel> parseSass(std::string_view text);

/// [{"offset", "text", "file", "line"}]; offset null for a label, file and line left out where unknown.
Json toJson(const SassKernel &kernel);

} // namespace heddle
