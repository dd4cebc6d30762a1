// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Compare.h"
#include "core/runtime/server/Judge.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace heddle {

/// One open task in the worker: its oracle, input sets, baselines and roof. The oracle is opened again after it died.
/// Used under the device lock by one request at a time.
class TaskHost {
public:
    TaskHost(Machine &machine, Builder &builder, Executors &executors, TaskSource task);

    /// Opens the oracle if it is not there. The result of `open`.
    Result<Json> open(const CancelToken &cancel);
    Result<Json> lint(const CancelToken &cancel);
    Result<Json> graph(const CancelToken &cancel);
    /// {"baselines", "operators", "roof", "environment", "skipped"}; measured once, then from memory unless `again`.
    Result<Json> baseline(BaselineDepth depth, bool again, const CancelToken &cancel,
                          const ProgressSink &progress);
    /// Compiles against this task's layout.
    Result<BuildOutcome> compile(const FileTree &files, const Json &tunables, const CancelToken &cancel);
    Result<Json> judge(const JudgeRequest &request, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> benchmark(const JudgeRequest &request, const CancelToken &cancel);
    /// compareSides() on this task.
    Result<Json> compare(const CompareSide &subject, const CompareSide &other, int judgements,
                         const CancelToken &cancel, const ProgressSink &progress);
    /// One small step of idle work; false when there is none, or when the last one failed.
    bool prepareAhead();
    /// Kills the oracle, as a request that failed or was cancelled demands.
    void drop();

private:
    Result<void> ensureBaselines(BaselineDepth depth, const CancelToken &cancel,
                                 const ProgressSink &progress);
    JudgeContext context();
    Result<TaskRoof> measureTaskRoof(const CancelToken &cancel);
    template<typename Work>
    auto guarded(const Work &work) -> decltype(work());

    Machine &m_machine;
    Builder &m_builder;
    Executors &m_executors;
    TaskSource m_task;
    std::optional<Oracle> m_oracle;
    std::optional<InputSets> m_sets;
    std::optional<BaselineSet> m_baselines;
    BaselineDepth m_depth = BaselineDepth::Eager;
    std::optional<TaskRoof> m_roof;
    Json m_profile;
    bool m_canPrepare = true; ///< idle work has not failed since the last request for a verdict
};

} // namespace heddle
