// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/sandbox/Policy.h"

#include <filesystem>
#include <vector>

namespace heddle {

/// What a compiler needs to be seen besides /usr so that it works in the sandbox.
struct CompilerView {
    std::vector<std::filesystem::path>
        readOnly; ///< for SandboxPolicy::readOnly; empty for a compiler of the system
    std::vector<std::filesystem::path>
        pathFolders; ///< further folders of $PATH: of an assembler or linker elsewhere

    /// Lets a child see it. `policy.environment` must not name PATH itself.
    void addTo(SandboxPolicy &policy) const;
};

/// Finds the installation of `program` (an absolute path, g++ or clang++ or a script that ends in one): by its links, and by
/// asking it where its parts, headers and libraries are. It runs outside the sandbox for that, on no file: which compiler is
/// used, only the person says. Of folders that hold more than programs (/, the home folder, /tmp and what lies above them)
/// nothing is ever shown. Takes up to 0.1 s for a compiler outside /usr, nothing for others.
/// Errors: Environment where the compiler is installed into such a folder itself, or does not answer.
Result<CompilerView> viewOfCompiler(const std::filesystem::path &program);

} // namespace heddle
