// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/Context.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

// Each command prints its answer, writes --json, and returns the exit code of the contract.

int doctor(Context &context, bool withNoise);
int lint(Context &context, const std::filesystem::path &task);
int baseline(Context &context, const std::filesystem::path &task);

struct JudgeArguments {
    std::filesystem::path task;
    std::filesystem::path candidate;
    std::filesystem::path against; ///< another candidate, or empty
    bool isConfirmed = false;
};
int judge(Context &context, const JudgeArguments &arguments);

struct OptimizeArguments {
    std::filesystem::path task;
    std::string policy = "builtin";
    double budgetSeconds = 0.0; ///< 0: the setting
    std::filesystem::path exportFolder;
};
int optimize(Context &context, const OptimizeArguments &arguments);

struct ExportArguments {
    std::string candidate; ///< a proposal, a digest (or its start) of this workspace, or a folder
    std::filesystem::path task;
    std::string as = "modelnew";
    std::filesystem::path folder;
};
int exportCandidate(Context &context, const ExportArguments &arguments);

struct CompileArguments {
    std::filesystem::path candidate;
    std::string target;              ///< "cpu" or "cuda:sm_90"; empty: cpu
    std::vector<std::string> values; ///< "NAME=INTEGER"
    std::vector<std::string> show;   ///< "ptx", "sass", "metrics"

    bool shows(std::string_view what) const;
};
int compile(Context &context, const CompileArguments &arguments);

int listProposals(Context &context);
int showProposal(Context &context, const std::string &proposal);
int acceptProposal(Context &context, const std::string &proposal, const std::vector<std::string> &hunks);
int rejectProposal(Context &context, const std::string &proposal, const std::string &reason,
                   const std::string &comment);
int undoDecision(Context &context, std::int64_t decision);
int commentProposal(Context &context, const std::string &proposal, const std::string &file, int line,
                    const std::string &text);
int restoreRevision(Context &context, const std::string &task, const std::string &revision);

int listSessions(Context &context);
int showSession(Context &context, const std::string &session);
int checkSessions(Context &context);

int benchLatency(Context &context);
int benchTasks(Context &context, const std::filesystem::path &folder, double budgetSeconds);
int benchTiming(Context &context, int judgements);

} // namespace heddle::cli
