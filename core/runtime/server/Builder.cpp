// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Builder.h"

#include "core/compile/SandboxLauncher.h"
#include "core/plan/Resolved.h"

namespace heddle {

namespace {

BuildOutcome refused(const Error &error)
{
    BuildOutcome outcome;
    outcome.diagnostics = toJson(std::vector{diagnosticOf(error)});
    return outcome;
}

} // namespace

Result<CompilerOutput> Builder::launch(const CompileCommand &command, const CancelToken &cancel)
{
    return sandboxLauncher(m_machine.spawner(),
                           {.time = m_limit, .memoryBytes = compilerMemoryLimit()})(command, cancel);
}

Result<const HostCompiler *> Builder::compiler()
{
    if (!m_compiler) {
        const auto launcher = [this](const CompileCommand &command, const CancelToken &cancel) {
            return launch(command, cancel);
        };
        HEDDLE_TRY(CompilerIdentity identity, identifyCompiler({}, launcher));
        HEDDLE_TRY(HostCompiler made,
                   HostCompiler::create(std::move(identity), cacheFolder() / "objects",
                                        m_machine.resources() / "include", launcher));
        m_compiler.emplace(std::move(made));
    }
    return &*m_compiler;
}

Result<BuildOutcome> Builder::build(const FileTree &files, const Json &tunables, const TaskLayout *layout,
                                    const CancelToken &cancel)
{
    auto plan = parsePlan(files);
    if (!plan)
        return refused(plan.error());
    BuildOutcome outcome;
    if (tunables.is_object()) {
        for (const auto &[name, value] : tunables.items()) {
            if (!value.is_number_integer())
                return refused(Error(Code::InvalidInput, "a tunable is an integer", "tunables: " + name));
            outcome.tunables[name] = value.get<std::int64_t>();
        }
    }
    if (layout != nullptr) {
        if (const auto resolved = resolve(*plan, *layout, outcome.tunables); !resolved)
            return refused(resolved.error());
    }
    HEDDLE_TRY(const HostCompiler *host, compiler());
    auto compiled = host->compile(*plan, files, outcome.tunables, layout, cancel);
    if (!compiled) {
        // A source that the compiler cannot finish within its limits does not build: the source's doing, not the machine's.
        const Code code = compiled.error().code();
        if (code == Code::InvalidInput)
            return refused(compiled.error());
        if (code == Code::TimedOut || code == Code::OutOfMemory)
            return refused(Error(code, "the compiler reached its limit: " + compiled.error().message(),
                                 (plan->sources.empty() ? "plan.json" : plan->sources.front()) + ':',
                                 "write less code, or fewer template instantiations"));
        return std::move(compiled).error();
    }
    outcome.ok = compiled->isBuilt;
    outcome.diagnostics = toJson(compiled->diagnostics);
    if (!outcome.ok && outcome.diagnostics.empty())
        outcome.diagnostics.push_back(Json{{"file", ""},
                                           {"line", 0},
                                           {"column", 0},
                                           {"severity", "error"},
                                           {"message", compiled->log.substr(0, 2000)}});
    outcome.seconds = compiled->seconds;
    outcome.wasCached = compiled->isCached;
    outcome.object = compiled->object;
    outcome.plan = std::move(*plan);
    return outcome;
}

} // namespace heddle
