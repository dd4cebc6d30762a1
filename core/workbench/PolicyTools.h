// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/agent/Tools.h"
#include "core/workbench/LocalWorkbench.h"

#include <chrono>
#include <optional>

namespace heddle {

/// The best clean candidate that a policy has submitted so far.
struct BestSubmission {
    std::string candidate;
    std::string proposal;
    Json report;
};

/// The tools of one policy in one session: every call is an event `tool_called`, every answer `tool_returned`, and what was
/// measured an event of its own whose id the answer carries under "event". Lives as long as the policy runs.
class PolicyTools final : public Tools {
public:
    /// Of `options` the budget, which begins now, and the tolerance that every judgement of the session keeps to.
    PolicyTools(LocalWorkbench &workbench, OpenSession &session, const OptimizeOptions &options,
                CancelToken cancel, ProgressSink progress);

    const CancelToken &cancel() const override { return m_cancel; }
    double secondsLeft() const override;
    Result<Json> profileBaseline() override;
    Result<Json> graph() override;
    Result<std::string> proposeEdit(const FileTree &files, const std::string &parent,
                                    const std::string &planItem) override;
    Result<Json> compile(const std::string &candidate) override;
    Result<Json> verify(const std::string &candidate) override;
    Result<Json> benchmark(const std::string &candidate, const Json &tunables) override;
    Result<Json> submit(const std::string &candidate, const std::string &summary) override;
    Result<void> writePlan(const std::vector<PlanItem> &items) override;
    Result<void> updatePlanItem(const std::string &id, const std::string &state,
                                const std::string &note) override;
    Result<void> note(const std::string &text, const Json &figures) override;

    const std::optional<BestSubmission> &best() const { return m_best; }
    /// The last confirmed report that was not clean or not faster, for a person to read. Null without one.
    const Json &lastReport() const { return m_lastReport; }

private:
    template<typename Work>
    auto recorded(const std::string &tool, Json arguments, const Work &work) -> decltype(work());
    Result<Event> append(const std::string &type, const Json &data);
    Result<Json> judge(const std::string &candidate, const std::string &stage);
    Result<Json> submitJudged(const std::string &candidate, const std::string &summary);

    LocalWorkbench &m_workbench;
    OpenSession &m_session;
    std::chrono::steady_clock::time_point m_end;
    std::optional<double> m_tolerance;
    CancelToken m_cancel;
    ProgressSink m_progress;
    std::optional<BestSubmission> m_best;
    Json m_lastReport;
};

} // namespace heddle
