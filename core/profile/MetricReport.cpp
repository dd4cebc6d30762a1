// SPDX-License-Identifier: Apache-2.0
#include "core/profile/MetricReport.h"

#include "core/compile/CudaPlaces.h"

#include <cstdlib>

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// What one library answers, as the child prints it: the sets, or an error.
Result<Json> ask(const fs::path &program, const fs::path &library, const std::string &chip,
                 const CompilerLauncher &launch, const CancelToken &cancel)
{
    CompileCommand command{.program = program.string(),
                           .arguments = {chip, library.string()},
                           .environment = {},
                           .files = {},
                           .output = {},
                           .readOnly = {program},
                           .isHostCompiler = false};
    for (const char *start : {"libcupti", "libnvperf"})
        for (const fs::path &file : filesBeside(library, start))
            command.readOnly.push_back(file);
    HEDDLE_TRY(const CompilerOutput output, launch(command, cancel));
    // Its first line; what libraries say besides comes after.
    const auto said = parseJson(output.log.substr(0, output.log.find('\n')), "heddle-counters");
    if (output.exitCode == 0 && said && said->is_object())
        return *said;
    if (said && said->is_object() && said->contains("message"))
        return errorFromJson(*said);
    return Error(Code::Crashed,
                 output.exitCode > 128 ? "it crashes where there is no driver" : "it does not answer",
                 library.string());
}

} // namespace

Result<Json> metricReport(const fs::path &program, const std::vector<fs::path> &libraries,
                          const std::string &chip, const CompilerLauncher &launch, const CancelToken &cancel)
{
    std::string tried;
    std::error_code code;
    for (const fs::path &library : libraries) {
        if (!fs::is_regular_file(library, code))
            continue;
        auto answer = ask(program, library, chip, launch, cancel);
        if (answer || answer.error().code() == Code::Cancelled)
            return answer;
        tried += (tried.empty() ? ": " : "; ") + (libraries.size() == 1 ? "" : library.string() + ": ")
            + answer.error().message();
    }
    const char *chosen = std::getenv("HEDDLE_CUPTI");
    const bool isChosen = chosen != nullptr && chosen[0] != '\0';
    return Error(
        Code::Environment,
        (isChosen ? "HEDDLE_CUPTI names no libcupti that tells the counters of " + chip
                  : "there is no libcupti that tells the counters of " + chip)
            + tried,
        isChosen ? chosen : "",
        "use libcupti of CUDA 13.0 (pip install 'nvidia-cuda-cupti==13.0.*', or a toolkit), by HEDDLE_CUPTI");
}

} // namespace heddle
