// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <filesystem>
#include <string_view>

namespace heddle {

/// A program or library of our own ("heddle-launch", "heddle-executor", "libheddle_sandbox.so"), found from the running
/// program's own place: beside it, in ../bin, ../lib, ../libexec/heddle or ../lib/heddle. Errors: NotFound.
Result<std::filesystem::path> ownFile(std::string_view name);

} // namespace heddle
