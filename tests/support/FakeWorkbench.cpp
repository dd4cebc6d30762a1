// SPDX-License-Identifier: Apache-2.0
#include "tests/support/FakeWorkbench.h"

#include "core/base/Digest.h"
#include "core/diff/TreeDiff.h"
#include "core/workbench/TaskText.h"

#include <chrono>
#include <thread>

namespace heddle {

namespace fs = std::filesystem;

namespace {

const char *const kernelText = R"(// A fused kernel of the test's own.
#include "heddle_cpu.h"

extern "C" void scale_shift(const float *x, float *out, int64_t n)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; ++i) {
        const float value = x[i] * 1.5f + 0.25f;
        out[i] = value > 0.0f ? value : 0.0f;
    }
}
)";

const char *const planText = R"({
  "heddle": 1,
  "target": "cpu",
  "symbols": { "n": "input:x.shape[0] * input:x.shape[1]" },
  "steps": [
    { "kernel": "scale_shift", "source": "kernel.cpp",
      "args": [ {"ptr": "input:x"}, {"ptr": "out:0"}, {"i64": "n"} ] }
  ],
  "outputs": [ { "dtype": "float32", "shape": ["input:x.shape[0]", "input:x.shape[1]"] } ]
}
)";

Json ratio(double value, double spread)
{
    return {{"value", value}, {"ci", {value - spread, value + spread}}};
}

Json flags(const std::optional<double> &tolerance)
{
    return {{"tolerance", tolerance ? Json(*tolerance) : Json()}};
}

Json evidenceRow(const char *id, const char *status, const char *message, Json data = Json::object())
{
    return {{"id", id}, {"status", status}, {"message", message}, {"data", std::move(data)}};
}

} // namespace

Result<std::unique_ptr<Workbench>> FakeWorkbench::create(const fs::path &workspace,
                                                         const FakeSwitches &switches)
{
    HEDDLE_TRY(std::unique_ptr<Store> store, Store::open(workspace));
    return std::unique_ptr<Workbench>(std::make_unique<FakeWorkbench>(std::move(store), switches));
}

FakeWorkbench::FakeWorkbench(std::unique_ptr<Store> store, const FakeSwitches &switches)
    : m_store(std::move(store)), m_switches(switches)
{
}

FileTree FakeWorkbench::proposedFiles() { return {{"kernel.cpp", kernelText}, {"plan.json", planText}}; }

Json FakeWorkbench::baselines()
{
    return {{"eager", {{"median_ms", 3.904}, {"ci_ms", {3.851, 3.972}}, {"runs", 48}}},
            {"compile", {{"median_ms", 2.217}, {"ci_ms", {2.183, 2.262}}, {"runs", 48}}},
            {"strongest",
             {{"name", "max-autotune"}, {"median_ms", 2.196}, {"ci_ms", {2.164, 2.239}}, {"runs", 48}}}};
}

Json FakeWorkbench::report(const std::string &stage, const std::string &verdict, const std::string &candidate)
{
    const bool isConfirmed = stage == "confirmed";
    const bool isTimed = verdict == "clean";
    const Json speedups = {
        {"eager", ratio(3.24, 0.05)}, {"compile", ratio(1.84, 0.03)}, {"strongest", ratio(1.82, 0.03)}};
    Json report{
        {"schema", 1},
        {"command", "judge"},
        {"stage", stage},
        {"baselines", baselines()},
        {"candidate",
         {{"digest", candidate},
          {"format", "native"},
          {"policy", "builtin"},
          {"median_ms", isTimed ? Json(1.205) : Json()},
          {"ci_ms", isTimed ? Json{1.187, 1.229} : Json{nullptr, nullptr}},
          {"runs", 48}}},
        {"verdict",
         {{"class", verdict},
          {"evidence",
           {evidenceRow("builds", verdict == "did_not_build" ? "failed" : "passed", "The sources compile."),
            evidenceRow("task_inputs", verdict == "wrong" ? "failed" : "passed",
                        verdict == "wrong" ? "Element [3, 17] is 0.25, expected 1.75."
                                           : "All outputs agree with the fp64 reference.",
                        {{"max_abs", 1.19e-07}, {"wrong_count", verdict == "wrong" ? 4096 : 0}}),
            evidenceRow("heavy_tailed", "passed", "Heavy-tailed inputs agree.", {{"max_rel", 2.4e-07}}),
            evidenceRow("inputs_untouched", "passed", "No input was changed."),
            evidenceRow("confirmed_timing", isConfirmed ? "passed" : "not run",
                        isConfirmed ? "The export was timed in PyTorch."
                                    : "Only the confirmed stage runs it.")}}}},
        {"speedup",
         {{"runner", isTimed ? speedups : Json()}, {"deployed", isConfirmed && isTimed ? speedups : Json()}}},
        {"reward", isTimed ? 3 : -1},
        {"roof", {{"ms", 0.982}, {"share", 0.815}, {"bound", "memory"}}},
        {"coverage", {{"own", 1.0}, {"library", 0.0}, {"framework", 0.0}}},
        {"seconds", {{"compile", 0.31}, {"verify", 0.52}, {"benchmark", 1.9}, {"total", 2.81}}},
        {"environment", {{"torch", "2.9"}, {"threads", 2}, {"sandbox", {{"rung", "bubblewrap"}}}}}};
    if (verdict == "did_not_build")
        report["diagnostics"] = {{{"file", "kernel.cpp"},
                                  {"line", 8},
                                  {"column", 15},
                                  {"severity", "error"},
                                  {"message", "expected ';' before 'out'"}}};
    return report;
}

Result<void> FakeWorkbench::waitIfSlow(const CancelToken &cancel, const ProgressSink &progress) const
{
    double fraction = 0.0;
    while (m_switches.isSlow && !cancel.stop_requested()) {
        if (progress)
            progress({"measuring eager", fraction, "block 3 of 12"});
        fraction = fraction < 0.4 ? fraction + 0.05 : 0.4;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (cancel.stop_requested())
        return Error(Code::Cancelled, "the measurement was stopped");
    return {};
}

std::string FakeWorkbench::taskOf(const std::string &session)
{
    const auto row = m_store->session(session);
    return row && *row ? (*row)->taskPath : std::string();
}

std::string FakeWorkbench::taskDigestOf(const std::string &session)
{
    const auto row = m_store->session(session);
    return row && *row ? (*row)->taskDigest : std::string();
}

Result<Json> FakeWorkbench::doctor(const CancelToken &, const ProgressSink &)
{
    return Json{{"rows",
                 {{{"id", "compiler"}, {"ok", true}, {"found", "g++ 12.2"}, {"missing", ""}, {"next", ""}},
                  {{"id", "torch"},
                   {"ok", false},
                   {"found", ""},
                   {"missing", "no interpreter with PyTorch"},
                   {"next", "set HEDDLE_PYTHON"}}}}};
}

Result<Json> FakeWorkbench::noise(const CancelToken &, const ProgressSink &)
{
    return Json{{"rows", Json::array()}};
}

Result<std::string> FakeWorkbench::startSession(const fs::path &task, const std::string &policy,
                                                const std::optional<std::string> &source)
{
    HEDDLE_TRY(const TaskText text, readTask(m_store->workspace(), task, source));
    const std::string id = "s-" + randomHex(6);
    HEDDLE_CHECK_OK(m_store->append(
        id, policy, "session_started",
        {{"task",
          {{"name", task.stem().string()}, {"path", text.path}, {"digest", text.digest(Environment().mode)}}},
         {"target", "cpu"},
         {"policy", policy}}));
    return id;
}

Result<void> FakeWorkbench::endSession(const std::string &session, const std::string &reason,
                                       const std::string &message)
{
    HEDDLE_CHECK_OK(
        m_store->append(session, "system", "session_ended", {{"reason", reason}, {"message", message}}));
    return {};
}

Result<Json> FakeWorkbench::lint(const std::string &session, const CancelToken &, const ProgressSink &)
{
    const Json found{{"findings",
                      {{{"id", "nonnegative_output"},
                        {"severity", "info"},
                        {"message", "The output is never negative."}}}},
                     {"properties", Json::object()}};
    HEDDLE_CHECK_OK(m_store->append(session, "system", "linted", found));
    return found;
}

Result<Json> FakeWorkbench::baseline(const std::string &session, const CancelToken &cancel,
                                     const ProgressSink &progress)
{
    HEDDLE_CHECK_OK(waitIfSlow(cancel, progress));
    if (m_switches.failsBaseline)
        return Error(Code::Environment, "no interpreter with PyTorch was found", {},
                     "set HEDDLE_PYTHON to one");
    const Json measured{{"baselines", baselines()},
                        {"operators",
                         {{{"name", "aten::mul"}, {"count", 1}, {"self_ms", 1.61}, {"share", 0.42}},
                          {{"name", "aten::add"}, {"count", 1}, {"self_ms", 1.52}, {"share", 0.39}},
                          {{"name", "aten::relu"}, {"count", 1}, {"self_ms", 0.74}, {"share", 0.19}}}},
                        {"roof", {{"ms", 0.982}, {"bound", "memory"}}},
                        {"environment", {{"torch", "2.9"}, {"threads", 2}}}};
    HEDDLE_CHECK_OK(m_store->append(session, "system", "baseline_measured", measured));
    return measured;
}

Result<Json> FakeWorkbench::judge(const std::string &session, const FileTree &files,
                                  const JudgeOptions &options, const CancelToken &, const ProgressSink &)
{
    HEDDLE_TRY(const std::string digest, m_store->putTree(files));
    HEDDLE_CHECK_OK(
        m_store->append(session, "person", "candidate_created",
                        {{"candidate", digest}, {"parent", ""}, {"format", "native"}, {"plan_item", ""}}));
    Json made = report(options.stage, m_switches.failsToBuild ? "did_not_build" : m_switches.verdict, digest);
    made["flags"] = flags(options.tolerance);
    HEDDLE_CHECK_OK(m_store->append(session, "system", "judged",
                                    {{"candidate", digest},
                                     {"stage", options.stage},
                                     {"report", made},
                                     {"task_digest", taskDigestOf(session)}}));
    return made;
}

Result<Json> FakeWorkbench::optimize(const std::string &session, const OptimizeOptions &options,
                                     const CancelToken &cancel, const ProgressSink &progress)
{
    HEDDLE_CHECK_OK(waitIfSlow(cancel, progress));
    HEDDLE_CHECK_OK(lint(session, cancel, progress));
    HEDDLE_CHECK_OK(baseline(session, cancel, progress));
    HEDDLE_CHECK_OK(m_store->append(session, "builtin", "plan_written",
                                    {{"items",
                                      {{{"id", "item-1"},
                                        {"title", "Fuse mul, add and relu into one pass"},
                                        {"boundary", "mul, add, relu"},
                                        {"expected", "Three passes over memory become one."},
                                        {"state", "working"}}}}}));
    HEDDLE_TRY(const std::int64_t last, m_store->lastEventId());
    HEDDLE_CHECK_OK(m_store->append(
        session, "builtin", "note",
        {{"text", "Eager takes 3.90 ms and moves each value three times; one pass is enough."},
         {"figures", {{{"text", "3.90 ms"}, {"value", 3.904}, {"unit", "ms"}, {"event", last - 1}}}}}));
    const FileTree files = proposedFiles();
    HEDDLE_TRY(const std::string digest, m_store->putTree(files));
    HEDDLE_CHECK_OK(m_store->append(
        session, "builtin", "candidate_created",
        {{"candidate", digest}, {"parent", ""}, {"format", "native"}, {"plan_item", "item-1"}}));
    HEDDLE_CHECK_OK(m_store->append(
        session, "builtin", "compiled",
        {{"candidate", digest}, {"ok", true}, {"diagnostics", Json::array()}, {"seconds", 0.31}}));
    Json made = report("confirmed", "clean", digest);
    made["flags"] = flags(options.tolerance);
    HEDDLE_CHECK_OK(m_store->append(session, "system", "judged",
                                    {{"candidate", digest},
                                     {"stage", "confirmed"},
                                     {"report", made},
                                     {"task_digest", taskDigestOf(session)}}));
    HEDDLE_TRY(const std::string proposal,
               propose(session, digest, "item-1", "One fused pass for mul, add and relu"));
    HEDDLE_CHECK_OK(m_store->append(session, "builtin", "plan_item_changed",
                                    {{"id", "item-1"}, {"state", "done"}, {"note", "proposed"}}));
    return made;
}

Result<std::string> FakeWorkbench::propose(const std::string &session, const std::string &candidate,
                                           const std::string &item, const std::string &summary)
{
    const std::string task = taskOf(session);
    HEDDLE_TRY(const std::optional<HeadRow> head, m_store->head(task));
    const std::string id = "p-" + randomHex(6);
    HEDDLE_CHECK_OK(m_store->append(session, "builtin", "proposal_opened",
                                    {{"proposal", id},
                                     {"task_path", task},
                                     {"candidate", candidate},
                                     {"base", head ? head->digest : std::string()},
                                     {"item", item},
                                     {"summary", summary}}));
    return id;
}

fs::path FakeWorkbench::headFolder(const std::string &taskPath) const
{
    const fs::path file = m_store->workspace() / taskPath;
    return file.parent_path() / (file.stem().string() + ".heddle");
}

Result<Json> FakeWorkbench::accept(const std::string &id, const Selection &selection,
                                   const std::string &actor, const FileTree &)
{
    HEDDLE_TRY(const std::optional<ProposalRow> row, m_store->proposal(id));
    if (!row)
        return Error(Code::NotFound, "there is no such proposal", id);
    HEDDLE_TRY(const FileTree proposed, m_store->tree(row->candidate));
    FileTree base;
    if (!row->base.empty()) {
        HEDDLE_TRY(base, m_store->tree(row->base));
    }
    HEDDLE_TRY(const FileTree wanted, applySelection(base, proposed, {selection.files, selection.hunks}));
    const bool isPart = !selection.hunks.empty() || !selection.files.empty();
    HEDDLE_TRY(const Event decision,
               m_store->append(row->session, actor, "decided",
                               {{"proposal", id}, {"decision", isPart ? "accept_in_part" : "accept"}}));
    const fs::path folder = headFolder(row->taskPath);
    HEDDLE_CHECK_OK(makeFolder(folder));
    HEDDLE_CHECK_OK(writeTree(folder, wanted));
    HEDDLE_TRY(const std::string revision, m_store->putTree(wanted));
    HEDDLE_CHECK_OK(m_store->append(row->session, actor, "landed",
                                    {{"proposal", id},
                                     {"task_path", row->taskPath},
                                     {"revision", revision},
                                     {"previous", row->base},
                                     {"decision", decision.id}}));
    return Json{{"decision", decision.id},
                {"revision", revision},
                {"files", wanted},
                {"folder", folder.string()},
                {"judged", !isPart}};
}

Result<Json> FakeWorkbench::reject(const std::string &id, const std::string &reason,
                                   const std::string &comment, const std::string &actor,
                                   const Selection &selection)
{
    HEDDLE_TRY(const std::optional<ProposalRow> row, m_store->proposal(id));
    if (!row)
        return Error(Code::NotFound, "there is no such proposal", id);
    Json decided{{"proposal", id}, {"decision", "reject"}, {"reason", reason}, {"comment", comment}};
    for (const auto &[file, index] : selection.hunks)
        decided["hunks"].push_back({{"file", file}, {"index", index}});
    HEDDLE_TRY(const Event decision, m_store->append(row->session, actor, "decided", decided));
    return Json{{"decision", decision.id}};
}

Result<Json> FakeWorkbench::undo(std::int64_t decision, const std::string &actor, const FileTree &)
{
    HEDDLE_TRY(const std::vector<DecisionRow> rows, m_store->decisions());
    for (const DecisionRow &row : rows) {
        if (row.event != decision)
            continue;
        HEDDLE_TRY(const std::optional<ProposalRow> proposal, m_store->proposal(row.proposal));
        HEDDLE_CHECK_OK(m_store->append(row.session, actor, "undone",
                                        {{"decision", decision},
                                         {"task_path", proposal ? proposal->taskPath : ""},
                                         {"revision", row.previousHead},
                                         {"previous", row.revision}}));
        return Json{{"files", Json::object()}};
    }
    return Error(Code::NotFound, "there is no such decision", std::to_string(decision));
}

Result<void> FakeWorkbench::comment(const std::string &proposal, const std::string &file, int line, int hunk,
                                    const std::string &text, const std::string &actor)
{
    HEDDLE_TRY(const std::optional<ProposalRow> row, m_store->proposal(proposal));
    if (!row)
        return Error(Code::NotFound, "there is no such proposal", proposal);
    HEDDLE_CHECK_OK(m_store->append(
        row->session, actor, "commented",
        {{"proposal", proposal}, {"file", file}, {"line", line}, {"hunk", hunk}, {"text", text}}));
    return {};
}

Result<Json> FakeWorkbench::restore(const std::string &taskPath, const std::string &revision,
                                    const std::string &actor, const FileTree &)
{
    HEDDLE_TRY(const FileTree wanted, m_store->tree(revision));
    HEDDLE_TRY(const std::optional<HeadRow> head, m_store->head(taskPath));
    const fs::path folder = headFolder(taskPath);
    HEDDLE_CHECK_OK(makeFolder(folder));
    HEDDLE_CHECK_OK(writeTree(folder, wanted));
    HEDDLE_TRY(const Event event,
               m_store->append({}, actor, "landed",
                               {{"proposal", ""},
                                {"task_path", taskPath},
                                {"revision", revision},
                                {"previous", head ? head->digest : std::string()}}));
    return Json{{"event", event.id}, {"files", wanted}, {"folder", folder.string()}};
}

Result<Json> FakeWorkbench::previewExport(const std::string &, const std::string &candidate,
                                          const std::string &as, const CancelToken &, const ProgressSink &)
{
    HEDDLE_TRY(const FileTree files, m_store->tree(candidate));
    return Json{{"files", files}, {"as", as}, {"checked", as == "modelnew" ? Json{{"ok", true}} : Json()}};
}

Result<Json> FakeWorkbench::writeExport(const std::string &session, const std::string &candidate,
                                        const Json &preview, const fs::path &folder)
{
    HEDDLE_CHECK_OK(makeFolder(folder));
    HEDDLE_CHECK_OK(writeTree(folder, memberOr(preview, "files").get<FileTree>()));
    HEDDLE_CHECK_OK(m_store->append(session, "person", "exported",
                                    {{"candidate", candidate},
                                     {"folder", folder.string()},
                                     {"as", stringOr(preview, "as")},
                                     {"kind", "export"},
                                     {"files", Json::array()}}));
    return Json{{"files", Json::array()},
                {"folder", folder.string()},
                {"as", stringOr(preview, "as")},
                {"checked", memberOr(preview, "checked")}};
}

Result<Json> FakeWorkbench::exportCandidate(const std::string &session, const std::string &candidate,
                                            const std::string &as, const fs::path &folder,
                                            const CancelToken &cancel, const ProgressSink &progress)
{
    HEDDLE_TRY(const Json preview, previewExport(session, candidate, as, cancel, progress));
    return writeExport(session, candidate, preview, folder);
}

} // namespace heddle
