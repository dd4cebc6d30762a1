// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Exports.h"

#include "core/sandbox/RunLimited.h"

#include <sys/stat.h>

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// Runs the exported file and the task in a clean interpreter, which compiles the kernels itself. The files that the task
/// imports lie in a folder of their own, which only the task sees: the exported file must hold what it needs.
Result<Json> checkInCleanProcess(Machine &machine, const std::string &exported, const std::string &task,
                                 const Json &taskInfo, const CancelToken &cancel)
{
    HEDDLE_TRY(const TempFolder folder, TempFolder::create("heddle-export-"));
    FileTree files{{"model_new.py", exported}, {"task/task.py", task}};
    for (const auto &[name, text] : memberOr(taskInfo, "siblings").items())
        files["task/" + name] = text.get<std::string>();
    HEDDLE_CHECK_OK(writeTree(folder.path(), files));
    const std::string mode = stringOr(memberOr(taskInfo, "task"), "mode", "as-constructed");
    const fs::path script = machine.options().package / "check_export.py";
    SandboxPolicy policy;
    policy.role = Role::Oracle;
    policy.scratch = folder.path();
    policy.needsCompiler = true;
    policy.processes = 256;
    policy.memoryBytes = machine.memoryLimit();
    policy.readOnly = pythonFolders(machine.python());
    policy.readOnly.push_back(script);
    if (const auto compiler = findCompiler({}); compiler) {
        // The exported file compiles its kernels itself, with what CXX names.
        HEDDLE_TRY(const CompilerView view, machine.spawner().compilerView(*compiler));
        view.addTo(policy);
        policy.environment.push_back("CXX=" + *compiler);
    }
    CommandLimits limits;
    limits.timeout = std::chrono::minutes(5);
    limits.cancel = cancel;
    HEDDLE_TRY(const CommandResult result,
               runLimited(machine.spawner(), policy,
                          {machine.python().string(), "-I", script.string(), folder.path().string(), mode},
                          limits));
    if (!result.status.isSuccess())
        return Error(Code::Internal,
                     "the exported file does not run in a clean Python process: " + result.error,
                     "model_new.py", "judge the candidate again with --confirm to see why");
    return parseJson(result.output, "check_export.py");
}

} // namespace

Result<void> prebuildExport(Machine &machine, Builder &builder, const ExportRequest &request,
                            const CancelToken &cancel)
{
    HEDDLE_TRY(const std::string name, exportObjectName(request));
    const fs::path object = machine.exportObjects() / name;
    std::error_code code;
    if (fs::exists(object, code))
        return {};
    HEDDLE_TRY(const HostCompiler *compiler, builder.compiler());
    HEDDLE_TRY(const CompileCommand command, exportCompileCommand(request, compiler->identity().program));
    HEDDLE_TRY(const CompilerOutput output, builder.launch(command, cancel));
    if (output.exitCode != 0 || output.object.empty())
        return Error(Code::Internal, "the export does not compile: " + output.log.substr(0, 2000));
    HEDDLE_CHECK_OK(makeFolder(object.parent_path()));
    HEDDLE_CHECK_OK(writeFileAtomically(object, output.object));
    ::chmod(object.parent_path().c_str(), 0755);
    ::chmod(object.c_str(), 0444);
    return {};
}

Result<Json> exportAs(Machine &machine, Builder &builder, const Json &taskInfo, const FileTree &files,
                      const std::string &as, const std::string &taskSource, const CancelToken &cancel)
{
    if (files.count("plan.json") == 0) {
        if (as != "modelnew")
            return Error(Code::InvalidInput, "only a native candidate can be exported as a native folder",
                         as);
        return Json{{"files", files}, {"checked", nullptr}};
    }
    HEDDLE_TRY(Plan plan, parsePlan(files));
    if (as == "native") {
        HEDDLE_TRY(const FileTree native, exportNative(plan, files, {}));
        return Json{{"files", native}, {"checked", nullptr}};
    }
    if (as != "modelnew")
        return Error(Code::InvalidInput, "an export is 'modelnew' or 'native'", as);
    HEDDLE_TRY(const HostCompiler *compiler, builder.compiler());
    ExportRequest request;
    request.plan = std::move(plan);
    request.files = files;
    request.taskSource = taskSource;
    request.taskInfo = taskInfo;
    request.headers = compiler->headers();
    HEDDLE_TRY(const std::string source, exportModelNew(request));
    HEDDLE_TRY(Json checked, checkInCleanProcess(machine, source, taskSource, taskInfo, cancel));
    if (!boolOr(checked, "ok", false))
        return Error(Code::Internal,
                     "the exported file gives other outputs than the task: " + compactText(checked),
                     "model_new.py");
    return Json{{"files", {{"model_new.py", source}}}, {"checked", checked}};
}

} // namespace heddle
