// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diff/Lines.h"

#include <string_view>
#include <vector>

namespace heddle {

/// What differs within a line and its replacement, in bytes of each.
struct IntralineDiff {
    std::vector<Range> before;
    std::vector<Range> after;
};

/// Compares word by word (identifiers, numbers, runs of blanks, single other characters; a UTF-8 character is
/// never cut). Empty when the lines have too little in common for marks to help. Lines over 4096 bytes are
/// not compared.
IntralineDiff diffWithinLine(std::string_view before, std::string_view after);

} // namespace heddle
