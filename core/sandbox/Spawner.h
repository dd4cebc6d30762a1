// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Fd.h"
#include "core/sandbox/Child.h"
#include "core/sandbox/CompilerView.h"
#include "core/sandbox/Policy.h"
#include "core/sandbox/Rung.h"

#include <memory>
#include <string>
#include <vector>

namespace heddle {

/// One program to start in the sandbox. Descriptors are borrowed.
struct SpawnRequest {
    SandboxPolicy policy;
    std::vector<std::string> argv; ///< argv[0] is an absolute path
    int channel = -1;              ///< becomes descriptor 3; -1: none
    std::vector<int> extraFds;     ///< become 4, 5, ...
    int output = -1;               ///< becomes stdout; -1: /dev/null
    int error = -1;                ///< becomes stderr; -1: /dev/null
};

/// Starts every child from one long-lived thread: die-with-parent fires when the spawning *thread* ends. It also owns the
/// watch that kills a child above its resident-size or process limit. Thread-safe. Children should not outlive it (they die with it).
class Spawner {
public:
    /// Probes the ladder. Errors: Environment when no rung holds, with what to install.
    static Result<std::unique_ptr<Spawner>> create();
    /// With a known rung, for tests and for a worker that has probed already.
    static Result<std::unique_ptr<Spawner>> create(RungReport rung);
    /// The person's choice by --unsandboxed: as create(), but where no rung holds children start without an outer wall,
    /// with the limits alone, and their reports say so. Errors: those of missing programs.
    static Result<std::unique_ptr<Spawner>> createUnsandboxed();
    static Result<std::unique_ptr<Spawner>> createUnsandboxed(RungReport rung);
    ~Spawner();

    const RungReport &rung() const;
    /// Returns once the program itself has been executed. Errors: InvalidInput (policy), NotFound (program), Environment.
    Result<Child> spawn(const SpawnRequest &request);
    /// viewOfCompiler(), asked once for each program.
    Result<CompilerView> compilerView(const std::string &program);
    /// Puts a child that a zygote forked under the watch, with the policy's memory limit.
    void watch(const Child &child, const SandboxPolicy &policy);

private:
    struct State;
    explicit Spawner(std::unique_ptr<State> state);
    static Result<std::unique_ptr<Spawner>> make(RungReport rung);
    std::unique_ptr<State> m_state;
};

} // namespace heddle
