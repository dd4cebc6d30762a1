// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/DeviceLock.h"
#include "core/runtime/server/TaskHost.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace heddle {

/// The worker's methods (docs/architecture/worker-protocol.md). handle() may be called from several threads; requests
/// that use the device run one after the other, across processes too. Idle time is spent on preparing input sets and a
/// spare executor.
class Worker {
public:
    static Result<std::unique_ptr<Worker>> create(const MachineOptions &options);
    ~Worker();

    Result<Json> handle(const std::string &method, const Json &params, const CancelToken &cancel,
                        const ProgressSink &progress);

private:
    explicit Worker(std::unique_ptr<Machine> machine);
    using Method = Result<Json> (Worker::*)(const Json &, const CancelToken &, const ProgressSink &);

    Result<Json> hello(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> doctor(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> openTask(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> closeTask(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> lint(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> graph(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> baseline(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> compile(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> judge(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> benchmark(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> compare(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> exportCandidate(const Json &params, const CancelToken &cancel, const ProgressSink &progress);
    Result<Json> noise(const Json &params, const CancelToken &cancel, const ProgressSink &progress);

    Result<TaskHost *> host(const Json &params);
    void idle(const CancelToken &stop);

    std::unique_ptr<Machine> m_machine;
    Builder m_builder;
    Executors m_executors;
    std::mutex m_mutex; ///< guards m_hosts and m_order; held by every request that uses the device
    std::map<std::string, std::unique_ptr<TaskHost>> m_hosts;
    std::vector<std::string> m_order; ///< handles, least recently used first
    std::atomic<int> m_waiting = 0;   ///< requests that want the device: idle work gives way
    std::jthread m_idle;
};

/// A request's file tree {name: text}. Errors: InvalidInput for a name that leaves its folder.
Result<FileTree> filesFrom(const Json &params);

} // namespace heddle
