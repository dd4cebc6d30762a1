// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/export/PythonSource.h"
#include "core/json/Json.h"
#include "core/plan/Layout.h"

#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// A string as a Python literal: a raw triple-quoted block where the text allows it, else escaped.
std::string pythonString(const std::string &text);
/// A value of the oracle's encoding as a Python expression, or nothing (a tensor, an unknown kind).
std::optional<std::string> pythonValue(const Json &value);
/// (64, 96), (5,), ().
std::string pythonShape(const std::vector<std::int64_t> &shape);
/// How forward() reaches an input: "input:x" → x, "input:args.0" → args[0], "input:pair.left" → pair["left"],
/// "input:extra" → kwargs["extra"] where no parameter has that name.
std::string pythonAccess(const std::string &inputName, const ReferenceSource &reference);
/// The return value's structure from the oracle's `output_tree` and the outputs' paths, with leaf I written
/// as "out<I>". Errors: NotCovered where a leaf is no tensor of the list, or a container's class is out of reach.
Result<std::string> pythonResult(const Json &tree, const Json &outputs, const ReferenceSource &reference);

} // namespace heddle
