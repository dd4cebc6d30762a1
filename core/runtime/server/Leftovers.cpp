// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Leftovers.h"

#include "core/base/File.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr const char *prefix = "heddle-worker-";
constexpr int attempts = 10;

/// Opens a folder of ours and locks it; not open where a living worker holds it, or where it is a link or another's.
Fd lockFolder(const fs::path &folder)
{
    Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat opened{};
    struct stat named{};
    if (!fd.isOpen() || ::fstat(fd.value(), &opened) != 0 || opened.st_uid != ::geteuid()
        || ::flock(fd.value(), LOCK_EX | LOCK_NB) != 0)
        return {};
    // Another worker that sweeps may have removed it between the two calls.
    const bool isStillThere = ::lstat(folder.c_str(), &named) == 0 && named.st_ino == opened.st_ino
        && named.st_dev == opened.st_dev;
    return isStillThere ? std::move(fd) : Fd();
}

void sweep(const fs::path &base)
{
    std::error_code code;
    for (const fs::directory_entry &entry : fs::directory_iterator(base, code)) {
        if (!entry.path().filename().string().starts_with(prefix))
            continue;
        if (const Fd lock = lockFolder(entry.path()); lock.isOpen())
            fs::remove_all(entry.path(), code);
    }
}

} // namespace

Result<WorkerFolder> WorkerFolder::create(const fs::path &base)
{
    HEDDLE_CHECK_OK(makeFolder(base));
    sweep(base);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::string name = (base / (std::string(prefix) + "XXXXXX")).string();
        if (::mkdtemp(name.data()) == nullptr)
            return Error(Code::Io, std::string("cannot make a folder: ") + std::strerror(errno), name);
        Fd lock = lockFolder(name);
        if (!lock.isOpen())
            continue;
        WorkerFolder folder(name, std::move(lock));
        if (::chmod(name.c_str(), 0711) != 0)
            return Error(Code::Io,
                         std::string("cannot open a folder to the sandbox: ") + std::strerror(errno), name);
        return folder;
    }
    return Error(Code::Io, "other workers keep removing the folder of this one", base.string());
}

WorkerFolder::WorkerFolder(WorkerFolder &&other) noexcept
    : m_path(std::exchange(other.m_path, {})), m_lock(std::move(other.m_lock))
{
}

WorkerFolder::~WorkerFolder()
{
    std::error_code code;
    if (!m_path.empty())
        fs::remove_all(m_path, code);
}

Result<void> WorkerFolder::useForTemporaryFiles() const
{
    if (::setenv("TMPDIR", m_path.c_str(), 1) != 0)
        return Error(Code::Io, "there is no memory for an environment variable", "TMPDIR");
    return {};
}

} // namespace heddle
