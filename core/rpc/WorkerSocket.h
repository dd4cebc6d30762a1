// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Cancel.h"
#include "core/base/Fd.h"
#include "core/base/Result.h"

#include <filesystem>

namespace heddle {

/// How the worker of this machine is started. Two callers with the same launch share one worker.
struct WorkerLaunch {
    std::filesystem::path worker;    ///< the heddle-worker program
    std::filesystem::path python;    ///< the interpreter with torch; empty: found by the worker
    std::filesystem::path package;   ///< folder with launch.py and heddle_oracle/
    std::filesystem::path resources; ///< folder with include/
    bool unsandboxed = false;
    std::filesystem::path compiler = {}; ///< the C++ compiler for kernels; empty: $CXX, else g++
};

/// The socket that the worker of this launch listens on. Programs of another build, interpreter, compiler or walls never answer
/// each other's requests: all of them, and when the program was built, are in the name.
std::filesystem::path workerSocket(const WorkerLaunch &launch);

/// Connects to the worker, starting it first where none listens: detached, so that it outlives the caller. Blocks for
/// at most 20 s. Callers that come at once start one worker. Errors: Environment with what the worker said; Io.
Result<Fd> connectWorker(const WorkerLaunch &launch, const CancelToken &cancel);

} // namespace heddle
