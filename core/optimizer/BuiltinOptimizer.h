// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/agent/Tools.h"
#include "core/optimizer/Candidate.h"

#include <optional>
#include <string>

namespace heddle {

/// How a policy ended.
struct PolicyOutcome {
    std::string candidate; ///< digest of the best correct candidate, or empty
    std::string proposal;  ///< id of what was submitted, or empty
    std::string reason;    ///< "done", "at_roof", "no_candidate", "budget"
    std::string message;   ///< one sentence for a person
};

/// The built-in policy of the `cpu` target: baseline → graph → plan → candidate → verify → tune → submit.
/// It acts through Tools alone and argues from the figures that they return. Synchronous, on the caller's
/// thread; one object for one run.
class BuiltinOptimizer {
public:
    /// Errors: NotCovered naming the operators; Cancelled; what the tools return.
    Result<PolicyOutcome> run(Tools &tools);

private:
    struct Baseline {
        double bestMs = 0.0; ///< median of the fastest baseline
        std::string bestName;
        double roofMs = 0.0;
        double eagerBytes = 0.0;
        Json event;
    };
    struct Verified {
        std::string digest;
        WrittenCandidate written;
        Json report;
    };

    Result<void> readBaseline(Tools &tools);
    Result<void> writePlan(Tools &tools, const FusionPlan &plan);
    /// Proposes, compiles and verifies; nothing when it is not clean, with the reason in a note.
    Result<std::optional<Verified>> attempt(Tools &tools, WrittenCandidate candidate,
                                            const std::string &parent);
    Result<void> tune(Tools &tools, Verified &best);
    Result<PolicyOutcome> giveUp(Tools &tools, const std::string &reason, const std::string &message,
                                 const Json &figures);
    Result<PolicyOutcome> explainRefusal(Tools &tools, const Json &submitted);
    Result<PolicyOutcome> finish(Tools &tools, const Verified &best);
    bool isAtRoof(double ms) const;

    Baseline m_baseline;
    double m_bestMs = 0.0;
    Json m_bestCi;
    Json m_bestEvent;
    bool m_ranOutOfTime = false;
};

} // namespace heddle
