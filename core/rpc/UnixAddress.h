// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <sys/un.h>

#include <filesystem>

namespace heddle {

/// The address of the Unix socket at `path`. Error: InvalidInput for a path longer than the kernel takes (107 bytes).
Result<sockaddr_un> unixAddress(const std::filesystem::path &path);

} // namespace heddle
