// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/base/Result.h"
#include "core/compile/HostCompiler.h"
#include "core/json/Json.h"
#include "core/plan/Plan.h"

#include <cstdint>
#include <map>
#include <string>

namespace heddle {

/// What an export is made from: a judged native candidate and the task that it was judged on.
struct ExportRequest {
    Plan plan;
    FileTree files;                               ///< the candidate
    std::map<std::string, std::int64_t> tunables; ///< empty: the plan's defaults
    std::string taskSource;                       ///< text of the task's file
    Json taskInfo;                                ///< result of the oracle's `open` (oracle-protocol.md)
    FileTree headers;                             ///< resources/include, as in HostCompiler::headers()
};

/// One Python file with `class ModelNew(nn.Module)` that runs with PyTorch and a C++ compiler alone: the
/// constructor, parameters and state_dict names of the task's Model, the same signature of forward, the
/// candidate's sources embedded and compiled at first use with the flags they were judged with. forward
/// raises on other dtypes, shapes, devices and values than judged, and on inputs that need gradients.
/// Errors: NotCovered (a task whose Model can't be rebuilt, a cuda plan), those of resolve().
Result<std::string> exportModelNew(const ExportRequest &request);

/// Where an export looks for its compiled kernels below $TORCH_EXTENSIONS_DIR (else
/// ~/.cache/torch_extensions): "heddle_<digest>/kernels.so". Errors: as exportModelNew().
Result<std::string> exportObjectName(const ExportRequest &request);

/// The very command that the export would run, for building that object ahead. `program` is the compiler.
Result<CompileCommand> exportCompileCommand(const ExportRequest &request, const std::string &program);

/// The native candidate as a folder that can be judged again: its files, with plan.json's tunables set to
/// the chosen values as defaults. Errors: InvalidInput for tunables that are not the plan's.
Result<FileTree> exportNative(const Plan &plan, const FileTree &files,
                              const std::map<std::string, std::int64_t> &tunables);

} // namespace heddle
