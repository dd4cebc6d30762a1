// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/Context.h"

namespace heddle::cli {

/// Runs `work(session)` in a session on the task and ends the session by how it went. What `work` returned is returned,
/// also where the end can't be written: that is told and hides nothing.
template<typename Work>
Result<Json> inSession(Context &context, Workbench &workbench, const std::filesystem::path &task,
                       const std::string &policy, const Work &work)
{
    HEDDLE_TRY(const std::string session, workbench.startSession(task, policy));
    Result<Json> result = work(session);
    context.clearProgress();
    const bool isCancelled = !result && result.error().code() == Code::Cancelled;
    const std::string reason = result ? "done" : isCancelled ? "cancelled" : "failed";
    const auto ended = workbench.endSession(session, reason, result ? std::string() : result.error().text());
    if (!ended)
        context.tell(ended.error(), "session " + session);
    return result;
}

} // namespace heddle::cli
