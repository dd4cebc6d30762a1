// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"

#include <string>
#include <string_view>

namespace heddle {

/// SHA-256 of the bytes as 64 lower-case hex digits.
std::string sha256Hex(std::string_view bytes);

/// Digest of a file tree: names, lengths and contents, in order. Equal trees have equal digests.
std::string treeDigest(const FileTree &tree);

/// `count` bytes from the system's random source as hex; for secrets, ids and nonces.
std::string randomHex(std::size_t count);

} // namespace heddle
