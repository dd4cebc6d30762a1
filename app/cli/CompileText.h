// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <string>

namespace heddle::cli {

/// What `compile` found, for a person in a terminal: messages at their places, a table of kernels, and the code that was
/// asked for. Unknown is "?".
std::string compileText(const Json &report);

} // namespace heddle::cli
