// SPDX-License-Identifier: Apache-2.0
#include "core/plan/CudaRun.h"

#include <algorithm>
#include <utility>

namespace heddle {

Result<CudaRun> CudaRun::create(ResolvedPlan plan, const std::map<std::string, std::string> &cubins,
                                CudaDriver &driver)
{
    if (plan.target != PlanTarget::Cuda)
        return Error(Code::InvalidInput, "this plan is for the cpu", "plan.json: target",
                     "run it in the executor, or write one for cuda");
    CudaRun run(std::move(plan), driver);
    std::map<std::string, std::uint64_t> modules;
    for (const ResolvedStep &step : run.m_plan.steps) {
        const std::string where = "step " + std::to_string(step.number) + " (" + step.kernel + ')';
        if (modules.count(step.source) == 0) {
            const auto cubin = cubins.find(step.source);
            if (cubin == cubins.end())
                return Error(Code::InvalidInput, "there is no compiled form of " + step.source, where,
                             "compile the source first");
            auto module = driver.loadModule(cubin->second);
            if (!module)
                return module.error().wrapped("cannot load the kernels of " + step.source, where);
            run.m_modules.push_back(*module);
            modules.emplace(step.source, *module);
        }
        auto function = driver.function(modules[step.source], step.kernel);
        if (!function)
            return function.error().wrapped("there is no kernel " + step.kernel + " in " + step.source,
                                            where);
        run.m_functions.push_back(*function);
    }
    return run;
}

CudaRun::CudaRun(CudaRun &&other) noexcept
    : m_plan(std::move(other.m_plan)),
      m_driver(std::exchange(other.m_driver, nullptr)),
      m_modules(std::move(other.m_modules)),
      m_functions(std::move(other.m_functions))
{
}

CudaRun::~CudaRun()
{
    if (m_driver == nullptr)
        return;
    for (const std::uint64_t module : m_modules)
        m_driver->unloadModule(module);
}

Result<void> CudaRun::launchAll(const std::vector<void *> &bases)
{
    std::vector<heddle_arg> arguments(m_plan.maxArguments);
    for (const ResolvedCall &call : m_plan.calls) {
        fillArguments(m_plan, call, bases.data(), arguments.data());
        auto launched = m_driver->launch({.function = m_functions[call.step],
                                          .shape = m_plan.launches[call.launch],
                                          .arguments = {arguments.data(), call.argumentCount}});
        if (!launched)
            return launched.error().wrapped("cannot launch step " + std::to_string(call.step),
                                            m_plan.steps[call.step].kernel);
    }
    return m_driver->synchronise();
}

Result<std::vector<std::uint64_t>> CudaRun::call(std::span<const std::uint64_t> given)
{
    const std::uint32_t wanted = m_plan.inputCount + m_plan.stateCount;
    if (given.size() != wanted)
        return Error(Code::InvalidInput,
                     "a call got " + std::to_string(given.size()) + " tensors, the plan takes "
                         + std::to_string(wanted));
    std::vector<std::uint64_t> addresses(given.begin(), given.end());
    const auto releaseFrom = [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < std::min(last, addresses.size()); ++i)
            m_driver->release(addresses[i]);
    };
    for (std::size_t i = wanted; i < m_plan.buffers.size(); ++i) {
        // An empty buffer has an address as well, so that no kernel gets a null pointer.
        auto address = m_driver->allocate(std::max<std::uint64_t>(m_plan.buffers[i].bytes, 1));
        if (!address) {
            releaseFrom(wanted, addresses.size());
            return address.error().wrapped("cannot allocate " + m_plan.buffers[i].name);
        }
        addresses.push_back(*address);
    }
    std::vector<void *> bases;
    for (const std::uint64_t address : addresses)
        bases.push_back(reinterpret_cast<void *>(static_cast<std::uintptr_t>(address)));
    auto done = launchAll(bases);
    releaseFrom(wanted, done ? m_plan.firstOutput() : addresses.size());
    if (!done)
        return std::move(done).error();
    return std::vector<std::uint64_t>(addresses.begin() + m_plan.firstOutput(), addresses.end());
}

} // namespace heddle
