// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Confirm.h"

#include "core/export/Export.h"
#include "core/runtime/server/Exports.h"
#include "core/runtime/server/InputWindow.h"

#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

Result<Runner> Runner::load(const JudgeContext &context, const FileTree &files, const CancelToken &cancel)
{
    HEDDLE_TRY(Forked forked, context.machine.runners().fork());
    Runner runner;
    runner.m_sandbox = forked.child.report();
    runner.m_sandbox["inner"] = memberOr(forked.hello, "sandbox");
    runner.m_subject =
        std::make_unique<Subject>(std::move(forked.child), std::move(forked.channel), "the candidate");
    HEDDLE_TRY(const std::shared_ptr<InputWindow> window, InputWindow::create(context.oracle.arena()));
    runner.m_subject->setPlacer(
        [window](std::uint32_t slot, std::uint32_t stateSlot) { window->place(slot, stateSlot); });
    CallOptions options;
    options.cancel = cancel;
    options.timeout = std::chrono::seconds(120);
    auto loaded =
        runner.m_subject->channel().call("load",
                                         {{"files", files},
                                          {"entry", "model_new.py"},
                                          {"class", "ModelNew"},
                                          {"init", memberOr(context.oracle.info(), "init")},
                                          {"init_keywords", memberOr(context.oracle.info(), "init_keywords")},
                                          {"init_seed", memberOr(context.oracle.info(), "init_seed")},
                                          {"threads", context.machine.threads()},
                                          {"mode", stringOr(memberOr(context.oracle.info(), "task"), "mode")},
                                          {"layout", window->layout()}},
                                         {window->descriptor()}, options);
    if (!loaded) {
        if (loaded.error().code() == Code::Cancelled)
            return std::move(loaded).error();
        runner.m_error = loaded.error();
        return runner;
    }
    runner.m_binding = std::move(loaded->result);
    if (auto serving = runner.m_subject->startServe(); !serving) {
        if (serving.error().code() == Code::Cancelled)
            return std::move(serving).error();
        runner.m_error = serving.error();
    }
    return runner;
}

Result<Runner> Runner::loadExport(const JudgeContext &context, const FileTree &files,
                                  const BuildOutcome &build, const CancelToken &cancel)
{
    HEDDLE_TRY(const HostCompiler *compiler, context.builder.compiler());
    ExportRequest request;
    request.plan = build.plan;
    request.files = files;
    request.tunables = build.tunables;
    request.taskSource = context.taskSource;
    request.taskInfo = context.oracle.info();
    request.headers = compiler->headers();
    HEDDLE_CHECK_OK(prebuildExport(context.machine, context.builder, request, cancel));
    HEDDLE_TRY(const std::string source, exportModelNew(request));
    return load(context, {{"model_new.py", source}}, cancel);
}

Result<Json> Runner::coverage(const CancelToken &cancel)
{
    HEDDLE_CHECK_OK(m_subject->exitServe());
    m_subject->place(0, InputSets::constructedState);
    CallOptions options;
    options.cancel = cancel;
    HEDDLE_TRY(Reply reply,
               m_subject->channel().call(
                   "coverage", {{"slot", 0}, {"state_slot", InputSets::constructedState}}, {}, options));
    HEDDLE_CHECK_OK(m_subject->startServe());
    return std::move(reply.result);
}

} // namespace heddle
