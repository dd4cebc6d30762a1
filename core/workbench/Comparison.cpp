// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/Comparison.h"

namespace heddle {

std::string reasonNotTimed(const Json &report)
{
    std::string reason;
    bool isTimed = false;
    for (const Json &row : memberOr(memberOr(report, "verdict"), "evidence")) {
        const std::string id = stringOr(row, "id");
        if (id != "machine_quiet" && id != "timing")
            continue;
        const bool isPassed = stringOr(row, "status") == "passed";
        isTimed = isTimed || (id == "timing" && isPassed);
        // The row of the machine has the figures, so its words are the better ones.
        if (!isPassed && (reason.empty() || id == "machine_quiet"))
            reason = stringOr(row, "message");
    }
    if (reason.empty() && !isTimed)
        reason = "it was not timed";
    return reason;
}

Json againstJson(const std::string &candidate, const Result<Json> &compared)
{
    Json against{{"candidate", candidate}, {"speedup", nullptr}};
    if (!compared) {
        against["message"] = compared.error().text();
        return against;
    }
    const Json &ratios = memberOr(*compared, "ratios");
    if (ratios.is_array() && !ratios.empty() && ratios.front().is_object())
        against["speedup"] = ratios.front();
    else
        against["message"] = stringOr(*compared, "message", "the comparison gave no ratio");
    return against;
}

} // namespace heddle
