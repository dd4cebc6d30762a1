// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/Subject.h"

#include "core/runtime/SameProcessor.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

namespace heddle {

namespace {

using Nanoseconds = std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

// How long the futex sleeps before the subject's death is looked for. A death costs at most this; a reply wakes at once.
constexpr auto deathSlice = std::chrono::milliseconds(5);

/// The clock of another process's processor time (clock_getcpuclockid), in nanoseconds and without a file.
clockid_t cpuClockOf(pid_t pid) { return static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2u); }

void wake(std::uint32_t *word)
{
    ::syscall(SYS_futex, word, FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
}

void sleepWhileEqual(std::uint32_t *word, std::uint32_t value, std::chrono::nanoseconds limit)
{
    const timespec time{static_cast<time_t>(limit.count() / 1'000'000'000),
                        static_cast<long>(limit.count() % 1'000'000'000)};
    ::syscall(SYS_futex, word, FUTEX_WAIT, value, &time, nullptr, 0);
}

Error systemError(const char *what)
{
    return Error(Code::Io, std::string(what) + ": " + std::strerror(errno));
}

/// The state letter of each thread: 'R', 'S', 'T', … Empty when the process has gone.
std::string threadStates(pid_t pid)
{
    std::string states;
    std::error_code code;
    for (const auto &task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", code)) {
        std::ifstream stat(task.path() / "stat");
        std::string text;
        std::getline(stat, text);
        // The name in parentheses may hold anything, so the state is what follows the last one.
        const std::size_t end = text.rfind(')');
        if (end != std::string::npos && end + 2 < text.size())
            states += text[end + 2];
    }
    return states;
}

} // namespace

struct Subject::State {
    State(Child ownedChild, FrameChannel ownedChannel, std::string subjectName)
        : child(std::move(ownedChild)), channel(std::move(ownedChannel)), name(std::move(subjectName))
    {
    }
    State(const State &) = delete;
    State &operator=(const State &) = delete;
    ~State()
    {
        if (page != nullptr)
            ::munmap(page, sizeof(HeddleDoorbell));
    }

    Result<void> makePage();
    Result<void> ring(std::uint32_t op, std::uint32_t slot, std::uint32_t stateSlot, std::uint32_t flags,
                      Milliseconds timeout, CallTiming *timing);
    Result<void> checkReply();
    Error died();
    Result<Nanoseconds> cpuTime() const;

    Child child;
    FrameChannel channel;
    std::string name;
    Placer placer;
    HeddleDoorbell *page = nullptr;
    Fd memory;
    std::uint32_t count = 0; // our own copy: the subject can write the page
    std::int64_t serveId = 0;
    bool isServing = false;
    bool isFrozen = false;
    std::vector<HeddleSpan> outputs; // copied out once, so that a later write cannot change them
    std::vector<HeddleSpan> inputs;
};

Result<void> Subject::State::makePage()
{
    memory.reset(::memfd_create("heddle-doorbell", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memory.isOpen() || ::ftruncate(memory.value(), sizeof(HeddleDoorbell)) != 0)
        return systemError("cannot make a doorbell");
    // A subject that shrinks the page would make our own access a fault.
    ::fcntl(memory.value(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    void *address =
        ::mmap(nullptr, sizeof(HeddleDoorbell), PROT_READ | PROT_WRITE, MAP_SHARED, memory.value(), 0);
    if (address == MAP_FAILED)
        return systemError("cannot map a doorbell");
    page = static_cast<HeddleDoorbell *>(address);
    return {};
}

Error Subject::State::died()
{
    isServing = false;
    const auto status = child.waitFor(std::chrono::seconds(2));
    return status ? status->error(name) : Error(Code::Crashed, name + " died");
}

Result<Nanoseconds> Subject::State::cpuTime() const
{
    timespec time{};
    if (::clock_gettime(cpuClockOf(child.pid()), &time) != 0)
        return Error(Code::Crashed, "cannot read the processor time of " + name);
    return Nanoseconds(time.tv_sec * 1'000'000'000ll + time.tv_nsec);
}

Result<void> Subject::State::checkReply()
{
    HeddleDoorbell copy;
    std::memcpy(&copy, page, sizeof copy);
    outputs.clear();
    inputs.clear();
    if (copy.status == 1) {
        const std::size_t length = ::strnlen(copy.message, sizeof copy.message);
        return Error(Code::TaskFailed, std::string(copy.message, length), name);
    }
    if (copy.status != 0 || copy.outputCount > HEDDLE_MAX_OUTPUTS || copy.inputCount > HEDDLE_MAX_INPUTS)
        return Error(Code::Protocol, name + " wrote a reply that makes no sense");
    outputs.assign(copy.outputs, copy.outputs + copy.outputCount);
    inputs.assign(copy.inputs, copy.inputs + copy.inputCount);
    return {};
}

Result<void> Subject::State::ring(std::uint32_t op, std::uint32_t slot, std::uint32_t stateSlot,
                                  std::uint32_t flags, Milliseconds timeout, CallTiming *timing)
{
    if (!isServing)
        return Error(Code::Internal, name + " does not serve calls now");
    if (isFrozen)
        return Error(Code::Internal, name + " is frozen");
    page->op = op;
    page->slot = slot;
    page->stateSlot = stateSlot;
    page->flags = flags;
    page->status = 0;
    Nanoseconds cpuBefore{};
    std::optional<SameProcessor> place;
    if (timing != nullptr) {
        place.emplace(child.pid());
        HEDDLE_TRY(cpuBefore, cpuTime());
    }
    ++count;
    std::atomic_ref<std::uint32_t> request(page->request);
    std::atomic_ref<std::uint32_t> reply(page->reply);
    const auto start = Clock::now();
    const auto end = start + timeout;
    request.store(count, std::memory_order_release);
    wake(&page->request);
    auto now = start;
    while (true) {
        const std::uint32_t seen = reply.load(std::memory_order_acquire);
        now = Clock::now();
        if (seen == count)
            break;
        if (now >= end) {
            isServing = false;
            child.kill();
            return Error(Code::TimedOut,
                         name + " did not finish within " + std::to_string(timeout.count()) + " ms");
        }
        if (now > start + deathSlice && !child.isAlive())
            return died();
        sleepWhileEqual(&page->reply, seen, std::min<Nanoseconds>(deathSlice, end - now));
    }
    if (timing != nullptr) {
        timing->wall = now - start;
        HEDDLE_TRY(const Nanoseconds cpuAfter, cpuTime());
        timing->cpu = cpuAfter - cpuBefore;
    }
    return {};
}

Subject::Subject(Child child, FrameChannel channel, std::string name)
    : m_state(std::make_unique<State>(std::move(child), std::move(channel), std::move(name)))
{
}

Subject::Subject(Subject &&) noexcept = default;
Subject &Subject::operator=(Subject &&) noexcept = default;
Subject::~Subject() = default;

FrameChannel &Subject::channel() { return m_state->channel; }
Child &Subject::child() { return m_state->child; }
const std::string &Subject::name() const { return m_state->name; }
bool Subject::isServing() const { return m_state->isServing; }
bool Subject::isFrozen() const { return m_state->isFrozen; }
std::vector<HeddleSpan> Subject::outputs() const { return m_state->outputs; }
std::vector<HeddleSpan> Subject::inputs() const { return m_state->inputs; }
Result<std::chrono::nanoseconds> Subject::cpuTime() const { return m_state->cpuTime(); }

Result<void> Subject::startServe(Json params, Milliseconds timeout)
{
    if (m_state->isServing)
        return Error(Code::Internal, m_state->name + " serves already");
    if (m_state->page == nullptr)
        HEDDLE_CHECK_OK(m_state->makePage());
    std::memset(m_state->page, 0, sizeof(HeddleDoorbell));
    m_state->count = 0;
    CallOptions options;
    options.timeout = timeout;
    HEDDLE_TRY(m_state->serveId,
               m_state->channel.begin("serve", std::move(params), {m_state->memory.value()}, options));
    m_state->isServing = true;
    // An answer on the channel now could only be a refusal: it is waited for together with the first reply.
    const auto end = Clock::now() + timeout;
    HeddleDoorbell *page = m_state->page;
    page->op = HEDDLE_OP_EMPTY;
    std::atomic_ref<std::uint32_t>(page->request).store(++m_state->count, std::memory_order_release);
    wake(&page->request);
    while (std::atomic_ref<std::uint32_t>(page->reply).load(std::memory_order_acquire) != m_state->count) {
        pollfd entry{m_state->channel.descriptor(), POLLIN, 0};
        if (::poll(&entry, 1, 0) > 0) {
            m_state->isServing = false;
            auto answer = m_state->channel.finish(m_state->serveId, options);
            if (!answer)
                return answer.error().code() == Code::Crashed && !m_state->child.isAlive()
                    ? m_state->died()
                    : std::move(answer).error();
            return Error(Code::Protocol, m_state->name + " left its doorbell before the first call");
        }
        if (!m_state->child.isAlive())
            return m_state->died();
        if (Clock::now() >= end) {
            m_state->isServing = false;
            m_state->child.kill();
            return Error(Code::TimedOut, m_state->name + " did not come to its doorbell in time");
        }
        sleepWhileEqual(&page->reply, 0, deathSlice);
    }
    return {};
}

void Subject::setPlacer(Placer placer) { m_state->placer = std::move(placer); }

bool Subject::hasPlacer() const { return static_cast<bool>(m_state->placer); }

void Subject::place(std::uint32_t slot, std::uint32_t stateSlot) const
{
    if (m_state->placer)
        m_state->placer(slot, stateSlot);
}

Result<void> Subject::prepare(std::uint32_t slot, std::uint32_t stateSlot, std::uint32_t flags,
                              Milliseconds timeout)
{
    if (m_state->placer) {
        place(slot, stateSlot);
        slot = 0;
    }
    HEDDLE_CHECK_OK(m_state->ring(HEDDLE_OP_PREPARE, slot, stateSlot, flags, timeout, nullptr));
    return m_state->checkReply();
}

Result<CallTiming> Subject::call(std::uint32_t flags, Milliseconds timeout)
{
    CallTiming timing;
    HEDDLE_CHECK_OK(m_state->ring(HEDDLE_OP_CALL, 0, 0, flags, timeout, &timing));
    HEDDLE_CHECK_OK(m_state->checkReply());
    return timing;
}

Result<CallTiming> Subject::callAndFreeze(std::uint32_t flags, Milliseconds timeout)
{
    CallTiming timing;
    HEDDLE_CHECK_OK(m_state->ring(HEDDLE_OP_CALL, 0, 0, flags, timeout, &timing));
    HEDDLE_CHECK_OK(freeze());
    HEDDLE_CHECK_OK(m_state->checkReply());
    return timing;
}

Result<CallTiming> Subject::emptyCall()
{
    CallTiming timing;
    HEDDLE_CHECK_OK(m_state->ring(HEDDLE_OP_EMPTY, 0, 0, 0, Milliseconds(10'000), &timing));
    return timing;
}

Result<void> Subject::release()
{
    HEDDLE_CHECK_OK(m_state->ring(HEDDLE_OP_RELEASE, 0, 0, 0, Milliseconds(10'000), nullptr));
    m_state->outputs.clear();
    m_state->inputs.clear();
    return {};
}

Result<void> Subject::exitServe(Milliseconds timeout)
{
    HEDDLE_CHECK_OK(m_state->ring(HEDDLE_OP_EXIT, 0, 0, 0, timeout, nullptr));
    m_state->isServing = false;
    CallOptions options;
    options.timeout = timeout;
    HEDDLE_TRY(const Reply reply, m_state->channel.finish(m_state->serveId, options));
    return {};
}

Result<void> Subject::freeze()
{
    if (m_state->isFrozen)
        return {};
    if (auto sent = m_state->child.signal(SIGSTOP); !sent)
        return m_state->died();
    const auto end = Clock::now() + std::chrono::seconds(2);
    while (true) {
        const std::string states = threadStates(m_state->child.pid());
        if (states.empty() || !m_state->child.isAlive())
            return m_state->died();
        if (std::all_of(states.begin(), states.end(),
                        [](char state) { return state == 'T' || state == 'Z' || state == 'X'; }))
            break;
        if (Clock::now() >= end) {
            m_state->child.kill();
            return Error(Code::TimedOut, m_state->name + " could not be stopped");
        }
        ::usleep(50);
    }
    m_state->isFrozen = true;
    return {};
}

Result<void> Subject::thaw()
{
    if (!m_state->isFrozen)
        return {};
    m_state->isFrozen = false;
    if (auto sent = m_state->child.signal(SIGCONT); !sent)
        return m_state->died();
    return {};
}

Result<void> Subject::readMemory(std::uint64_t address, std::span<std::byte> into) const
{
    const Fd fallback(
        ::open(("/proc/" + std::to_string(m_state->child.pid()) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
    while (!into.empty()) {
        iovec local{into.data(), into.size()};
        iovec remote{reinterpret_cast<void *>(address), into.size()};
        ssize_t count = ::process_vm_readv(m_state->child.pid(), &local, 1, &remote, 1, 0);
        // Containers filter the call but leave the file.
        if (count < 0 && (errno == EPERM || errno == ENOSYS) && fallback.isOpen())
            count = ::pread(fallback.value(), into.data(), into.size(), static_cast<off_t>(address));
        if (count <= 0) {
            if (!m_state->child.isAlive())
                return m_state->died();
            return Error(Code::Protocol,
                         m_state->name + " published an address that cannot be read: "
                             + std::string(count == 0 ? "nothing there" : std::strerror(errno)));
        }
        into = into.subspan(static_cast<std::size_t>(count));
        address += static_cast<std::uint64_t>(count);
    }
    return {};
}

Result<int> Subject::threadCount() const
{
    const std::string states = threadStates(m_state->child.pid());
    if (states.empty())
        return m_state->died();
    return static_cast<int>(states.size());
}

Result<std::uint64_t> Subject::residentBytes() const
{
    std::ifstream statm("/proc/" + std::to_string(m_state->child.pid()) + "/statm");
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    if (!(statm >> size >> resident))
        return m_state->died();
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace heddle
