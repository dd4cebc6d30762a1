// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/plan/CudaDriver.h"

#include <set>
#include <vector>

namespace heddle::testing {

/// Records what a run asks of a CUDA driver and answers as one would. `failAfter` makes the nth allocation
/// or launch fail.
class FakeCudaDriver : public CudaDriver {
public:
    struct Record {
        std::string kernel;
        ResolvedLaunch shape;
        std::vector<heddle_arg> arguments;
    };

    Result<std::uint64_t> loadModule(std::string_view) override { return ++m_modules; }
    void unloadModule(std::uint64_t) override { --m_modules; }
    Result<std::uint64_t> function(std::uint64_t, const std::string &name) override
    {
        m_names.push_back(name);
        return m_names.size() - 1;
    }
    Result<std::uint64_t> allocate(std::uint64_t bytes) override
    {
        if (allocationsLeft-- == 0)
            return Error(Code::OutOfMemory, "the device has no memory left");
        const std::uint64_t address = m_next;
        m_next += (bytes + 255) / 256 * 256;
        live.insert(address);
        return address;
    }
    void release(std::uint64_t address) override { live.erase(address); }
    Result<void> launch(const CudaLaunch &launch) override
    {
        if (launchesLeft-- == 0)
            return Error(Code::Crashed, "the launch failed");
        launches.push_back(
            {m_names[launch.function], launch.shape, {launch.arguments.begin(), launch.arguments.end()}});
        return {};
    }
    Result<void> synchronise() override
    {
        ++synchronisations;
        return {};
    }

    std::uint64_t modules() const { return m_modules; }
    std::vector<Record> launches;
    std::set<std::uint64_t> live;
    int synchronisations = 0;
    int allocationsLeft = -1;
    int launchesLeft = -1;

private:
    std::vector<std::string> m_names;
    std::uint64_t m_modules = 0;
    std::uint64_t m_next = 0x7f0000000000;
};

} // namespace heddle::testing
