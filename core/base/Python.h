// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <filesystem>

namespace heddle {

/// HEDDLE_PYTHON, else the environment that ./dev makes, else python3 on the PATH. Errors: Environment with what to do.
Result<std::filesystem::path> findPython();

} // namespace heddle
