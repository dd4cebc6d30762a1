// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Fd.h"
#include "core/base/Result.h"

#include <filesystem>

namespace heddle {

/// A folder of one worker alone, so that nothing stays when it is killed: a lock on the folder tells that its worker
/// lives, and the next worker that makes one beside it removes those of the dead. (A number of a process would tell less:
/// a dead one that nobody has reaped yet still has it.) Removed with its contents on destruction.
class WorkerFolder {
public:
    /// Removes what dead workers of this user have left in `base`, which is made if need be, and makes this worker's
    /// folder there (mode 0711: the sandbox's users pass through it). Errors: Io.
    static Result<WorkerFolder> create(const std::filesystem::path &base);
    WorkerFolder(WorkerFolder &&other) noexcept;
    WorkerFolder &operator=(WorkerFolder &&) = delete;
    ~WorkerFolder();

    const std::filesystem::path &path() const { return m_path; }
    /// Makes it $TMPDIR of this process. Call it before there are threads. Errors: Io.
    Result<void> useForTemporaryFiles() const;

private:
    WorkerFolder(std::filesystem::path path, Fd lock) : m_path(std::move(path)), m_lock(std::move(lock)) {}
    std::filesystem::path m_path;
    Fd m_lock; ///< held until the folder is gone
};

} // namespace heddle
