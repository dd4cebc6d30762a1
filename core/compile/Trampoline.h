// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/plan/Plan.h"

#include <string>

namespace heddle {

/// One translation unit for each source of a CPU plan: "heddle_unit_I.cpp" includes "src/<source>" and
/// defines `extern "C" void heddle_step_N(const union heddle_arg *)` for each step of that source. Each is
/// preceded by checks of the kernel's prototype against the arguments of plan.json (count, element types,
/// constness, scalars, void result); a failing check is reported at the line of the kernel in its source
/// where the generator finds it there, else in plan.json. `files` are the candidate's. With a
/// `layout` the element types of inputs and state are checked too; without, only that they are pointers of
/// the right constness (plan.json does not say their dtypes). Pure function.
FileTree generateTrampolines(const Plan &plan, const FileTree &files, const TaskLayout *layout = nullptr);

/// The line (from 1) where `source` defines or declares the function, or 0.
int lineOfFunction(std::string_view source, std::string_view name);

} // namespace heddle
