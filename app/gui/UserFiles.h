// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace heddle {

/// What the window remembers about the person, outside every workspace. Small files, blocking; call in an io
/// job (reads at start excepted: each is under a few kilobytes).
namespace userFiles {

/// Workspaces opened, newest first, at most 12. Unreadable: empty.
std::vector<std::string> recent();
Result<void> addRecent(const std::filesystem::path &path);

/// Whether the person trusts this very folder. The answer lies in the user's configuration, so that no
/// workspace can bring its own trust with it.
bool isTrusted(const std::filesystem::path &folder);
Result<void> trust(const std::filesystem::path &folder);

/// Where unsaved text of a workspace is kept.
std::filesystem::path journalFolder(const std::filesystem::path &workspace);

/// A writable copy of a shipped sample: `<state>/samples/NAME/NAME.py`. An existing copy is kept as it is.
Result<std::filesystem::path> sampleCopy(const std::filesystem::path &sample);

} // namespace userFiles

} // namespace heddle
