// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Executors.h"

#include "core/runtime/server/InputWindow.h"
#include "core/sandbox/Locations.h"

#include <sys/stat.h>

#include <memory>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

Result<CandidateProcess> Executors::spawn()
{
    HEDDLE_TRY(TempFolder objects, TempFolder::create("heddle-object-"));
    HEDDLE_TRY(TempFolder scratch, TempFolder::create("heddle-scratch-"));
    HEDDLE_TRY(const fs::path program, ownFile("heddle-executor"));
    HEDDLE_TRY(auto pair, FrameChannel::createPair());
    SpawnRequest request;
    request.policy.role = Role::Candidate;
    request.policy.readOnly = {program, objects.path()};
    if (!m_machine.gomp().empty())
        request.policy.readOnly.push_back(m_machine.gomp());
    request.policy.scratch = scratch.path();
    request.policy.memoryBytes = m_machine.memoryLimit();
    request.policy.environment = {"HEDDLE_SCRATCH=" + scratch.path().string()};
    request.argv = {program.string()};
    request.channel = pair.second.value();
    HEDDLE_TRY(Child child, m_machine.spawner().spawn(request));
    return CandidateProcess{std::move(objects), std::move(scratch),
                            Subject(std::move(child), std::move(pair.first), "the candidate")};
}

Result<void> Executors::prepareSpare()
{
    const std::lock_guard lock(m_mutex);
    if (m_spare && m_spare->subject.child().isAlive())
        return {};
    HEDDLE_TRY(CandidateProcess spare, spawn());
    m_spare.emplace(std::move(spare));
    return {};
}

Result<CandidateProcess> Executors::start(const BuildOutcome &build, const Arena &arena,
                                          const CancelToken &cancel)
{
    std::optional<CandidateProcess> process;
    {
        const std::lock_guard lock(m_mutex);
        if (m_spare && m_spare->subject.child().isAlive())
            process.emplace(std::move(*m_spare));
        m_spare.reset();
    }
    if (!process) {
        HEDDLE_TRY(CandidateProcess fresh, spawn());
        process.emplace(std::move(fresh));
    }
    const fs::path object = process->objects->path() / "candidate.so";
    std::error_code code;
    fs::copy_file(build.object, object, code);
    if (code)
        return Error(Code::Io, "cannot hand the object to its executor: " + code.message(), object.string());
    // The folder is 0700 of this user; the executor may run as another one and must read, not list or write.
    ::chmod(process->objects->path().c_str(), 0755);
    ::chmod(object.c_str(), 0444);
    HEDDLE_TRY(const std::shared_ptr<InputWindow> window, InputWindow::create(arena));
    process->subject.setPlacer(
        [window](std::uint32_t slot, std::uint32_t stateSlot) { window->place(slot, stateSlot); });
    CallOptions options;
    options.cancel = cancel;
    options.timeout = std::chrono::seconds(20);
    Json tunables = Json::object();
    for (const auto &[name, value] : build.tunables)
        tunables[name] = value;
    auto loaded = process->subject.channel().call("load",
                                                  {{"object", object.string()},
                                                   {"plan", planToJson(build.plan)},
                                                   {"tunables", tunables},
                                                   {"gomp", m_machine.gomp().string()},
                                                   {"threads", m_machine.threads()},
                                                   {"layout", window->layout()}},
                                                  {window->descriptor()}, options);
    if (!loaded)
        return loaded.error().wrapped("the candidate could not be loaded");
    if (integerOr(loaded->result, "threads", 0) != m_machine.threads())
        return Error(Code::Environment,
                     "the executor uses " + memberOr(loaded->result, "threads").dump()
                         + " threads where it was asked to use " + std::to_string(m_machine.threads()));
    HEDDLE_CHECK_OK(process->subject.startServe());
    return std::move(*process);
}

} // namespace heddle
