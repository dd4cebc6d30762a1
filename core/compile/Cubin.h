// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/ResourceUse.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Names of the kernels (entry functions) in a cubin, sorted. Reads the ELF symbol table with checks of
/// every offset; a damaged image gives an empty list.
std::vector<std::string> cubinKernels(std::string_view cubin);

/// What each kernel of a cubin uses, as far as its ELF sections say it: registers, stack, constants, code and launch bounds. Checks every
/// offset; what a damaged image does not say stays unknown.
std::map<std::string, ResourceUse> cubinResources(std::string_view cubin);

} // namespace heddle
