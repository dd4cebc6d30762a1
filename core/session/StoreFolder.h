// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <filesystem>

namespace heddle {

/// Makes and returns the folder of a workspace's database: `.heddle/` inside it with its own `.gitignore`,
/// or a folder under stateFolder() when the workspace is read-only. `workspace` is absolute and exists.
/// Errors: InvalidInput when `.heddle` is a link or a file (a downloaded folder could point it anywhere), Io.
Result<std::filesystem::path> prepareStoreFolder(const std::filesystem::path &workspace);

} // namespace heddle
