// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/Commands.h"
#include "app/cli/Print.h"

#include "core/verify/Words.h"

#include <optional>

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

int verdictCode(const Json &report)
{
    return stringOr(memberOr(report, "verdict"), "class") == "clean" ? Done : NotClean;
}

/// Runs `work` in a session on the task and ends the session by how it went.
template<typename Work>
Result<Json> inSession(Context &context, const fs::path &task, const std::string &policy, const Work &work)
{
    HEDDLE_TRY(Workbench * workbench, context.workbench(task));
    HEDDLE_TRY(const std::string session, workbench->startSession(task, policy));
    Result<Json> result = work(*workbench, session);
    context.clearProgress();
    const bool isCancelled = !result && result.error().code() == Code::Cancelled;
    const std::string reason = result ? "done" : isCancelled ? "cancelled" : "failed";
    HEDDLE_CHECK_OK(workbench->endSession(session, reason, result ? std::string() : result.error().text()));
    return result;
}

/// Why a session ended without a candidate, from its last judgement: a kernel that is right but was timed on a busy
/// machine is no proposal, and only its evidence says so. Empty: the evidence does not say.
std::string reasonInEvidence(Store &store, const std::string &session)
{
    const auto events = store.eventsAfter(0, session);
    if (!events)
        return {};
    for (auto event = events->rbegin(); event != events->rend(); ++event) {
        if (event->type != "judged")
            continue;
        const Json &verdict = memberOr(memberOr(event->data, "report"), "verdict");
        if (stringOr(verdict, "class") != "clean")
            return "its last candidate: " + classText(stringOr(verdict, "class")) + '\n';
        for (const Json &row : memberOr(verdict, "evidence"))
            if (stringOr(row, "id") == "machine_quiet" && stringOr(row, "status") != "passed")
                return "its last candidate is right, but its times do not count: " + stringOr(row, "message")
                    + "\n  next: let other programs end, see heddle-cli doctor --noise, and run it again\n";
        return {};
    }
    return {};
}

/// What a person does next with what was found: look at the proposal, land it, find the exported files.
std::string nextSteps(const Context &context, const Json &report, const fs::path &exportFolder)
{
    std::string text;
    for (const Json &file : memberOr(memberOr(report, "export"), "files"))
        if (file.is_string())
            text += "wrote " + (exportFolder / file.get<std::string>()).string() + '\n';
    const std::string proposal = stringOr(report, "proposal");
    if (proposal.empty())
        return text;
    fs::path workspace = context.options().workspace;
    if (workspace.empty())
        workspace = fs::path(stringOr(memberOr(report, "task"), "path")).parent_path();
    return text + "next: heddle-cli proposals show " + proposal + " --workspace " + workspace.string()
        + "  (then accept or reject)\n";
}

/// Refused before minutes of work, not after.
Result<void> checkExportFolder(const fs::path &folder)
{
    std::error_code code;
    if (folder.empty() || !fs::exists(folder, code))
        return {};
    if (!fs::is_directory(folder, code))
        return Error(Code::InvalidInput, "the export needs a folder, and this is a file", folder.string(),
                     "name a new or empty folder");
    if (!fs::is_empty(folder, code))
        return Error(Code::InvalidInput, "the folder for the export is not empty", folder.string(),
                     "name a new or empty folder");
    return {};
}

} // namespace

int doctor(Context &context, bool withNoise)
{
    auto workbench = context.workbench();
    if (!workbench)
        return context.fail(workbench.error(), "doctor");
    auto report = withNoise ? (*workbench)->noise(context.cancel(), context.progress())
                            : (*workbench)->doctor(context.cancel(), context.progress());
    context.clearProgress();
    if (!report)
        return context.fail(report.error(), "doctor");
    context.say(doctorText(*report));
    bool isHealthy = true;
    for (const Json &row : memberOr(*report, "rows"))
        isHealthy = isHealthy && boolOr(row, "ok", false);
    const int written = context.writeJson(std::move(*report), "doctor");
    return written != Done ? written : isHealthy ? Done : EnvironmentFailed;
}

int lint(Context &context, const fs::path &task)
{
    auto result = inSession(context, task, "person", [&](Workbench &workbench, const std::string &session) {
        return workbench.lint(session, context.cancel(), context.progress());
    });
    if (!result)
        return context.fail(result.error(), "lint");
    context.say(lintText(memberOr(*result, "findings")));
    return context.writeJson(
        Json{{"lint", memberOr(*result, "findings")}, {"properties", memberOr(*result, "properties")}},
        "lint");
}

int baseline(Context &context, const fs::path &task)
{
    auto result = inSession(context, task, "person", [&](Workbench &workbench, const std::string &session) {
        return workbench.baseline(session, context.cancel(), context.progress());
    });
    if (!result)
        return context.fail(result.error(), "baseline");
    context.say(baselineText(*result));
    return context.writeJson(std::move(*result), "baseline");
}

int judge(Context &context, const JudgeArguments &arguments)
{
    auto files = readCandidate(arguments.candidate);
    if (!files)
        return context.fail(files.error(), "judge");
    std::optional<FileTree> other;
    if (!arguments.against.empty()) {
        auto read = readCandidate(arguments.against);
        if (!read)
            return context.fail(read.error(), "judge");
        other = std::move(*read);
    }
    JudgeOptions options;
    options.stage = arguments.isConfirmed ? "confirmed" : "quick";
    auto report =
        inSession(context, arguments.task, "person",
                  [&](Workbench &workbench, const std::string &session) -> Result<Json> {
                      if (other) {
                          HEDDLE_TRY(options.against, workbench.store().putTree(*other));
                      }
                      options.tolerance = context.settings().numberIfSet("tolerance");
                      HEDDLE_CHECK_OK(workbench.lint(session, context.cancel(), context.progress()));
                      return workbench.judge(session, *files, options, context.cancel(), context.progress());
                  });
    if (!report)
        return context.fail(report.error(), "judge");
    (*report)["candidate"]["path"] = arguments.candidate.string();
    context.say(reportText(*report, context.options().verbose));
    const int code = verdictCode(*report);
    const int written = context.writeJson(std::move(*report), "judge");
    return written != Done ? written : code;
}

int optimize(Context &context, const OptimizeArguments &arguments)
{
    if (auto free = checkExportFolder(arguments.exportFolder); !free)
        return context.fail(free.error(), "optimize");
    auto workbench = context.workbench(arguments.task);
    if (!workbench)
        return context.fail(workbench.error(), "optimize");
    auto session = (*workbench)->startSession(arguments.task, arguments.policy);
    if (!session)
        return context.fail(session.error(), "optimize");
    OptimizeOptions options;
    options.policy = arguments.policy;
    options.budgetSeconds =
        arguments.budgetSeconds > 0.0 ? arguments.budgetSeconds : context.settings().number("budget_seconds");
    options.exportFolder = arguments.exportFolder;
    auto report = (*workbench)->optimize(*session, options, context.cancel(), context.progress());
    context.clearProgress();
    if (!report) {
        const std::string reason = report.error().code() == Code::Cancelled ? "cancelled" : "failed";
        (void)(*workbench)->endSession(*session, reason, report.error().text()).has_value();
        return context.fail(report.error(), "optimize");
    }
    const std::string reason = stringOr(*report, "reason", "done");
    const bool hasCandidate = memberOr(*report, "candidate").is_object();
    (void)(*workbench)
        ->endSession(*session,
                     hasCandidate              ? "done"
                         : reason == "at_roof" ? "at_roof"
                                               : "no_candidate",
                     stringOr(*report, "message"))
        .has_value();
    context.say(reportText(*report, context.options().verbose));
    context.say(hasCandidate ? nextSteps(context, *report, arguments.exportFolder)
                             : reasonInEvidence((*workbench)->store(), *session));
    const int code = hasCandidate ? verdictCode(*report) : reason == "at_roof" ? Done : NoCandidate;
    const int written = context.writeJson(std::move(*report), "optimize");
    return written != Done ? written : code;
}

int exportCandidate(Context &context, const ExportArguments &arguments)
{
    auto workbench = context.workbench(arguments.task);
    if (!workbench)
        return context.fail(workbench.error(), "export");
    const auto run = [&]() -> Result<Json> {
        HEDDLE_TRY(const std::string session, (*workbench)->startSession(arguments.task, "person"));
        std::string digest = arguments.candidate;
        std::error_code code;
        if (fs::exists(arguments.candidate, code)) {
            HEDDLE_TRY(const FileTree files, readCandidate(arguments.candidate));
            HEDDLE_TRY(digest, (*workbench)->store().putTree(files));
        }
        HEDDLE_TRY(Json result,
                   (*workbench)
                       ->exportCandidate(session, digest, arguments.as, arguments.folder, context.cancel(),
                                         context.progress()));
        HEDDLE_CHECK_OK((*workbench)->endSession(session, "done"));
        return result;
    };
    auto result = run();
    context.clearProgress();
    if (!result)
        return context.fail(result.error(), "export");
    for (const Json &file : memberOr(*result, "files"))
        context.say("wrote " + (arguments.folder / file.get<std::string>()).string() + '\n');
    return context.writeJson(Json{{"export", std::move(*result)}}, "export");
}

} // namespace heddle::cli
