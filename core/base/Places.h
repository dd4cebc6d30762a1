// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace heddle {

/// What the person types to start the command line: HEDDLE_COMMAND_LINE, which the `dev` script sets, else "heddle-cli".
/// For the sentences that say what to do next.
std::string commandLineName();

/// The folder of the running program.
std::filesystem::path programFolder();

/// A program or library of our own, such as "heddle-worker": beside the running program, or in the installed
/// ../bin, ../libexec/heddle, ../lib/heddle. Errors: NotFound.
Result<std::filesystem::path> ownProgram(std::string_view name);

/// Folder with launch.py and heddle_oracle/: installed share/heddle/python, else the source tree it was built from.
Result<std::filesystem::path> packageFolder();
/// Folder with tasks/, plans/ and include/: installed share/heddle/resources, else the source tree.
Result<std::filesystem::path> resourcesFolder();

} // namespace heddle
