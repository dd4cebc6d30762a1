// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Worker.h"

#include "core/base/Digest.h"
#include "core/runtime/server/Doctor.h"
#include "core/runtime/server/Exports.h"
#include "core/runtime/server/Noise.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace heddle {

namespace {

/// Open tasks hold an oracle each: gigabytes for large ones.
constexpr std::size_t maximumTasks = 3;
constexpr auto deviceWait = std::chrono::minutes(10);

class Count {
public:
    explicit Count(std::atomic<int> &count) : m_count(count) { ++m_count; }
    ~Count() { --m_count; }
    Count(const Count &) = delete;
    Count &operator=(const Count &) = delete;

private:
    std::atomic<int> &m_count;
};

Result<JudgeRequest> judgeRequest(const Json &params)
{
    JudgeRequest request;
    HEDDLE_TRY(request.files, filesFrom(params));
    request.stage = stringOr(params, "stage", "quick");
    if (request.stage != "quick" && request.stage != "confirmed")
        return Error(Code::InvalidInput, "a stage is 'quick' or 'confirmed'", request.stage);
    if (memberOr(params, "tunables").is_object())
        request.tunables = params["tunables"];
    if (memberOr(params, "tolerance").is_number())
        request.tolerance = numberOr(params, "tolerance", 0.0);
    request.seed = static_cast<std::uint64_t>(integerOr(params, "seed", 1));
    return request;
}

Result<CompareSide> compareSide(const Json &params)
{
    CompareSide side;
    if (memberOr(params, "files").is_object()) {
        HEDDLE_TRY(side.files, filesFrom(params));
    }
    if (memberOr(params, "tunables").is_object())
        side.tunables = params["tunables"];
    side.baseline = stringOr(params, "baseline", "eager");
    return side;
}

} // namespace

Result<FileTree> filesFrom(const Json &params)
{
    FileTree files;
    const Json &given = memberOr(params, "files");
    if (!given.is_object() || given.empty())
        return Error(Code::InvalidInput, "no files were given", "files");
    for (const auto &[name, text] : given.items()) {
        if (!isSafeRelativePath(name) || !text.is_string())
            return Error(Code::InvalidInput, "this file name would leave its folder, or it has no text",
                         name);
        files[name] = text.get<std::string>();
    }
    return files;
}

Result<std::unique_ptr<Worker>> Worker::create(const MachineOptions &options)
{
    HEDDLE_TRY(std::unique_ptr<Machine> machine, Machine::create(options));
    return std::unique_ptr<Worker>(new Worker(std::move(machine)));
}

Worker::Worker(std::unique_ptr<Machine> machine)
    : m_machine(std::move(machine)),
      m_builder(*m_machine),
      m_executors(*m_machine),
      m_idle([this](const std::stop_token &stop) { idle(stop); })
{
}

Worker::~Worker()
{
    m_idle.request_stop();
    m_idle.join();
    m_hosts.clear();
}

Result<Json> Worker::handle(const std::string &method, const Json &params, const CancelToken &cancel,
                            const ProgressSink &progress)
{
    struct Entry {
        Method method;
        bool usesDevice;
    };
    static const std::map<std::string, Entry> methods{
        {"hello", {&Worker::hello, false}},
        {"doctor", {&Worker::doctor, true}},
        {"task.open", {&Worker::openTask, true}},
        {"task.close", {&Worker::closeTask, true}},
        {"task.lint", {&Worker::lint, true}},
        {"task.graph", {&Worker::graph, true}},
        {"task.baseline", {&Worker::baseline, true}},
        {"candidate.compile", {&Worker::compile, true}},
        {"candidate.judge", {&Worker::judge, true}},
        {"candidate.benchmark", {&Worker::benchmark, true}},
        {"candidate.compare", {&Worker::compare, true}},
        {"candidate.export", {&Worker::exportCandidate, true}},
        {"noise", {&Worker::noise, true}},
    };
    const auto found = methods.find(method);
    if (found == methods.end())
        return Error(Code::NotFound, "the worker has no method of that name", method);
    if (!found->second.usesDevice)
        return (this->*found->second.method)(params, cancel, progress);
    const Count waiting(m_waiting);
    HEDDLE_TRY(const DeviceLock device, DeviceLock::acquire("cpu", deviceWait, cancel));
    const std::lock_guard lock(m_mutex);
    return (this->*found->second.method)(params, cancel, progress);
}

void Worker::idle(const CancelToken &stop)
{
    using namespace std::chrono_literals;
    bool hasWork = true;
    while (!stop.stop_requested()) {
        std::this_thread::sleep_for(hasWork ? 5ms : 100ms);
        if (m_waiting.load() > 0) {
            hasWork = true;
            continue;
        }
        auto device = DeviceLock::acquire("cpu", 1ms, stop);
        if (!device)
            continue;
        const std::unique_lock lock(m_mutex, std::try_to_lock);
        if (!lock.owns_lock())
            continue;
        hasWork = false;
        if (!m_order.empty()) {
            // A spare that cannot be made now is made, or its failure reported, by the next judgement.
            (void)m_executors.prepareSpare().has_value();
            hasWork = m_hosts.at(m_order.back())->prepareAhead();
        }
    }
}

Result<TaskHost *> Worker::host(const Json &params)
{
    const std::string handle = stringOr(params, "handle");
    const auto found = m_hosts.find(handle);
    if (found == m_hosts.end())
        return Error(Code::NotFound, "this task is not open in the worker", handle,
                     "open it again with task.open");
    std::erase(m_order, handle);
    m_order.push_back(handle);
    return found->second.get();
}

Result<Json> Worker::hello(const Json &, const CancelToken &, const ProgressSink &)
{
    return Json{{"version", HEDDLE_VERSION},
                {"target", "cpu"},
                {"pid", ::getpid()},
                {"sandbox",
                 {{"rung", rungName(m_machine->spawner().rung().rung)},
                  {"reasons", m_machine->spawner().rung().reasons}}}};
}

Result<Json> Worker::doctor(const Json &, const CancelToken &cancel, const ProgressSink &)
{
    return checkUp(*m_machine, m_builder, cancel);
}

Result<Json> Worker::openTask(const Json &params, const CancelToken &cancel, const ProgressSink &)
{
    TaskSource task;
    task.path = stringOr(params, "path");
    task.source = stringOr(params, "source");
    task.mode = stringOr(params, "mode", "as-constructed");
    task.seed = static_cast<std::uint64_t>(integerOr(params, "seed", 0));
    if (memberOr(params, "siblings").is_object())
        task.siblings = params["siblings"];
    const std::string handle = sha256Hex(task.path + '\0' + task.source + '\0' + task.mode + '\0'
                                         + std::to_string(task.seed) + compactText(task.siblings));
    if (m_hosts.count(handle) == 0) {
        while (m_order.size() >= maximumTasks) {
            m_hosts.erase(m_order.front());
            m_order.erase(m_order.begin());
        }
        m_hosts[handle] = std::make_unique<TaskHost>(*m_machine, m_builder, m_executors, std::move(task));
    }
    std::erase(m_order, handle);
    m_order.push_back(handle);
    auto opened = m_hosts[handle]->open(cancel);
    if (!opened) {
        m_hosts.erase(handle);
        m_order.pop_back();
        return opened;
    }
    Json info = std::move(*opened);
    info["handle"] = handle;
    info.erase("siblings"); // whoever asks has sent them
    return info;
}

Result<Json> Worker::closeTask(const Json &params, const CancelToken &, const ProgressSink &)
{
    const std::string handle = stringOr(params, "handle");
    m_hosts.erase(handle);
    std::erase(m_order, handle);
    return Json::object();
}

Result<Json> Worker::lint(const Json &params, const CancelToken &cancel, const ProgressSink &)
{
    HEDDLE_TRY(TaskHost * task, host(params));
    return task->lint(cancel);
}

Result<Json> Worker::graph(const Json &params, const CancelToken &cancel, const ProgressSink &)
{
    HEDDLE_TRY(TaskHost * task, host(params));
    return task->graph(cancel);
}

Result<Json> Worker::baseline(const Json &params, const CancelToken &cancel, const ProgressSink &progress)
{
    HEDDLE_TRY(TaskHost * task, host(params));
    const bool isFull = boolOr(params, "strongest", true);
    return task->baseline(isFull ? BaselineDepth::Strongest : BaselineDepth::Compile,
                          boolOr(params, "again", false), cancel, progress);
}

Result<Json> Worker::compile(const Json &params, const CancelToken &cancel, const ProgressSink &)
{
    HEDDLE_TRY(TaskHost * task, host(params));
    HEDDLE_TRY(const FileTree files, filesFrom(params));
    HEDDLE_TRY(const BuildOutcome build, task->compile(files, memberOr(params, "tunables"), cancel));
    return Json{{"ok", build.ok},
                {"diagnostics", build.diagnostics},
                {"seconds", build.seconds},
                {"cached", build.wasCached}};
}

Result<Json> Worker::judge(const Json &params, const CancelToken &cancel, const ProgressSink &progress)
{
    HEDDLE_TRY(TaskHost * task, host(params));
    HEDDLE_TRY(const JudgeRequest request, judgeRequest(params));
    return task->judge(request, cancel, progress);
}

Result<Json> Worker::benchmark(const Json &params, const CancelToken &cancel, const ProgressSink &)
{
    HEDDLE_TRY(TaskHost * task, host(params));
    HEDDLE_TRY(const JudgeRequest request, judgeRequest(params));
    return task->benchmark(request, cancel);
}

Result<Json> Worker::compare(const Json &params, const CancelToken &cancel, const ProgressSink &progress)
{
    HEDDLE_TRY(TaskHost * task, host(params));
    HEDDLE_TRY(const CompareSide subject, compareSide(memberOr(params, "subject")));
    HEDDLE_TRY(const CompareSide other, compareSide(memberOr(params, "other")));
    const auto judgements = std::clamp<std::int64_t>(integerOr(params, "judgements", 1), 1, 1000);
    return task->compare(subject, other, static_cast<int>(judgements), cancel, progress);
}

Result<Json> Worker::exportCandidate(const Json &params, const CancelToken &cancel, const ProgressSink &)
{
    HEDDLE_TRY(TaskHost * task, host(params));
    HEDDLE_TRY(const Json info, task->open(cancel));
    HEDDLE_TRY(const FileTree files, filesFrom(params));
    return exportAs(*m_machine, m_builder, info, files, stringOr(params, "as", "modelnew"),
                    stringOr(params, "source"), cancel);
}

Result<Json> Worker::noise(const Json &, const CancelToken &cancel, const ProgressSink &progress)
{
    return measureNoise(m_builder, m_executors, cancel, progress);
}

} // namespace heddle
