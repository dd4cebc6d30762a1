// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/plan/CudaDriver.h"

#include <map>
#include <vector>

namespace heddle {

/// A CUDA plan with its modules loaded, ready to be called. Owns modules and functions on the driver,
/// which must outlive it. Used from one thread.
class CudaRun {
public:
    /// Loads one module for each source. `cubins` maps a source's name to its cubin. Errors: InvalidInput
    /// for a cpu plan or a source without a cubin; those of the driver, with the step and kernel.
    static Result<CudaRun> create(ResolvedPlan plan, const std::map<std::string, std::string> &cubins,
                                  CudaDriver &driver);
    CudaRun(CudaRun &&other) noexcept;
    CudaRun &operator=(CudaRun &&) = delete;
    CudaRun(const CudaRun &) = delete;
    CudaRun &operator=(const CudaRun &) = delete;
    ~CudaRun();

    /// One call: allocates outputs and scratch, launches every step, waits, frees the scratch. `given` are
    /// device addresses of inputs, then state, in the layout's order. Returns the addresses of the outputs,
    /// which the caller releases. On an error nothing stays allocated.
    Result<std::vector<std::uint64_t>> call(std::span<const std::uint64_t> given);

    const ResolvedPlan &plan() const { return m_plan; }

private:
    CudaRun(ResolvedPlan plan, CudaDriver &driver) : m_plan(std::move(plan)), m_driver(&driver) {}
    Result<void> launchAll(const std::vector<void *> &bases);

    ResolvedPlan m_plan;
    CudaDriver *m_driver;
    std::vector<std::uint64_t> m_modules;
    std::vector<std::uint64_t> m_functions; ///< one for each step
};

} // namespace heddle
