// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/PolicyTools.h"

#include <algorithm>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

/// What an answer shows in the log: large members stay in the events that measured them.
Json shortened(const Json &value)
{
    Json out = Json::object();
    if (!value.is_object())
        return value.is_string() ? Json{{"value", value}} : out;
    for (const auto &[key, member] : value.items()) {
        const bool isSmall = member.is_primitive() || compactText(member).size() < 300;
        if (isSmall)
            out[key] = member;
    }
    if (memberOr(value, "verdict").is_object())
        out["class"] = stringOr(value["verdict"], "class");
    return out;
}

Json shortened(const std::string &value) { return {{"value", value}}; }

} // namespace

PolicyTools::PolicyTools(LocalWorkbench &workbench, OpenSession &session, const OptimizeOptions &options,
                         CancelToken cancel, ProgressSink progress)
    : m_workbench(workbench),
      m_session(session),
      m_end(Clock::now()
            + std::chrono::duration_cast<Clock::duration>(
                std::chrono::duration<double>(options.budgetSeconds))),
      m_tolerance(options.tolerance),
      m_cancel(std::move(cancel)),
      m_progress(std::move(progress))
{
}

double PolicyTools::secondsLeft() const
{
    return std::chrono::duration<double>(m_end - Clock::now()).count();
}

Result<Event> PolicyTools::append(const std::string &type, const Json &data)
{
    return m_workbench.store().append(m_session.id, m_session.policy, type, data);
}

template<typename Work>
auto PolicyTools::recorded(const std::string &tool, Json arguments, const Work &work) -> decltype(work())
{
    HEDDLE_TRY(const Event call,
               append("tool_called", {{"tool", tool}, {"arguments", std::move(arguments)}}));
    const auto start = Clock::now();
    auto result = work();
    Json returned{{"tool", tool},
                  {"call", call.id},
                  {"ok", result.has_value()},
                  {"seconds", std::chrono::duration<double>(Clock::now() - start).count()}};
    if (result)
        returned["result"] = shortened(*result);
    else
        returned["error"] = toJson(result.error());
    HEDDLE_CHECK_OK(append("tool_returned", returned));
    return result;
}

Result<Json> PolicyTools::profileBaseline()
{
    return recorded("profile_baseline", Json::object(), [&]() -> Result<Json> {
        HEDDLE_TRY(Json measured, m_workbench.measureBaseline(m_session, m_cancel, m_progress));
        Json result = std::move(measured["result"]);
        result["event"] = measured["event"];
        return result;
    });
}

Result<Json> PolicyTools::graph()
{
    return recorded("graph", Json::object(), [&]() -> Result<Json> {
        tellStage(m_progress, "capturing the graph");
        HEDDLE_TRY(Json graph,
                   m_workbench.callTask(m_session, "task.graph", Json::object(), m_cancel, m_progress));
        HEDDLE_TRY(const std::string blob, m_workbench.store().putBlob(compactText(graph)));
        HEDDLE_TRY(const Event event,
                   append("graph_captured", {{"operators", memberOr(graph, "operators")}, {"blob", blob}}));
        graph["event"] = event.id;
        return graph;
    });
}

Result<std::string> PolicyTools::proposeEdit(const FileTree &files, const std::string &parent,
                                             const std::string &planItem)
{
    Json names = Json::array();
    for (const auto &[name, bytes] : files)
        names.push_back(name);
    return recorded("propose_edit", {{"files", names}, {"parent", parent}, {"plan_item", planItem}},
                    [&] { return m_workbench.addCandidate(m_session, files, parent, planItem); });
}

Result<Json> PolicyTools::compile(const std::string &candidate)
{
    return recorded("compile", {{"candidate", candidate}}, [&]() -> Result<Json> {
        tellStage(m_progress, "compiling a kernel");
        HEDDLE_TRY(const FileTree files, m_workbench.store().tree(candidate));
        HEDDLE_TRY(Json built,
                   m_workbench.callTask(m_session, "candidate.compile",
                                        {{"files", files}, {"tunables", Json::object()}}, m_cancel,
                                        m_progress));
        HEDDLE_TRY(const Event event,
                   append("compiled",
                          {{"candidate", candidate},
                           {"ok", memberOr(built, "ok")},
                           {"diagnostics", memberOr(built, "diagnostics")},
                           {"seconds", numberOr(built, "seconds", 0.0)}}));
        built["event"] = event.id;
        return built;
    });
}

Result<Json> PolicyTools::judge(const std::string &candidate, const std::string &stage)
{
    HEDDLE_TRY(const FileTree files, m_workbench.store().tree(candidate));
    JudgeOptions options;
    options.stage = stage;
    options.tolerance = m_tolerance;
    return m_workbench.judgeCandidate(m_session, files, options, m_cancel, m_progress);
}

Result<Json> PolicyTools::verify(const std::string &candidate)
{
    return recorded("verify", {{"candidate", candidate}}, [&]() -> Result<Json> {
        HEDDLE_TRY(Json judged, judge(candidate, "quick"));
        Json report = std::move(judged["report"]);
        report["event"] = judged["event"];
        return report;
    });
}

Result<Json> PolicyTools::benchmark(const std::string &candidate, const Json &tunables)
{
    return recorded("benchmark", {{"candidate", candidate}, {"tunables", tunables}}, [&]() -> Result<Json> {
        tellStage(m_progress, "tuning");
        HEDDLE_TRY(const FileTree files, m_workbench.store().tree(candidate));
        HEDDLE_TRY(Json timing,
                   m_workbench.callTask(m_session, "candidate.benchmark",
                                        {{"files", files}, {"tunables", tunables}}, m_cancel, m_progress));
        Json data = timing;
        data["candidate"] = candidate;
        data["tunables"] = tunables;
        HEDDLE_TRY(const Event event, append("benchmarked", data));
        timing["event"] = event.id;
        return timing;
    });
}

Result<Json> PolicyTools::submit(const std::string &candidate, const std::string &summary)
{
    return recorded("submit", {{"candidate", candidate}, {"summary", summary}},
                    [&] { return submitJudged(candidate, summary); });
}

Result<Json> PolicyTools::submitJudged(const std::string &candidate, const std::string &summary)
{
    HEDDLE_TRY(Json judged, judge(candidate, "confirmed"));
    const Json &report = judged["report"];
    Json result{{"report", report}, {"event", judged["event"]}, {"proposal", nullptr}};
    m_lastReport = report;
    if (stringOr(memberOr(report, "verdict"), "class") != "clean")
        return result;
    // Slower than the best baseline is no proposal: the person would have to find that out alone.
    const Json &ratio = memberOr(memberOr(memberOr(report, "speedup"), "deployed"), "strongest");
    if (numberOr(ratio, "value", 0.0) < 1.0)
        return result;
    const bool isBetter = !m_best
        || numberOr(memberOr(report, "candidate"), "undisturbed_ms", 1e300)
            < numberOr(memberOr(m_best->report, "candidate"), "undisturbed_ms", 1e300);
    std::string item;
    HEDDLE_TRY(const std::vector<CandidateRow> rows, m_workbench.store().candidates(m_session.id));
    for (const CandidateRow &row : rows) {
        if (row.digest == candidate)
            item = row.planItem;
    }
    HEDDLE_TRY(const std::string proposal, m_workbench.propose(m_session.id, candidate, item, summary));
    result["proposal"] = proposal;
    if (isBetter)
        m_best = BestSubmission{candidate, proposal, report};
    return result;
}

Result<void> PolicyTools::writePlan(const std::vector<PlanItem> &items)
{
    Json list = Json::array();
    for (const PlanItem &item : items)
        list.push_back({{"id", item.id},
                        {"title", item.title},
                        {"boundary", item.boundary},
                        {"expected", item.expected},
                        {"state", item.state}});
    HEDDLE_CHECK_OK(append("plan_written", {{"items", list}}));
    return {};
}

Result<void> PolicyTools::updatePlanItem(const std::string &id, const std::string &state,
                                         const std::string &note)
{
    HEDDLE_CHECK_OK(append("plan_item_changed", {{"id", id}, {"state", state}, {"note", note}}));
    return {};
}

Result<void> PolicyTools::note(const std::string &text, const Json &figures)
{
    HEDDLE_CHECK_OK(append("note", {{"text", text}, {"figures", figures}}));
    return {};
}

} // namespace heddle
