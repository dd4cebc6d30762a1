// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Oracle.h"

namespace heddle {

Result<Oracle> Oracle::open(Zygote &zygote, const TaskSource &task, int threads, const CancelToken &cancel)
{
    HEDDLE_TRY(Forked forked, zygote.fork());
    auto subject =
        std::make_unique<Subject>(std::move(forked.child), std::move(forked.channel), "the oracle");
    CallOptions options;
    options.timeout = std::chrono::seconds(90);
    options.cancel = cancel;
    auto opened = subject->channel().call("open",
                                          {{"path", task.path},
                                           {"source", task.source},
                                           {"siblings", task.siblings},
                                           {"mode", task.mode},
                                           {"seed", task.seed},
                                           {"threads", threads}},
                                          {}, options);
    if (!opened) {
        const Error &error = opened.error();
        if (error.code() == Code::TimedOut)
            return Error(Code::TaskFailed, "the task did not return from one forward pass within 90 s",
                         task.path,
                         "use smaller inputs in get_inputs(), or look for a loop that does not end");
        if (error.code() == Code::Crashed) {
            const auto status = subject->child().waitFor(std::chrono::milliseconds(500));
            if (status && status->overMemory)
                return Error(Code::TaskFailed, "the task needs more memory than it may use here", task.path,
                             "use smaller inputs in get_inputs()");
            return Error(Code::TaskFailed, "the task ended its own process", task.path,
                         "run the file in Python alone to see why")
                .wrapped("the task could not be opened: "
                             + (status ? status->text() : std::string("unknown end")),
                         task.path);
        }
        return error;
    }
    Json info = std::move(opened->result);
    // A baseline with fewer threads than the candidate would make every candidate look fast.
    if (integerOr(memberOr(info, "environment"), "threads", 0) != threads)
        return Error(Code::Environment,
                     "PyTorch uses " + memberOr(memberOr(info, "environment"), "threads").dump()
                         + " threads where it was asked to use " + std::to_string(threads),
                     task.path, "take torch.set_num_threads out of the task");
    // An export carries the files that the task imports.
    info["siblings"] = task.siblings;
    info["sandbox"] = memberOr(forked.hello, "sandbox");
    info["sandbox"]["rung"] = stringOr(subject->child().report(), "rung", "none");
    return Oracle(std::move(subject), std::move(info));
}

Result<Json> Oracle::call(const std::string &method, Json params, const CallOptions &options,
                          const std::vector<int> &fds)
{
    // Also where the call fails half-way: a slot may be filled then.
    if (m_arena && !memberOr(params, "state").is_null())
        m_arena->stateChanged();
    HEDDLE_TRY(Reply reply, m_subject->channel().call(method, std::move(params), fds, options));
    return std::move(reply.result);
}

Result<void> Oracle::makeArena(int inputSlots, int stateSlots, const CallOptions &options)
{
    HEDDLE_TRY(Reply reply,
               m_subject->channel().call("arena", {{"input_slots", inputSlots}, {"state_slots", stateSlots}},
                                         {}, options));
    if (reply.fds.size() != 1)
        return Error(Code::Protocol, "the oracle sent no memory for its inputs");
    HEDDLE_TRY(Arena arena, Arena::map(std::move(reply.fds.front()), memberOr(reply.result, "layout")));
    m_arena.emplace(std::move(arena));
    return {};
}

bool Oracle::isUsable() const { return m_subject->child().isAlive() && !m_subject->channel().isBroken(); }

} // namespace heddle
