// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Fd.h"
#include "core/rpc/LineClient.h"
#include "core/workbench/Workbench.h"

#include <memory>
#include <string>

namespace heddle {

/// The supervisor's connection to the worker of one target: starts the worker on demand, connects again after it died.
/// "cpu" is a local socket; "ssh://HOST/cpu" runs `heddle-worker --stdio` there through the system's ssh.
/// One thread at a time.
class WorkerConnection {
public:
    /// Errors: InvalidInput for a target that does not exist.
    static Result<std::unique_ptr<WorkerConnection>> create(const Environment &environment,
                                                            const std::string &target);

    /// One request; connects first where needed. Errors: the worker's; Environment when it cannot be started, with
    /// what it said.
    Result<Json> call(const std::string &method, const Json &params, const CancelToken &cancel,
                      const ProgressSink &progress);
    const std::string &target() const { return m_target; }

private:
    WorkerConnection(Environment environment, std::string target, std::string host);
    Result<void> connect(const CancelToken &cancel);
    Result<void> connectLocal(const CancelToken &cancel);
    Result<void> connectRemote(const CancelToken &cancel);

    Environment m_environment;
    std::string m_target;
    std::string m_host; ///< empty: this machine
    Fd m_errors;        ///< what ssh wrote to stderr
    std::unique_ptr<LineClient> m_client;
};

} // namespace heddle
