// SPDX-License-Identifier: Apache-2.0
// heddle-executor: runs one compiled native candidate for the worker (docs/architecture/oracle-protocol.md). Its channel is
// descriptor 3. From `load` on it is the candidate's process: nothing that it says is believed without a check, and no
// signal is caught here, since a candidate's death must look like one.
#include "core/plan/Plan.h"
#include "core/rpc/FrameChannel.h"
#include "core/runtime/executor/Candidate.h"
#include "core/sandbox/Enter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

namespace {

using namespace heddle;

constexpr std::chrono::hours forever{24 * 365};

/// PyTorch's own OpenMP runtime, global, so that the candidate's needed libgomp.so.1 is this one. Before the walls go up.
/// Returns the number of threads that it will use.
Result<std::int64_t> loadOpenMp(const std::string &path, std::int64_t threads)
{
    if (threads > 0)
        ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
    if (path.empty())
        return threads;
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr)
        return Error(Code::Environment, std::string("cannot load the OpenMP runtime: ") + ::dlerror(), path);
    using Count = int (*)();
    const auto count = reinterpret_cast<Count>(::dlsym(library, "omp_get_max_threads"));
    if (count == nullptr)
        return Error(Code::Environment, "the OpenMP runtime lacks omp_get_max_threads", path);
    return count();
}

Result<std::map<std::string, std::int64_t>> tunablesFrom(const Json &value)
{
    std::map<std::string, std::int64_t> tunables;
    for (const auto &[name, number] : value.items()) {
        if (!number.is_number_integer())
            return Error(Code::InvalidInput, "a tunable must be an integer", name);
        tunables[name] = number.get<std::int64_t>();
    }
    return tunables;
}

class Executor {
public:
    explicit Executor(FrameChannel channel) : m_channel(std::move(channel)) {}

    int run()
    {
        CallOptions options;
        options.timeout = forever;
        while (true) {
            auto frame = m_channel.receive(options);
            if (!frame)
                return frame.error().code() == Code::Crashed ? 0 : 1;
            const Json id = memberOr(frame->body, "id");
            auto result =
                handle(stringOr(frame->body, "method"), memberOr(frame->body, "params"), frame->fds);
            const Json answer = result ? Json{{"id", id}, {"result", std::move(result).value()}}
                                       : Json{{"id", id}, {"error", toJson(result.error())}};
            if (!m_channel.send(answer, {}, options))
                return 1;
        }
    }

private:
    Result<Json> handle(const std::string &method, const Json &params, std::vector<Fd> &fds)
    {
        if (method == "load")
            return load(params, fds);
        if (method == "serve")
            return serve(fds);
        if (method == "ping")
            return Json{{"pid", ::getpid()}};
        return Error(Code::NotFound, "the executor has no such method", method);
    }

    /// Descriptors: the arena, and the compiled candidate where `object` is not a path in the sandbox.
    Result<Json> load(const Json &params, std::vector<Fd> &fds)
    {
        if (m_candidate)
            return Error(Code::Conflict, "this executor holds a candidate already");
        if (fds.empty())
            return Error(Code::InvalidInput, "load needs the arena's descriptor");
        HEDDLE_TRY(TaskLayout layout, layoutFromJson(memberOr(params, "layout")));
        HEDDLE_TRY(const Plan plan, planFromJson(memberOr(params, "plan"), nullptr));
        HEDDLE_TRY(const auto tunables, tunablesFrom(memberOr(params, "tunables")));
        HEDDLE_TRY(ResolvedPlan resolved, resolve(plan, layout, tunables));
        HEDDLE_TRY(Arena arena, Arena::map(fds[0], memberOr(params, "layout")));
        HEDDLE_TRY(const std::int64_t threads,
                   loadOpenMp(stringOr(params, "gomp"), integerOr(params, "threads", 0)));
        HEDDLE_TRY(const Fd object, openObject(stringOr(params, "object"), fds));
        const std::uint64_t scratchBytes = resolved.scratchBytes;
        // The candidate's own code runs from dlopen on (constructors), so the walls come first.
        char report[1024] = "";
        if (!m_isInside && heddle_sandbox_enter("executor", report, sizeof report) != 0)
            return Error(Code::Environment, "the executor cannot raise its walls: " + std::string(report));
        m_isInside = true;
        HEDDLE_TRY(Candidate candidate,
                   Candidate::load("/proc/self/fd/" + std::to_string(object.value()), std::move(resolved),
                                   std::move(arena)));
        m_candidate.emplace(std::move(candidate));
        settleAllocator();
        auto sandbox = parseJson(report, "report");
        return Json{{"symbols", m_candidate->symbolCount()},
                    {"threads", threads},
                    {"tmp_bytes", scratchBytes},
                    {"sandbox", sandbox ? std::move(sandbox).value() : Json()}};
    }

    /// Opened before the walls go up: inside, this process may not pass the closed folders that lie above it.
    static Result<Fd> openObject(const std::string &path, std::vector<Fd> &fds)
    {
        if (path.empty() && fds.size() > 1)
            return std::move(fds[1]);
        Fd object(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!object.isOpen())
            return Error(Code::NotFound,
                         std::string("the compiled candidate cannot be opened: ") + std::strerror(errno),
                         path);
        return object;
    }

    Result<Json> serve(std::vector<Fd> &fds)
    {
        if (!m_candidate || fds.size() != 1)
            return Error(Code::InvalidInput, "serve needs a loaded candidate and the doorbell's descriptor");
        void *memory =
            ::mmap(nullptr, sizeof(HeddleDoorbell), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0].value(), 0);
        if (memory == MAP_FAILED)
            return Error(Code::Io, std::string("cannot map the doorbell: ") + std::strerror(errno));
        auto &page = *static_cast<HeddleDoorbell *>(memory);
        std::atomic_ref<std::uint32_t> request(page.request);
        std::atomic_ref<std::uint32_t> reply(page.reply);
        std::uint32_t done = 0;
        bool isLeaving = false;
        while (!isLeaving) {
            const std::uint32_t asked = request.load(std::memory_order_acquire);
            if (asked == done) {
                ::syscall(SYS_futex, &page.request, FUTEX_WAIT, asked, nullptr, nullptr, 0);
                continue;
            }
            isLeaving = page.op == HEDDLE_OP_EXIT;
            answer(page);
            done = asked;
            reply.store(done, std::memory_order_release);
            ::syscall(SYS_futex, &page.reply, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
        }
        ::munmap(memory, sizeof(HeddleDoorbell));
        return Json::object();
    }

    void answer(HeddleDoorbell &page)
    {
        const bool isGuarded = (page.flags & HEDDLE_CALL_GUARDED) != 0;
        Result<void> result;
        if (page.op == HEDDLE_OP_PREPARE)
            result = m_candidate->prepare(page.slot, page.stateSlot, isGuarded);
        else if (page.op == HEDDLE_OP_CALL)
            result = m_candidate->call(isGuarded);
        else if (page.op == HEDDLE_OP_RELEASE)
            m_candidate->release();
        if (page.op == HEDDLE_OP_PREPARE || page.op == HEDDLE_OP_CALL)
            m_candidate->publish(page);
        page.status = result ? 0 : 1;
        if (!result) {
            const std::string &text = result.error().message();
            const std::size_t length = std::min<std::size_t>(text.size(), HEDDLE_MESSAGE_BYTES - 1);
            std::memcpy(page.message, text.data(), length);
            page.message[length] = '\0';
        }
    }

    FrameChannel m_channel;
    std::optional<Candidate> m_candidate;
    bool m_isInside = false;
};

} // namespace

int main() { return Executor(FrameChannel(Fd(3))).run(); }
