// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sandbox/Child.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

namespace heddle {

/// Shared by a Child and the Spawner's watch. The outer process is our own child (bubblewrap, heddle-launch as a waiter,
/// or the program itself); the inner one is the program.
struct Child::State {
    Fd innerPidfd;
    Fd outerPidfd; // unset: forked by a zygote, not our child
    pid_t innerPid = 0;
    pid_t outerPid = 0;
    Json report;
    std::uint64_t memoryBytes = 0; // limits that the watch enforces; 0: none
    std::uint32_t processes = 0;
    std::atomic<bool> isOverMemory{false};

    std::mutex mutex; // guards `ended`
    std::optional<ExitStatus> ended;

    bool isDead() const;
    std::optional<ExitStatus> waitFor(std::chrono::milliseconds limit);
    void kill();
};

/// The pids of `root` and all its descendants, root first. Empty when it is gone.
std::vector<pid_t> processTree(pid_t root);

/// pidfd_open; the descriptor is close-on-exec. Unset when there is no such process.
Fd openPidfd(pid_t pid);

/// The "Pid:" of a pidfd as seen from here; 0 when it has died.
pid_t pidOf(int pidfd);

} // namespace heddle
