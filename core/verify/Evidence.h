// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// The outcome for one candidate, in the order of precedence: the first that applies is the class.
enum class VerdictClass {
    NotJudged, ///< cancelled, or the environment failed
    DidNotBuild,
    RewardHack, ///< right when checked, wrong or absent when timed; work hidden from the clock
    Crashed,
    TimedOut,
    Wrong,
    Suspicious,        ///< faster than physically possible, or a check that could not be explained
    PrecisionChanged,  ///< within tolerance, but clearly less exact than eager
    StructureAssuming, ///< right only on inputs like those of get_inputs
    Fallback,          ///< the work is done by the framework, not by the candidate
    Clean,
};

std::string_view className(VerdictClass value);
/// NotJudged for an unknown word.
VerdictClass classFromName(std::string_view name);

enum class Status { Passed, Failed, NotRun };
std::string_view statusName(Status status);

/// One row of the evidence sheet.
struct Evidence {
    std::string id; ///< a row of evidenceRows(), such as "correct"
    Status status = Status::NotRun;
    std::string message; ///< one sentence
    Json data = Json::object();
};

/// A check that a verdict of some stage must have a row for.
struct EvidenceRow {
    std::string_view id;
    VerdictClass ifFailed;  ///< the class a failure leads to; Clean: a remark only
    bool inQuick;           ///< the quick stage has it
    bool inConfirmed;       ///< the confirmed stage has it
    std::string_view title; ///< a few words for a table
};

/// Every row, in the order they are shown.
const std::vector<EvidenceRow> &evidenceRows();

/// The rows of one candidate. Not thread-safe.
class EvidenceSheet {
public:
    void pass(std::string_view id, std::string message, Json data = Json::object());
    void fail(std::string_view id, std::string message, Json data = Json::object());
    void skip(std::string_view id, std::string message, Json data = Json::object());

    /// Takes rows back that an earlier stage wrote and that say nothing of the one that begins. A finding stays.
    void withdraw(std::initializer_list<std::string_view> ids);

    const std::vector<Evidence> &rows() const { return m_rows; }
    const Evidence *find(std::string_view id) const;
    /// The first class that applies by precedence; NotJudged if `correct` was never run.
    VerdictClass verdict() const;
    /// The rows that this stage demands and the sheet lacks. Empty for a complete verdict.
    std::vector<std::string> missing(std::string_view stage) const;
    Json toJson() const;
    static EvidenceSheet fromJson(const Json &rows);

private:
    void set(std::string_view id, Status status, std::string message, Json data);
    std::vector<Evidence> m_rows;
};

/// Milestone reward of CUDA Agent (arXiv 2602.24286): -1 not clean, 1 clean, 2 also more than 5 % faster than
/// eager, 3 also more than 5 % faster than compile; null (no value) for not_judged. A speedup counts only where
/// its interval excludes 1. `deployed` is {"eager": {"value","ci"}, "compile": …} or null.
Json milestoneReward(VerdictClass verdict, const Json &deployed);

} // namespace heddle
