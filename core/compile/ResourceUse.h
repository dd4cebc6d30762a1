// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// What one kernel uses, as its compiler says. Unknown is empty, never 0.
struct ResourceUse {
    std::optional<std::int64_t> registers = {};         ///< of a thread
    std::optional<std::int64_t> staticSharedBytes = {}; ///< of a block
    std::optional<std::int64_t> constantBytes = {};     ///< bank 0: launch data and arguments
    std::optional<std::int64_t> stackBytes = {};        ///< of a thread, in local memory
    std::optional<std::int64_t> spillStoreBytes = {};   ///< of a thread, to local memory
    std::optional<std::int64_t> spillLoadBytes = {};
    std::optional<std::int64_t> barriers = {}; ///< named barriers of a block
    std::optional<std::int64_t> codeBytes =
        {}; ///< of its instructions, functions that it calls not always among them
    std::optional<std::int64_t> maxThreads =
        {}; ///< of a block: its __launch_bounds__, else what a block may have
    std::optional<double> assemblySeconds = {}; ///< what ptxas took for it

    /// Fills what is unknown here from `other`.
    void addFrom(const ResourceUse &other);
};

/// {"registers", "shared_static_bytes", "constant_bytes", "stack_bytes", "spill_store_bytes", "spill_load_bytes",
/// "barriers", "code_bytes", "max_threads", "assembly_seconds"}; unknown is null.
Json toJson(const ResourceUse &use);

/// What ptxas said with -v, by kernel: every "Compiling entry function" with the lines that follow it. Device functions
/// that are called are left out. Never fails: a line that nobody understands changes nothing.
std::map<std::string, ResourceUse> resourcesFromLog(std::string_view log);

} // namespace heddle
