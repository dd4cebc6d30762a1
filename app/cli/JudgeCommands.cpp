// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/Commands.h"
#include "app/cli/InSession.h"
#include "app/cli/Print.h"

#include "core/base/Places.h"
#include "core/verify/Words.h"

#include <optional>

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

int verdictCode(const Json &report)
{
    return stringOr(memberOr(report, "verdict"), "class") == "clean" ? Done : NotClean;
}

/// inSession() in the workspace that the task belongs to.
template<typename Work>
Result<Json> inSession(Context &context, const fs::path &task, const std::string &policy, const Work &work)
{
    HEDDLE_TRY(Workbench * workbench, context.workbench(task));
    return inSession(context, *workbench, task, policy,
                     [&](const std::string &session) { return work(*workbench, session); });
}

/// A path as one word of a shell's command line.
std::string shellWord(const std::string &text)
{
    if (text.find_first_of(" \t\n\"'\\$`&;|<>()*?[]{}~#!") == std::string::npos)
        return text;
    std::string word = "'";
    for (const char c : text)
        word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + '\'';
}

/// What a person does next with what was found: look at the proposal, land it, find the exported files.
std::string nextSteps(const fs::path &workspace, const Json &report, const fs::path &exportFolder)
{
    std::string text;
    for (const Json &file : memberOr(memberOr(report, "export"), "files"))
        if (file.is_string())
            text += "wrote " + (exportFolder / file.get<std::string>()).string() + '\n';
    const std::string proposal = stringOr(report, "proposal");
    if (proposal.empty())
        return text;
    return text + "next: " + commandLineName() + " proposals show " + proposal + " --workspace "
        + shellWord(workspace.string()) + "  (then accept or reject)\n";
}

/// The candidate that a person means by a proposal or by a digest, of which the start is enough among the proposals.
Result<std::string> digestOf(Store &store, const std::string &named)
{
    HEDDLE_TRY(const std::vector<ProposalRow> proposals, store.proposals());
    for (const ProposalRow &row : proposals) {
        if (row.id == named || (named.size() >= 6 && row.candidate.starts_with(named)))
            return row.candidate;
    }
    const bool isDigest =
        named.size() == 64 && named.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!isDigest)
        return Error(Code::NotFound, "there is no proposal, file or folder of that name", named,
                     "see " + commandLineName()
                         + " proposals list, or give a folder with plan.json or a ModelNew file");
    return named;
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
    options.tolerance = context.settings().numberIfSet("tolerance");
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
    context.say(hasCandidate ? nextSteps((*workbench)->store().workspace(), *report, arguments.exportFolder)
                             : reasonInEvidence((*workbench)->store().eventsAfter(0, *session)));
    int code = hasCandidate ? verdictCode(*report) : reason == "at_roof" ? Done : NoCandidate;
    if (const Json &failure = memberOr(memberOr(*report, "export"), "error"); failure.is_object()) {
        const int exportCode =
            context.tell(errorFromJson(failure).wrapped("the proposal is open, but was not exported",
                                                        arguments.exportFolder.string()),
                         "optimize");
        code = code == Done ? exportCode : code;
    }
    const int written = context.writeJson(std::move(*report), "optimize");
    return written != Done ? written : code;
}

int exportCandidate(Context &context, const ExportArguments &arguments)
{
    auto result =
        inSession(context, arguments.task, "person",
                  [&](Workbench &workbench, const std::string &session) -> Result<Json> {
                      std::string digest;
                      std::error_code code;
                      if (fs::exists(arguments.candidate, code)) {
                          HEDDLE_TRY(const FileTree files, readCandidate(arguments.candidate));
                          HEDDLE_TRY(digest, workbench.store().putTree(files));
                      } else {
                          HEDDLE_TRY(digest, digestOf(workbench.store(), arguments.candidate));
                      }
                      return workbench.exportCandidate(session, digest, arguments.as, arguments.folder,
                                                       context.cancel(), context.progress());
                  });
    if (!result)
        return context.fail(result.error(), "export");
    for (const Json &file : memberOr(*result, "files"))
        context.say("wrote " + (arguments.folder / file.get<std::string>()).string() + '\n');
    return context.writeJson(Json{{"export", std::move(*result)}}, "export");
}

} // namespace heddle::cli
