// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/BuiltinOptimizer.h"
#include "core/workbench/PolicyTools.h"

namespace heddle {

Result<Json> LocalWorkbench::optimize(const std::string &id, const OptimizeOptions &options,
                                      const CancelToken &cancel, const ProgressSink &progress)
{
    if (options.policy != "builtin")
        return Error(Code::InvalidInput, "there is no policy of that name", options.policy,
                     "use --policy builtin");
    HEDDLE_TRY(OpenSession * open, session(id));
    HEDDLE_CHECK_OK(lint(id, cancel, progress));
    PolicyTools tools(*this, *open, options, cancel, progress);
    auto outcome = BuiltinOptimizer().run(tools);
    Json report{{"task", taskJson(*open)},
                {"target", {{"name", m_worker->target()}}},
                {"environment", memberOr(open->info, "environment")},
                {"session", id},
                {"lint", open->findings},
                {"candidate", nullptr}};
    if (!outcome) {
        if (outcome.error().code() != Code::NotCovered)
            return std::move(outcome).error();
        report["reason"] = "not_covered";
        report["message"] = outcome.error().message();
        return report;
    }
    if (!tools.best()) {
        report["reason"] = outcome->reason;
        report["message"] = outcome->message;
        return report;
    }
    report = tools.best()->report;
    report["reason"] = outcome->reason;
    report["proposal"] = tools.best()->proposal;
    if (!options.exportFolder.empty()) {
        auto written =
            exportCandidate(id, tools.best()->candidate, "modelnew", options.exportFolder, cancel, progress);
        // The proposal is open whatever becomes of its export: an error here would hide it.
        if (written)
            report["export"] = *std::move(written);
        else
            report["export"] = {{"error", toJson(written.error())}};
    }
    return report;
}

} // namespace heddle
