// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/HostCompiler.h"
#include "core/plan/Plan.h"
#include "core/runtime/server/Machine.h"

#include <chrono>
#include <map>
#include <optional>

namespace heddle {

/// What came of compiling a native candidate.
struct BuildOutcome {
    bool ok = false;
    Json diagnostics =
        Json::array(); ///< [{file, line, column, severity, message}], the candidate's own file names
    double seconds = 0.0;
    bool wasCached = false;
    std::filesystem::path object;
    Plan plan;
    std::map<std::string, std::int64_t> tunables; ///< of this build; names left out have their defaults
};

/// Compiles native candidates with the host compiler inside the sandbox; objects are cached by content.
/// One thread at a time.
class Builder {
public:
    /// `limit`: how long one candidate may keep the compiler.
    explicit Builder(Machine &machine, std::chrono::milliseconds limit = std::chrono::seconds(120))
        : m_machine(machine), m_limit(limit)
    {
    }
    /// A plan or source that is wrong, or that the compiler cannot finish within its limits of time and memory, is an
    /// outcome with diagnostics, not an error. With the task's `layout` the plan is
    /// checked against it as well. Errors: Environment, Cancelled.
    Result<BuildOutcome> build(const FileTree &files, const Json &tunables, const TaskLayout *layout,
                               const CancelToken &cancel);
    /// Runs any command of core/compile in the compiler's sandbox.
    Result<CompilerOutput> launch(const CompileCommand &command, const CancelToken &cancel);
    /// The compiler, found at the first call. Errors: Environment.
    Result<const HostCompiler *> compiler();

private:
    Machine &m_machine;
    std::chrono::milliseconds m_limit;
    std::optional<HostCompiler> m_compiler;
};

} // namespace heddle
