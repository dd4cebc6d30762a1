// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/Commands.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace heddle::cli {

void requestInterrupt();

namespace {

/// Ctrl-C asks once for a stop and ends the program at the second time. Takes the signals for the whole process.
void installInterrupt()
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([signals] {
        int number = 0;
        if (::sigwait(&signals, &number) == 0)
            requestInterrupt();
        if (::sigwait(&signals, &number) == 0)
            std::_Exit(130);
    }).detach();
}

/// The command that was chosen, filled by its callback.
using Chosen = std::function<int(Context &)>;

void addCommon(CLI::App &app, Options &options)
{
    const auto setting = [&](const char *name, const char *help) {
        return app.add_option_function<std::string>(
            std::string("--") + name,
            [&options, name](const std::string &text) { options.settings[name] = text; }, help);
    };
    setting("target", "cpu or ssh://HOST/cpu");
    app.add_option("--json", options.json, "write a machine-readable report ('-': standard output)");
    app.add_option("--workspace", options.workspace, "folder whose .heddle/ is used (default: the task's)");
    setting("mode", "as-constructed or eval");
    setting("seed", "mixed into the oracle's secret");
    setting("tolerance", "absolute and relative, of the output's scale (default: by dtype)");
    setting("python", "an interpreter with torch 2.9 or newer");
    setting("compiler", "the C++ compiler for kernels (default: $CXX, else g++)");
    app.add_flag_callback(
        "--unsandboxed", [&options] { options.settings["unsandboxed"] = "true"; },
        "go on where no sandbox works: strangers' code then runs as you, and no verdict is clean");
    app.add_flag("--quiet", options.quiet, "print errors only");
    app.add_flag("--verbose", options.verbose, "print every row of the evidence");
}

void addJudging(CLI::App &app, Chosen &chosen)
{
    auto *doctorCommand = app.add_subcommand("doctor", "what is there, what is missing, how to get it");
    static bool withNoise = false;
    doctorCommand->add_flag("--noise", withNoise, "measure this machine's noise instead");
    doctorCommand->callback(
        [&chosen] { chosen = [](Context &context) { return doctor(context, withNoise); }; });

    static std::filesystem::path task;
    auto *lintCommand = app.add_subcommand("lint", "defects and assumptions of a task");
    lintCommand->add_option("TASK", task)->required();
    lintCommand->callback([&chosen] { chosen = [](Context &context) { return lint(context, task); }; });

    auto *baselineCommand =
        app.add_subcommand("baseline", "eager, compile, strongest; operators by time; roof");
    baselineCommand->add_option("TASK", task)->required();
    baselineCommand->callback(
        [&chosen] { chosen = [](Context &context) { return baseline(context, task); }; });

    static JudgeArguments judging;
    auto *judgeCommand =
        app.add_subcommand("judge", "judge a native folder, a work folder or a ModelNew file");
    judgeCommand->add_option("TASK", judging.task)->required();
    judgeCommand->add_option("CANDIDATE", judging.candidate)->required();
    judgeCommand->add_option("--against", judging.against, "compare with another candidate too");
    judgeCommand->add_flag("--confirm", judging.isConfirmed,
                           "time the export in PyTorch, which is what counts");
    judgeCommand->callback([&chosen] { chosen = [](Context &context) { return judge(context, judging); }; });

    static OptimizeArguments optimizing;
    auto *optimizeCommand = app.add_subcommand("optimize", "let a policy propose, judge and tune candidates");
    optimizeCommand->add_option("TASK", optimizing.task)->required();
    optimizeCommand->add_option("--policy", optimizing.policy)
        ->capture_default_str()
        ->check(CLI::IsMember({"builtin"}));
    optimizeCommand->add_option("--budget-seconds", optimizing.budgetSeconds, "default: the setting (120)")
        ->check(CLI::Range(1.0, 86400.0));
    optimizeCommand->add_option("--export", optimizing.exportFolder,
                                "write the best clean candidate into this new or empty folder");
    optimizeCommand->callback(
        [&chosen] { chosen = [](Context &context) { return optimize(context, optimizing); }; });

    static ExportArguments exporting;
    auto *exportCommand = app.add_subcommand("export", "write a candidate as plain PyTorch code");
    exportCommand
        ->add_option("CANDIDATE", exporting.candidate, "a proposal, a digest of this workspace, or a folder")
        ->required();
    exportCommand->add_option("--task", exporting.task, "the task that it belongs to")->required();
    exportCommand->add_option("--as", exporting.as)
        ->capture_default_str()
        ->check(CLI::IsMember({"modelnew", "native"}));
    exportCommand->add_option("-o,--output", exporting.folder, "new or empty folder")->required();
    exportCommand->callback(
        [&chosen] { chosen = [](Context &context) { return exportCandidate(context, exporting); }; });
}

void addCompile(CLI::App &app, Options &options, Chosen &chosen)
{
    static CompileArguments compiling;
    auto *command =
        app.add_subcommand("compile", "compile a native folder and say what is known without running it");
    command->add_option("CANDIDATE", compiling.candidate)->required();
    command
        ->add_option("--set", compiling.values,
                     "NAME=INTEGER: a tunable, or a size that a task's shapes would give; several allowed")
        ->allow_extra_args(false);
    command
        ->add_option("--show", compiling.show,
                     "also print ptx, sass, or the metrics of the chip; several allowed")
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"ptx", "sass", "metrics"}));
    command->footer(
        "Its --target is cpu, or cuda: and an architecture, such as cuda:sm_90; that needs no GPU.");
    command->callback([&options, &chosen] {
        // Only here it may name an architecture, which is no place where things run: so it is no setting.
        if (const auto named = options.settings.extract("target"))
            compiling.target = named.mapped();
        chosen = [](Context &context) { return compile(context, compiling); };
    });
}

void addReview(CLI::App &app, Chosen &chosen)
{
    static std::string id;
    static std::vector<std::string> hunks;
    static std::string reason;
    static std::string text;
    static std::string file;
    static int line = 0;
    static std::int64_t decision = 0;
    auto *group = app.add_subcommand("proposals", "review what was proposed")->require_subcommand(1);
    group->add_subcommand("list", "all proposals and their states")->callback([&chosen] {
        chosen = listProposals;
    });
    const auto sub = [&](const char *name, const char *help, std::function<int(Context &)> run) {
        auto *command = group->add_subcommand(name, help);
        command->callback([&chosen, run] { chosen = run; });
        return command;
    };
    sub("show", "the diff against its base, with its verdict",
        [](Context &context) { return showProposal(context, id); })
        ->add_option("PROPOSAL", id)
        ->required();
    auto *accept = sub("accept", "land it, or some hunks of it",
                       [](Context &context) { return acceptProposal(context, id, hunks); });
    accept->add_option("PROPOSAL", id)->required();
    accept->add_option("--hunks", hunks, "FILE or FILE:INDEX, several allowed");
    auto *reject = sub("reject", "decline it",
                       [](Context &context) { return rejectProposal(context, id, reason, text); });
    reject->add_option("PROPOSAL", id)->required();
    reject->add_option("--reason", reason)
        ->check(CLI::IsMember({"wrong", "slower", "unsafe", "style", "other"}));
    reject->add_option("--comment", text);
    sub("undo", "undo a decision", [](Context &context) {
        return undoDecision(context, decision);
    })->add_option("DECISION", decision, "number of the decision (default: the last)");
    auto *comment = sub("comment", "say something about a line",
                        [](Context &context) { return commentProposal(context, id, file, line, text); });
    comment->add_option("PROPOSAL", id)->required();
    comment->add_option("TEXT", text)->required();
    comment->add_option("--file", file);
    comment->add_option("--line", line);
    auto *restore = sub("restore", "make an earlier revision the head again",
                        [](Context &context) { return restoreRevision(context, file, id); });
    restore->add_option("TASK", file)->required();
    restore->add_option("REVISION", id)->required();

    auto *sessions = app.add_subcommand("sessions", "what was done")->require_subcommand(1);
    sessions->add_subcommand("list", "all sessions")->callback([&chosen] { chosen = listSessions; });
    sessions->add_subcommand("check", "rebuild everything that is shown from the events, and compare")
        ->callback([&chosen] { chosen = checkSessions; });
    auto *show = sessions->add_subcommand("show", "every event of one session");
    show->add_option("SESSION", id)->required();
    show->callback([&chosen] { chosen = [](Context &context) { return showSession(context, id); }; });
}

void addBench(CLI::App &app, Chosen &chosen)
{
    static std::filesystem::path folder;
    static double budget = 60.0;
    static int judgements = 200;
    auto *bench = app.add_subcommand("bench", "measure Heddle itself")->require_subcommand(1);
    bench->add_subcommand("latency", "saved source to verdict, against load_inline")->callback([&chosen] {
        chosen = benchLatency;
    });
    auto *tasks = bench->add_subcommand("tasks", "the optimiser on a folder of tasks");
    tasks->add_option("FOLDER", folder, "default: the shipped tasks");
    tasks->add_option("--budget-seconds", budget)->capture_default_str()->check(CLI::Range(1.0, 86400.0));
    tasks->callback(
        [&chosen] { chosen = [](Context &context) { return benchTasks(context, folder, budget); }; });
    auto *timing =
        bench->add_subcommand("timing", "the proof of the timing method: A/A and a planted slowdown");
    timing->add_option("--judgements", judgements)->capture_default_str()->check(CLI::Range(1, 100000));
    timing->callback(
        [&chosen] { chosen = [](Context &context) { return benchTiming(context, judgements); }; });
}

/// Says what was wrong with the command line and, where a command is missing or unknown, which there are.
int explainUsage(const CLI::App &app, const CLI::ParseError &error)
{
    const CLI::App *asked = &app; // the innermost command that was understood
    std::string path = "heddle-cli";
    for (auto parsed = asked->get_subcommands(); !parsed.empty(); parsed = asked->get_subcommands()) {
        asked = parsed.back();
        path += ' ' + asked->get_name();
    }
    const auto commands = asked->get_subcommands([](const CLI::App *) { return true; });
    const bool isCommandMissing = !commands.empty() && asked->get_require_subcommand_min() > 0;
    if (!isCommandMissing) {
        std::fprintf(stderr, "%s: %s\n  next: see %s --help\n", path.c_str(), error.what(), path.c_str());
        return BadInput;
    }
    // In such a place the first word that is no option was meant as a command.
    const std::vector<std::string> unknown = app.remaining();
    const auto word = std::find_if(unknown.begin(), unknown.end(),
                                   [](const std::string &text) { return text.rfind('-', 0) != 0; });
    if (word != unknown.end())
        std::fprintf(stderr, "%s: there is no command '%s'; there are\n", path.c_str(), word->c_str());
    else
        std::fprintf(stderr, "%s: a command is missing; there are\n", path.c_str());
    for (const CLI::App *command : commands)
        std::fprintf(stderr, "  %-10s %s\n", command->get_name().c_str(), command->get_description().c_str());
    std::fprintf(stderr, "  next: see %s COMMAND --help\n", path.c_str());
    return BadInput;
}

int run(int argc, char **argv)
{
    // A worker behind ssh that goes away is an error to report, not the end of this program.
    std::signal(SIGPIPE, SIG_IGN);
    installInterrupt();
    CLI::App app("Heddle: optimise the operators of a PyTorch model, judged honestly", "heddle-cli");
    app.set_version_flag("--version", HEDDLE_VERSION);
    app.require_subcommand(1);
    app.fallthrough();
    Options options;
    Chosen chosen;
    addCommon(app, options);
    addJudging(app, chosen);
    addCompile(app, options, chosen);
    addReview(app, chosen);
    addBench(app, chosen);
    for (CLI::App *command : app.get_subcommands([](CLI::App *) { return true; }))
        command->footer(command->get_footer() + (command->get_footer().empty() ? "" : "\n")
                        + "Options of every command, such as --workspace and --json: heddle-cli --help");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
            return app.exit(error); // --help and --version
        return explainUsage(app, error);
    }
    Context context(options);
    return chosen(context);
}

} // namespace

} // namespace heddle::cli

int main(int argc, char **argv) { return heddle::cli::run(argc, argv); }
