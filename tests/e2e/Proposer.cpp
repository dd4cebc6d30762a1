// SPDX-License-Identifier: Apache-2.0
// heddle-proposer TASK FOLDER: judges the candidate in FOLDER and proposes it, whatever the verdict, so that a test of the
// review needs no quiet machine. Prints the proposal's id.
#include "core/workbench/Workbench.h"

#include <cstdio>

namespace {

using namespace heddle;

Result<std::string> propose(const std::filesystem::path &task, const std::filesystem::path &folder)
{
    HEDDLE_TRY(const auto workbench,
               Workbench::create(Environment::fromProgram(), task.parent_path(), "cpu"));
    HEDDLE_TRY(const FileTree files, readTree(folder));
    HEDDLE_TRY(const std::string session, workbench->startSession(task, "builtin"));
    HEDDLE_TRY(const Json report, workbench->judge(session, files, {}, {}, {}));
    const std::string candidate = stringOr(memberOr(report, "candidate"), "digest");
    HEDDLE_TRY(std::string proposal, workbench->propose(session, candidate, "review", "for the review"));
    HEDDLE_CHECK_OK(workbench->endSession(session, "done"));
    return proposal;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fputs("heddle-proposer TASK FOLDER\n", stderr);
        return 2;
    }
    const auto proposal = propose(argv[1], argv[2]);
    if (!proposal) {
        std::fprintf(stderr, "heddle-proposer: %s\n", proposal.error().text().c_str());
        return 1;
    }
    std::printf("%s\n", proposal->c_str());
    return 0;
}
