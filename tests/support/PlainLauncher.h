// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/HostCompiler.h"

namespace heddle::testing {

/// Runs compilers without a sandbox in a temporary folder. For tests: the program launches them sandboxed.
Result<CompilerOutput> launchPlainly(const CompileCommand &command, const CancelToken &cancel);

/// Runs a program and returns its exit code and what it printed (stdout and stderr together).
Result<CompilerOutput> runProgram(const std::string &program, const std::vector<std::string> &arguments,
                                  const std::map<std::string, std::string> &environment,
                                  const std::filesystem::path &folder);

} // namespace heddle::testing
