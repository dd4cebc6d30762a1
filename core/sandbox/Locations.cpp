// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/Locations.h"

#include <system_error>

namespace heddle {

Result<std::filesystem::path> ownFile(std::string_view name)
{
    namespace fs = std::filesystem;
    std::error_code code;
    const fs::path self = fs::read_symlink("/proc/self/exe", code);
    if (code)
        return Error(Code::Environment, "cannot tell where this program is: " + code.message(),
                     "/proc/self/exe");
    const fs::path folder = self.parent_path();
    for (const char *place : {".", "../bin", "../lib", "../libexec/heddle", "../lib/heddle"}) {
        const fs::path candidate = (folder / place / name).lexically_normal();
        if (fs::is_regular_file(candidate, code))
            return candidate;
    }
    return Error(Code::NotFound, "a part of Heddle is missing: " + std::string(name), folder.string(),
                 "build it, or install Heddle again");
}

} // namespace heddle
