// SPDX-License-Identifier: Apache-2.0
#include "core/session/StoreFolder.h"

#include "core/base/Digest.h"
#include "core/base/File.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace heddle {

namespace fs = std::filesystem;

namespace {

bool isRefusalToWrite(int number) { return number == EACCES || number == EPERM || number == EROFS; }

/// The folder inside the workspace, or nothing when it can't be written.
Result<std::optional<fs::path>> prepareInside(const fs::path &workspace)
{
    const fs::path folder = workspace / ".heddle";
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
        const int number = errno;
        if (isRefusalToWrite(number))
            return std::optional<fs::path>();
        return Error(Code::Io, std::string("cannot create the folder: ") + std::strerror(number),
                     folder.string());
    }
    struct stat info{};
    if (::lstat(folder.c_str(), &info) != 0)
        return Error(Code::Io, std::string("cannot read the folder: ") + std::strerror(errno),
                     folder.string());
    if (!S_ISDIR(info.st_mode))
        return Error(Code::InvalidInput,
                     S_ISLNK(info.st_mode) ? "this is a link; Heddle keeps its data in a real folder"
                                           : "this is a file; Heddle keeps its data in a folder here",
                     folder.string(), "remove or rename it");
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
        if (isRefusalToWrite(errno))
            return std::optional<fs::path>();
        return Error(Code::Io, std::string("cannot use the folder: ") + std::strerror(errno),
                     folder.string());
    }
    const fs::path ignore = folder / ".gitignore";
    if (::access(ignore.c_str(), F_OK) != 0)
        HEDDLE_CHECK_OK(writeFileAtomically(ignore, "*\n"));
    return std::optional<fs::path>(folder);
}

} // namespace

Result<fs::path> prepareStoreFolder(const fs::path &workspace)
{
    HEDDLE_TRY(const std::optional<fs::path> inside, prepareInside(workspace));
    if (inside)
        return *inside;
    const fs::path folder = stateFolder() / "workspaces" / sha256Hex(workspace.string());
    if (auto made = makeFolder(folder); !made)
        return made.error().wrapped("the workspace is read-only, and its data can't be kept elsewhere");
    return folder;
}

} // namespace heddle
