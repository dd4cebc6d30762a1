// SPDX-License-Identifier: Apache-2.0
#include "core/base/Places.h"

#include <unistd.h>

#include <cstdlib>

namespace heddle {

namespace fs = std::filesystem;

namespace {

Result<fs::path> firstWith(std::initializer_list<fs::path> folders, const char *member, const char *what)
{
    std::error_code code;
    for (const fs::path &folder : folders) {
        if (fs::exists(folder / member, code))
            return fs::weakly_canonical(folder, code);
    }
    return Error(Code::NotFound, std::string("Heddle's own ") + what + " was not found",
                 programFolder().string(), "install Heddle again, or run it from its build folder");
}

} // namespace

std::string commandLineName()
{
    const char *name = std::getenv("HEDDLE_COMMAND_LINE");
    return name != nullptr && name[0] != '\0' ? name : "heddle-cli";
}

fs::path programFolder()
{
    std::error_code code;
    return fs::read_symlink("/proc/self/exe", code).parent_path();
}

Result<fs::path> ownProgram(std::string_view name)
{
    const fs::path here = programFolder();
    for (const char *relative : {".", "../bin", "../libexec/heddle", "../lib/heddle", "../lib"}) {
        const fs::path candidate = here / relative / name;
        if (::access(candidate.c_str(), R_OK) == 0) {
            std::error_code code;
            return fs::weakly_canonical(candidate, code);
        }
    }
    return Error(Code::NotFound, "a part of Heddle is missing: " + std::string(name), here.string(),
                 "install Heddle again, or build all of it");
}

Result<fs::path> packageFolder()
{
    return firstWith(
        {programFolder() / "../share/heddle/python", fs::path(HEDDLE_SOURCE_DIR) / "core/python"},
        "launch.py", "Python package");
}

Result<fs::path> resourcesFolder()
{
    return firstWith(
        {programFolder() / "../share/heddle/resources", fs::path(HEDDLE_SOURCE_DIR) / "resources"}, "include",
        "resources");
}

} // namespace heddle
