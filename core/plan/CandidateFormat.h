// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/base/Result.h"

#include <string>

namespace heddle {

/// The format of a candidate's files: "native" (plan.json), "work_folder" or "modelnew" (model_new.py with or without other
/// files). Error: InvalidInput when the tree is none of them.
Result<std::string> candidateFormat(const FileTree &files);

} // namespace heddle
