// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/CudaCompiler.h"
#include "core/compile/SandboxLauncher.h"
#include "tests/core/plan/PlanVectors.h"

#include <cstdlib>
#include <memory>
#include <optional>

namespace heddle {

/// What is on this machine: a toolkit, or the wheels of $HEDDLE_PYTHON.
inline CudaPlaces cudaPlacesHere()
{
    const char *python = std::getenv("HEDDLE_PYTHON");
    return findCudaPlaces(sitePackagesOf(python != nullptr ? python : ""));
}

/// A CUDA compiler in the sandbox with a private cache. Skips with the reason where there is no NVRTC.
class CudaCompilerTest : public ::testing::Test {
protected:
    static void SetUpTestSuite()
    {
        auto created = Spawner::create();
        ASSERT_TRUE(created) << created.error().text();
        s_spawner = std::move(*created);
    }
    static void TearDownTestSuite() { s_spawner.reset(); }

    void SetUp() override
    {
        auto folder = TempFolder::create("heddle-cuda-compiler-test-");
        ASSERT_TRUE(folder) << folder.error().text();
        m_folder.emplace(std::move(*folder));
        if (cudaPlacesHere().nvrtc.empty())
            GTEST_SKIP() << nvrtcMissing({}).text();
        auto compiler = make(cudaPlacesHere(), {});
        ASSERT_TRUE(compiler) << compiler.error().text();
        m_compiler.emplace(std::move(*compiler));
    }

    Result<CudaCompiler> make(CudaPlaces places, CompilerLimits limits) const
    {
        return CudaCompiler::create({.program = std::string(HEDDLE_BINARY_DIR) + "/bin/heddle-nvrtc",
                                     .places = std::move(places),
                                     .includeFolder = std::string(HEDDLE_SOURCE_DIR) + "/resources/include",
                                     .cacheFolder = m_folder->path() / "cubins"},
                                    sandboxLauncher(*s_spawner, limits));
    }

    /// One kernel `k(float *)` of the given text.
    static FileTree candidate(const std::string &text)
    {
        return {{"plan.json", R"({"heddle": 1, "target": "cuda",
            "steps": [{"kernel": "k", "source": "kernel.cu", "grid": [1], "block": [32], "args": [{"ptr": "out:0"}]}],
            "outputs": [{"dtype": "float32", "shape": [4]}]})"},
                {"kernel.cu", text}};
    }

    Result<CudaOutcome> compile(const FileTree &files, const CudaCompiler &compiler,
                                const char *architecture = "sm_90",
                                const std::map<std::string, std::int64_t> &tunables = {}) const
    {
        HEDDLE_TRY(const Plan plan, parsePlan(files));
        HEDDLE_TRY(const CudaArchitecture wanted, parseArchitecture(architecture));
        return compiler.compile(plan, files, tunables, wanted);
    }

    static inline std::unique_ptr<Spawner> s_spawner;
    std::optional<TempFolder> m_folder;
    std::optional<CudaCompiler> m_compiler;
};

} // namespace heddle
