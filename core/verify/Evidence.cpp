// SPDX-License-Identifier: Apache-2.0
#include "core/verify/Evidence.h"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle {

namespace {

constexpr std::array<std::pair<VerdictClass, std::string_view>, 11> classNames{{
    {VerdictClass::NotJudged, "not_judged"},
    {VerdictClass::DidNotBuild, "did_not_build"},
    {VerdictClass::RewardHack, "reward_hack"},
    {VerdictClass::Crashed, "crashed"},
    {VerdictClass::TimedOut, "timed_out"},
    {VerdictClass::Wrong, "wrong"},
    {VerdictClass::Suspicious, "suspicious"},
    {VerdictClass::PrecisionChanged, "precision_changed"},
    {VerdictClass::StructureAssuming, "structure_assuming"},
    {VerdictClass::Fallback, "fallback"},
    {VerdictClass::Clean, "clean"},
}};

} // namespace

std::string_view className(VerdictClass value) { return classNames[static_cast<std::size_t>(value)].second; }

VerdictClass classFromName(std::string_view name)
{
    for (const auto &[value, word] : classNames) {
        if (word == name)
            return value;
    }
    return VerdictClass::NotJudged;
}

std::string_view statusName(Status status)
{
    switch (status) {
    case Status::Passed: return "passed";
    case Status::Failed: return "failed";
    case Status::NotRun: break;
    }
    return "not run";
}

const std::vector<EvidenceRow> &evidenceRows()
{
    using enum VerdictClass;
    static const std::vector<EvidenceRow> rows{
        {"builds", DidNotBuild, true, true, "Builds"},
        {"sandbox", NotJudged, true, true, "Sandbox"},
        {"ran", Crashed, true, true, "Runs to the end"},
        {"in_time", TimedOut, true, true, "Ends in time"},
        {"families", Clean, true, true, "Input families"},
        {"oracle_precision", Clean, true, true, "Precision of the reference"},
        {"correct", Wrong, true, true, "Correct"},
        {"domain", StructureAssuming, true, true, "Correct beyond the given inputs"},
        {"precision", PrecisionChanged, true, true, "As precise as eager"},
        {"outputs_written", Wrong, true, true, "Every output element written"},
        {"inputs_unchanged", Wrong, true, true, "Inputs left unchanged"},
        {"guard_zones", Wrong, true, true, "Writes inside its buffers"},
        {"repeatable", Wrong, true, true, "Same inputs, same outputs"},
        {"state_binding", StructureAssuming, false, true, "Follows its parameters"},
        {"work_after_return", RewardHack, true, true, "No work after return"},
        {"timed_outputs", RewardHack, true, true, "Timed calls are right too"},
        {"clock", RewardHack, true, true, "Clock out of reach"},
        {"machine_quiet", Clean, true, true, "Machine quiet"},
        {"timing", Clean, true, true, "Timing"},
        {"baseline_drift", Clean, false, true, "Baseline steady"},
        {"roof", Suspicious, true, true, "Physically possible"},
        {"coverage", Fallback, true, true, "Its own work"},
    };
    return rows;
}

void EvidenceSheet::set(std::string_view id, Status status, std::string message, Json data)
{
    const auto found =
        std::find_if(m_rows.begin(), m_rows.end(), [&](const Evidence &row) { return row.id == id; });
    Evidence row{std::string(id), status, std::move(message), std::move(data)};
    if (found == m_rows.end())
        m_rows.push_back(std::move(row));
    else if (found->status != Status::Failed && status != Status::NotRun)
        *found = std::move(row); // a finding stays, and a later "not run" does not undo a check that was made
}

void EvidenceSheet::pass(std::string_view id, std::string message, Json data)
{
    set(id, Status::Passed, std::move(message), std::move(data));
}

void EvidenceSheet::fail(std::string_view id, std::string message, Json data)
{
    set(id, Status::Failed, std::move(message), std::move(data));
}

void EvidenceSheet::skip(std::string_view id, std::string message, Json data)
{
    set(id, Status::NotRun, std::move(message), std::move(data));
}

void EvidenceSheet::withdraw(std::initializer_list<std::string_view> ids)
{
    std::erase_if(m_rows, [&](const Evidence &row) {
        return row.status != Status::Failed && std::find(ids.begin(), ids.end(), row.id) != ids.end();
    });
}

const Evidence *EvidenceSheet::find(std::string_view id) const
{
    const auto found =
        std::find_if(m_rows.begin(), m_rows.end(), [&](const Evidence &row) { return row.id == id; });
    return found == m_rows.end() ? nullptr : &*found;
}

VerdictClass EvidenceSheet::verdict() const
{
    VerdictClass worst = VerdictClass::Clean;
    for (const EvidenceRow &row : evidenceRows()) {
        const Evidence *evidence = find(row.id);
        if (evidence != nullptr && evidence->status == Status::Failed)
            worst = std::min(worst, row.ifFailed);
    }
    if (worst != VerdictClass::Clean)
        return worst;
    // A verdict is a claim that every check of correctness was made: an absent one makes none.
    for (const std::string_view id : {"builds", "sandbox", "ran", "correct", "outputs_written",
                                      "inputs_unchanged", "repeatable", "work_after_return", "precision"}) {
        const Evidence *evidence = find(id);
        if (evidence == nullptr || evidence->status == Status::NotRun)
            return VerdictClass::NotJudged;
    }
    return VerdictClass::Clean;
}

std::vector<std::string> EvidenceSheet::missing(std::string_view stage) const
{
    std::vector<std::string> out;
    for (const EvidenceRow &row : evidenceRows()) {
        const bool isDemanded = stage == "confirmed" ? row.inConfirmed : row.inQuick;
        if (isDemanded && find(row.id) == nullptr)
            out.emplace_back(row.id);
    }
    return out;
}

Json EvidenceSheet::toJson() const
{
    Json out = Json::array();
    for (const EvidenceRow &row : evidenceRows()) {
        if (const Evidence *evidence = find(row.id)) {
            out.push_back({{"id", evidence->id},
                           {"status", statusName(evidence->status)},
                           {"message", evidence->message},
                           {"data", evidence->data}});
        }
    }
    return out;
}

EvidenceSheet EvidenceSheet::fromJson(const Json &rows)
{
    EvidenceSheet sheet;
    for (const Json &row : rows) {
        const std::string word = stringOr(row, "status");
        const Status status = word == "passed" ? Status::Passed
            : word == "failed"                 ? Status::Failed
                                               : Status::NotRun;
        sheet.set(stringOr(row, "id"), status, stringOr(row, "message"), memberOr(row, "data"));
    }
    return sheet;
}

Json milestoneReward(VerdictClass verdict, const Json &deployed)
{
    if (verdict == VerdictClass::NotJudged)
        return nullptr;
    if (verdict != VerdictClass::Clean)
        return -1;
    const auto isFaster = [&](std::string_view baseline) {
        const Json &ratio = memberOr(deployed, baseline);
        const Json &interval = memberOr(ratio, "ci");
        return numberOr(ratio, "value", 0.0) > 1.05 && interval.is_array() && interval.size() == 2
            && interval[0].is_number() && interval[0].get<double>() > 1.0;
    };
    if (!isFaster("eager"))
        return 1;
    return isFaster("compile") ? 3 : 2;
}

} // namespace heddle
