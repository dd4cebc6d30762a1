// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/base/File.h"
#include "core/json/Json.h"

#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// One item of a plan, as a person sees, edits and reorders it.
struct PlanItem {
    std::string id;       ///< stable within the session: "item-1"
    std::string title;    ///< "Fuse mul, add, gelu into one pass"
    std::string boundary; ///< the operators inside, by name
    std::string expected; ///< the argument for it, with measured figures
    std::string state;    ///< "open", "working", "done", "dropped"
};

/// What a policy may do, and nothing else: each call is an event of the session, each result too.
/// The built-in optimiser and every agent use this same table. Synchronous; called on the policy's
/// thread; cancelled through `cancel()`. Errors are values.
class Tools {
public:
    virtual ~Tools() = default;

    virtual const CancelToken &cancel() const = 0;
    /// Seconds left of the budget.
    virtual double secondsLeft() const = 0;

    /// Baselines, operators, roof: {"baselines", "operators", "roof": {"ms", "bytes", "flops", "bound"}, ...}.
    virtual Result<Json> profileBaseline() = 0;
    /// The captured graph (docs/architecture/graph.md). Error NotCovered with the reason.
    virtual Result<Json> graph() = 0;
    /// Makes a candidate and shows nothing. Returns its digest.
    virtual Result<std::string> proposeEdit(const FileTree &files, const std::string &parent,
                                            const std::string &planItem) = 0;
    /// {"ok": bool, "diagnostics": [...], "seconds"}.
    virtual Result<Json> compile(const std::string &candidate) = 0;
    /// The quick verdict: a report as in core/schemas/report.schema.json.
    virtual Result<Json> verify(const std::string &candidate) = 0;
    /// Runner timing of a candidate with these tunables: {"median_ms", "undisturbed_ms", "ci_ms": [lo, hi], "runs"}. Correctness is
    /// not checked: only for choosing between variants of a verified candidate.
    virtual Result<Json> benchmark(const std::string &candidate, const Json &tunables) = 0;
    /// Makes the proposal (confirmed first). Returns its id and the confirmed report.
    virtual Result<Json> submit(const std::string &candidate, const std::string &summary) = 0;

    /// Writes or replaces the plan.
    virtual Result<void> writePlan(const std::vector<PlanItem> &items) = 0;
    virtual Result<void> updatePlanItem(const std::string &id, const std::string &state,
                                        const std::string &note) = 0;
    /// A sentence of the transcript. `figures` are [{"text", "value", "unit", "event"}], each with the event
    /// that measured it.
    virtual Result<void> note(const std::string &text, const Json &figures = Json::array()) = 0;
};

} // namespace heddle
