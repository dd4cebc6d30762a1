// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace heddle {

/// The name of the network or user-space file system that holds `path` ("nfs", "cifs", "9p", "fuse", ...),
/// or empty where it is local. There SQLite's shared memory does not work between machines.
/// A path that cannot be asked counts as local. The numbers are those of statfs(2).
std::string_view remoteFileSystemName(const std::filesystem::path &path);

} // namespace heddle
