// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/Subject.h"
#include "core/runtime/Zygote.h"
#include "core/runtime/server/Arena.h"

#include <optional>
#include <string>

namespace heddle {

/// What a task is opened with.
struct TaskSource {
    std::string path; ///< as the person named it; for messages only
    std::string source;
    Json siblings = Json::object(); ///< {name: text} of files beside it that it may import
    std::string mode = "as-constructed";
    std::uint64_t seed = 0;
};

/// The worker's handle on one task's oracle: the trusted Python process with the reference. Owns the child; one
/// thread at a time. After an error of code Crashed, TimedOut, Cancelled or Protocol it is unusable: open another.
class Oracle {
public:
    /// Forks the child and opens the task. `threads`: what every subject of a comparison uses. Errors: TaskFailed with file
    /// and line; Environment where PyTorch does not use that many threads; those of Zygote::fork().
    static Result<Oracle> open(Zygote &zygote, const TaskSource &task, int threads,
                               const CancelToken &cancel);

    const Json &info() const { return m_info; } ///< the result of `open`
    Subject &subject() { return *m_subject; }
    /// One method of docs/architecture/oracle-protocol.md.
    Result<Json> call(const std::string &method, Json params, const CallOptions &options,
                      const std::vector<int> &fds = {});
    /// Makes (or makes again) the arena.
    Result<void> makeArena(int inputSlots, int stateSlots, const CallOptions &options);
    Arena &arena() { return *m_arena; }
    bool isUsable() const;

private:
    Oracle(std::unique_ptr<Subject> subject, Json info)
        : m_subject(std::move(subject)), m_info(std::move(info))
    {
    }
    std::unique_ptr<Subject> m_subject;
    Json m_info;
    std::optional<Arena> m_arena;
};

} // namespace heddle
