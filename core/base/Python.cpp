// SPDX-License-Identifier: Apache-2.0
#include "core/base/Python.h"

#include "core/base/File.h"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <sstream>

namespace heddle {

namespace fs = std::filesystem;

namespace {

std::optional<fs::path> onPath(const std::string &program)
{
    const char *path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path candidate = fs::path(folder) / program;
        if (::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return std::nullopt;
}

} // namespace

Result<fs::path> findPython()
{
    const char *chosen = std::getenv("HEDDLE_PYTHON");
    if (chosen != nullptr && chosen[0] != '\0') {
        if (::access(chosen, X_OK) != 0)
            return Error(Code::Environment, "HEDDLE_PYTHON names no program", chosen,
                         "set it to a Python interpreter that has torch 2.9 or newer");
        return fs::path(chosen);
    }
    const char *home = std::getenv("HEDDLE_DEV_HOME");
    const fs::path made =
        (home != nullptr ? fs::path(home) : cacheFolder().parent_path() / "heddle-dev") / "python/bin/python";
    if (::access(made.c_str(), X_OK) == 0)
        return made;
    if (const auto found = onPath("python3"))
        return *found;
    return Error(Code::Environment, "no Python interpreter was found", {},
                 "run ./dev build once, or set HEDDLE_PYTHON to an interpreter with torch 2.9 or newer");
}

} // namespace heddle
