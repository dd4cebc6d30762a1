// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/base/File.h"
#include "core/json/Json.h"
#include "core/session/Store.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Everything about the surroundings that a test replaces.
struct Environment {
    std::filesystem::path worker;        ///< the heddle-worker program
    std::filesystem::path python;        ///< the interpreter with torch; empty: found by the worker
    std::filesystem::path compiler;      ///< for kernels, on this machine; empty: $CXX, else g++
    std::filesystem::path package;       ///< folder with launch.py and heddle_oracle/
    std::filesystem::path resources;     ///< folder with tasks/, plans/, include/
    bool unsandboxed = false;            ///< --unsandboxed: allowed to run without a sandbox (recorded)
    std::string mode = "as-constructed"; ///< how models are judged: or "eval"; part of the task's digest
    std::uint64_t seed = 0;              ///< mixed into the oracle's secret

    /// Found from the running program's own location (build tree or installed), HEDDLE_PYTHON respected.
    static Environment fromProgram();
};

struct JudgeOptions {
    std::string stage = "quick";     ///< "quick" or "confirmed"
    std::optional<double> tolerance; ///< absolute and relative; empty: by dtype
    Json tunables = Json::object();
    std::string against; ///< digest of another candidate, or empty
};

struct OptimizeOptions {
    std::string policy = "builtin";
    double budgetSeconds = 120.0;
    std::optional<double> tolerance;    ///< as in JudgeOptions
    std::filesystem::path exportFolder; ///< empty: none
};

/// What to keep of a proposal. Empty `files` and `hunks`: all of it. Hunks count in the diff between the proposal's base
/// (the head when it was made) and the proposal, which is what `proposals show` and the review print.
struct Selection {
    std::vector<std::string> files;
    std::vector<std::pair<std::string, int>> hunks; ///< file, index of the hunk in its diff
};

/// The operations that the window and the command line share. Each is a plain synchronous call that
/// writes its acts and results as events to the store. Not thread-safe: one Workbench per thread (the
/// window makes one per job; they share the worker process through its socket).
class Workbench {
public:
    /// `target` is "cpu" or "ssh://HOST/cpu". Does not start the worker yet.
    static Result<std::unique_ptr<Workbench>> create(const Environment &environment,
                                                     const std::filesystem::path &workspace,
                                                     const std::string &target);
    virtual ~Workbench() = default;

    virtual Store &store() = 0;

    /// {"rows": [{"id", "ok", "found", "missing", "next"}]}. A local worker that cannot start is a row of its own, not an
    /// error: what it lacks is what a check-up is asked for. A row that is ok and has a "missing" is about something optional.
    virtual Result<Json> doctor(const CancelToken &cancel, const ProgressSink &progress) = 0;
    virtual Result<Json> noise(const CancelToken &cancel, const ProgressSink &progress) = 0;

    /// Starts a session on a task file and returns its id. `source` replaces the file's text (unsaved edits).
    virtual Result<std::string> startSession(const std::filesystem::path &task, const std::string &policy,
                                             const std::optional<std::string> &source = {}) = 0;
    virtual Result<void> endSession(const std::string &session, const std::string &reason,
                                    const std::string &message = {}) = 0;

    /// Each returns what it appended as the event's data.
    virtual Result<Json> lint(const std::string &session, const CancelToken &cancel,
                              const ProgressSink &progress) = 0;
    virtual Result<Json> baseline(const std::string &session, const CancelToken &cancel,
                                  const ProgressSink &progress) = 0;
    /// Returns the report (core/schemas/report.schema.json). "against" has a "speedup", or null and a "message" where the
    /// candidates could not be compared; the verdict is the same.
    virtual Result<Json> judge(const std::string &session, const FileTree &files, const JudgeOptions &options,
                               const CancelToken &cancel, const ProgressSink &progress) = 0;
    /// Runs a policy; returns the report of the best candidate, or with "candidate": null and a "reason". "export" is what
    /// exportCandidate() returned, or {"error"} where it failed.
    virtual Result<Json> optimize(const std::string &session, const OptimizeOptions &options,
                                  const CancelToken &cancel, const ProgressSink &progress) = 0;
    /// Opens a proposal for a judged candidate. Returns its id.
    virtual Result<std::string> propose(const std::string &session, const std::string &candidate,
                                        const std::string &item, const std::string &summary) = 0;

    /// The folder beside the task where its head lives as files: `<stem>.heddle/`.
    virtual std::filesystem::path headFolder(const std::string &taskPath) const = 0;
    /// Lands a proposal (three-way merge into the files on disk) or marks it stale and changes nothing (Conflict).
    /// `openBuffers`: text on screen by path relative to the head folder, merged instead of the disk's.
    /// Returns {"decision", "revision", "files": {name: new text}, "folder", "judged": whether what landed has a verdict for
    /// the task's text on disk, "verdict": its class or null}.
    virtual Result<Json> accept(const std::string &proposal, const Selection &selection,
                                const std::string &actor, const FileTree &openBuffers = {}) = 0;
    /// Rejects all of it, or only what `selection` names: then the rest stays to be decided.
    virtual Result<Json> reject(const std::string &proposal, const std::string &reason,
                                const std::string &comment, const std::string &actor,
                                const Selection &selection = {}) = 0;
    /// Undoes a decision by an inverse event and a three-way merge that keeps later typing.
    virtual Result<Json> undo(std::int64_t decision, const std::string &actor,
                              const FileTree &openBuffers = {}) = 0;
    virtual Result<void> comment(const std::string &proposal, const std::string &file, int line, int hunk,
                                 const std::string &text, const std::string &actor) = 0;
    /// Makes a revision of before the head again. What is on screen or on disk until then is kept as a revision. `task`:
    /// absolute, or relative to the workspace; NotFound where there is no such file.
    virtual Result<Json> restore(const std::string &task, const std::string &revision,
                                 const std::string &actor, const FileTree &openBuffers = {}) = 0;

    /// What an export would write, without writing it: {"files": {name: text}, "as", "checked"}. `as`: "modelnew" or
    /// "native"; a modelnew is checked in a clean Python process, then "checked" is {"ok", …}, else null.
    virtual Result<Json> previewExport(const std::string &session, const std::string &candidate,
                                       const std::string &as, const CancelToken &cancel,
                                       const ProgressSink &progress) = 0;
    /// Writes a preview, byte for byte, into a new or empty folder. Returns {"files": [names], "folder", "as", "checked"}.
    /// Errors: InvalidInput where the folder holds something; Io.
    virtual Result<Json> writeExport(const std::string &session, const std::string &candidate,
                                     const Json &preview, const std::filesystem::path &folder) = 0;
    /// Both in one: what the folder gets was previewed by nobody.
    virtual Result<Json> exportCandidate(const std::string &session, const std::string &candidate,
                                         const std::string &as, const std::filesystem::path &folder,
                                         const CancelToken &cancel, const ProgressSink &progress) = 0;
};

} // namespace heddle
