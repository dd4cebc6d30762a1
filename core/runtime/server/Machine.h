// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/Zygote.h"
#include "core/runtime/server/Leftovers.h"
#include "core/sandbox/Spawner.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace heddle {

/// Where the worker finds things, and what it may use.
struct MachineOptions {
    std::filesystem::path python;    ///< interpreter with torch; empty: found (core/base/Python.h)
    std::filesystem::path package;   ///< folder that holds launch.py and heddle_oracle/
    std::filesystem::path resources; ///< folder that holds include/
    bool unsandboxed = false;
};

/// The parts that every task on this target shares: spawner, the two zygotes, private folders. Made once; thread-safe
/// as its members are.
class Machine {
public:
    /// Errors: Environment when no sandbox holds (and none was asked to be left out) or Python is missing.
    static Result<std::unique_ptr<Machine>> create(const MachineOptions &options);
    ~Machine();

    Spawner &spawner() { return *m_spawner; }
    Zygote &oracles() { return *m_oracles; }
    Zygote &runners() { return *m_runners; }
    const std::filesystem::path &resources() const { return m_options.resources; }
    const std::filesystem::path &python() const { return m_options.python; }
    /// Read-only to runners; prebuilt objects of exports lie here as heddle_<digest>/kernels.so.
    const std::filesystem::path &exportObjects() const { return m_exports; }
    /// torch/lib/libgomp.so.1 of that interpreter, so that both sides use one OpenMP. Empty where there is none.
    const std::filesystem::path &gomp() const { return m_gomp; }
    /// Bytes that one child may use.
    std::uint64_t memoryLimit() const { return m_memoryLimit; }
    int threads() const { return m_threads; }
    const MachineOptions &options() const { return m_options; }

private:
    Machine() = default;
    MachineOptions m_options;
    std::unique_ptr<Spawner> m_spawner;
    std::optional<WorkerFolder> m_folder;
    std::filesystem::path m_exports;
    std::filesystem::path m_gomp;
    std::uint64_t m_memoryLimit = 0;
    int m_threads = 1;
    std::unique_ptr<Zygote> m_oracles;
    std::unique_ptr<Zygote> m_runners;
};

} // namespace heddle
