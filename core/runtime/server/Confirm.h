// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Judge.h"

namespace heddle {

/// A Python candidate (a ModelNew file, or the export of a native one) in its own sandboxed process, serving calls on the
/// doorbell. Owns the process.
class Runner {
public:
    /// Loads the files with the task's arena. What the candidate itself does wrong is error(), not an error returned.
    static Result<Runner> load(const JudgeContext &context, const FileTree &files, const CancelToken &cancel);
    /// Exports a built native candidate to one ModelNew file, compiles its object ahead, and loads that.
    static Result<Runner> loadExport(const JudgeContext &context, const FileTree &files,
                                     const BuildOutcome &build, const CancelToken &cancel);

    const std::optional<Error> &error() const { return m_error; } ///< why it could not be loaded
    Subject &subject() { return *m_subject; }
    const Json &sandbox() const { return m_sandbox; }
    const Json &binding() const { return m_binding; } ///< {"state_by", "state_missing", "parameters"}
    /// {"own", "library", "framework"}: shares of the time of one call.
    Result<Json> coverage(const CancelToken &cancel);

private:
    Runner() = default;
    std::unique_ptr<Subject> m_subject;
    Json m_sandbox;
    Json m_binding;
    std::optional<Error> m_error;
};

} // namespace heddle
