// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/workbench/Workbench.h"

#include <filesystem>
#include <memory>

namespace heddle {

/// How the fake behaves; one object for all workbenches of a test.
struct FakeSwitches {
    bool failsToBuild = false;     ///< judge() reports did_not_build with a diagnostic
    bool isSlow = false;           ///< optimize() and baseline() take until cancelled
    bool failsBaseline = false;    ///< baseline() returns an Environment error
    std::string verdict = "clean"; ///< class of each report
};

/// A Workbench over a real Store that needs no worker: it writes the events of a short, made-up run, so that
/// tests of the window have something to show. The figures are constants of the test. Same rules of threads
/// as a real one. No shipped target links it.
class FakeWorkbench final : public Workbench {
public:
    static Result<std::unique_ptr<Workbench>> create(const std::filesystem::path &workspace,
                                                     const FakeSwitches &switches);

    FakeWorkbench(std::unique_ptr<Store> store, const FakeSwitches &switches);

    Store &store() override { return *m_store; }
    Result<Json> doctor(const CancelToken &cancel, const ProgressSink &progress) override;
    Result<Json> noise(const CancelToken &cancel, const ProgressSink &progress) override;
    Result<std::string> startSession(const std::filesystem::path &task, const std::string &policy,
                                     const std::optional<std::string> &source) override;
    Result<void> endSession(const std::string &session, const std::string &reason,
                            const std::string &message) override;
    Result<Json> lint(const std::string &session, const CancelToken &cancel,
                      const ProgressSink &progress) override;
    Result<Json> baseline(const std::string &session, const CancelToken &cancel,
                          const ProgressSink &progress) override;
    Result<Json> judge(const std::string &session, const FileTree &files, const JudgeOptions &options,
                       const CancelToken &cancel, const ProgressSink &progress) override;
    Result<Json> optimize(const std::string &session, const OptimizeOptions &options,
                          const CancelToken &cancel, const ProgressSink &progress) override;
    Result<std::string> propose(const std::string &session, const std::string &candidate,
                                const std::string &item, const std::string &summary) override;
    std::filesystem::path headFolder(const std::string &taskPath) const override;
    Result<Json> accept(const std::string &proposal, const Selection &selection, const std::string &actor,
                        const FileTree &openBuffers) override;
    Result<Json> reject(const std::string &proposal, const std::string &reason, const std::string &comment,
                        const std::string &actor, const Selection &selection) override;
    Result<Json> undo(std::int64_t decision, const std::string &actor, const FileTree &openBuffers) override;
    Result<void> comment(const std::string &proposal, const std::string &file, int line, int hunk,
                         const std::string &text, const std::string &actor) override;
    Result<Json> restore(const std::string &taskPath, const std::string &revision, const std::string &actor,
                         const FileTree &openBuffers) override;
    Result<Json> previewExport(const std::string &session, const std::string &candidate,
                               const std::string &as, const CancelToken &cancel,
                               const ProgressSink &progress) override;
    Result<Json> writeExport(const std::string &session, const std::string &candidate, const Json &preview,
                             const std::filesystem::path &folder) override;
    Result<Json> exportCandidate(const std::string &session, const std::string &candidate,
                                 const std::string &as, const std::filesystem::path &folder,
                                 const CancelToken &cancel, const ProgressSink &progress) override;

    /// The files of the proposal that optimize() makes.
    static FileTree proposedFiles();
    /// A report of the given stage and class.
    static Json report(const std::string &stage, const std::string &verdict, const std::string &candidate);
    static Json baselines();

private:
    Result<void> waitIfSlow(const CancelToken &cancel, const ProgressSink &progress) const;
    std::string taskOf(const std::string &session);
    std::string taskDigestOf(const std::string &session);

    std::unique_ptr<Store> m_store;
    FakeSwitches m_switches;
};

} // namespace heddle
