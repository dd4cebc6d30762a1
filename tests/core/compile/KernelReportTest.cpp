// SPDX-License-Identifier: Apache-2.0
#include "core/compile/KernelReport.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

FileTree candidate(const std::string &steps, const std::string &symbols = "{}")
{
    return {{"kernel.cu", "x"},
            {"plan.json",
             R"({"heddle": 1, "target": "cuda", "symbols": )" + symbols
                 + R"(, "tunables": {"BLOCK": {"default": 256, "choices": [128, 256]}}, "steps": [)" + steps
                 + R"(], "outputs": [{"dtype": "float32", "shape": [4]}]})"}};
}

std::string step(const std::string &block, const std::string &shared = "0", const std::string &more = "")
{
    return R"({"kernel": "k", "source": "kernel.cu", "grid": [1], "block": [)" + block + R"(], "shared": ")"
        + shared + R"(", "args": [{"ptr": "out:0"}])" + more + "}";
}

/// The launches of kernel k, which uses 32 registers and 1000 bytes.
Json launches(const FileTree &files, const std::map<std::string, std::int64_t> &values = {},
              const char *architecture = "sm_90",
              const ResourceUse &use = {.registers = 32, .staticSharedBytes = 1000})
{
    const auto plan = parsePlan(files);
    EXPECT_TRUE(plan) << plan.error().text();
    CudaOutcome outcome;
    outcome.modules["kernel.cu"].kernels["k"] = use;
    const Json rows = kernelReport(*plan, outcome, *parseArchitecture(architecture), values);
    EXPECT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["name"], "k");
    return rows[0]["launches"];
}

TEST(KernelReport, stepsOfOneLaunchShareARowAndOthersHaveTheirOwn)
{
    const Json rows = launches(candidate(step("\"BLOCK\"") + "," + step("256") + "," + step("64, 2")));
    ASSERT_EQ(rows.size(), 2u) << prettyText(rows);
    EXPECT_EQ(rows[0]["steps"], Json({0, 1}));
    EXPECT_EQ(rows[0]["threads"], 256);
    EXPECT_EQ(rows[0]["occupancy"]["blocks"], 8);
    EXPECT_EQ(rows[0]["occupancy"]["share"], 1.0);
    EXPECT_EQ(rows[0]["message"], "");
    EXPECT_EQ(rows[1]["block"], Json({64, 2, 1}));
    EXPECT_EQ(rows[1]["threads"], 128);
    EXPECT_EQ(launches(candidate(step("\"BLOCK\"")), {{"BLOCK", 128}})[0]["threads"], 128);
}

TEST(KernelReport, aLaunchThatDependsOnShapesSaysWhatToGive)
{
    const FileTree files = candidate(step("\"BLOCK\"", "cols * 4"), R"({"cols": "input:x.shape[1]"})");
    const Json unknown = launches(files);
    EXPECT_TRUE(unknown[0]["occupancy"].is_null());
    EXPECT_TRUE(unknown[0]["shared_dynamic_bytes"].is_null());
    EXPECT_EQ(unknown[0]["threads"], 256);
    EXPECT_EQ(unknown[0]["message"],
              "the launch depends on cols, known only with a task's shapes: give --set cols=…");
    for (const char *name : {"cols", "input:x.shape[1]"}) {
        const Json known = launches(files, {{name, 10'000}});
        EXPECT_EQ(known[0]["shared_dynamic_bytes"], 40'000) << name;
        EXPECT_EQ(known[0]["occupancy"]["blocks"], 5) << name;
        EXPECT_EQ(known[0]["occupancy"]["limiters"], Json({"shared memory"}));
    }
    const Json wrong = launches(files, {{"cols", -1}});
    EXPECT_TRUE(wrong[0]["occupancy"].is_null());
    EXPECT_EQ(wrong[0]["message"], "plan.json: steps[0].shared: \"cols * 4\" is -4, which is less than 0");
}

TEST(KernelReport, whatIsNotKnownHasNoOccupancyAndWhatCannotRunHasZeroBlocks)
{
    const FileTree files = candidate(step("256"));
    EXPECT_EQ(launches(files, {}, "sm_70")[0]["message"], "the limits of sm_70 are not known here");
    const Json silent = launches(files, {}, "sm_90", {});
    EXPECT_TRUE(silent[0]["occupancy"].is_null());
    EXPECT_NE(silent[0]["message"].get<std::string>().find("did not say"), std::string::npos);
    const Json refused = launches(candidate(step("512, 4")));
    EXPECT_EQ(refused[0]["occupancy"]["blocks"], 0);
    EXPECT_EQ(refused[0]["message"], "a block has at most 1024 threads, this one 2048");
    const Json bound =
        launches(files, {}, "sm_90", {.registers = 32, .staticSharedBytes = 0, .maxThreads = 128});
    EXPECT_EQ(bound[0]["occupancy"]["blocks"], 0);
    EXPECT_NE(bound[0]["message"].get<std::string>().find("at most 128 threads (__launch_bounds__)"),
              std::string::npos);
    const Json cluster = launches(candidate(step("256", "0", R"(, "cluster": [2])")));
    EXPECT_EQ(cluster[0]["cluster"], Json({2, 1, 1}));
    EXPECT_NE(cluster[0]["message"].get<std::string>().find("cluster"), std::string::npos);
}

TEST(KernelReport, aKernelThatNoStepLaunchesIsThereWithoutLaunches)
{
    const auto plan = parsePlan(candidate(step("256")));
    ASSERT_TRUE(plan);
    CudaOutcome outcome;
    outcome.modules["kernel.cu"].kernels["unused"] = {};
    const Json rows = kernelReport(*plan, outcome, *parseArchitecture("sm_90"), {});
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_TRUE(rows[0]["launches"].empty());
    EXPECT_TRUE(rows[0]["registers"].is_null());
}

} // namespace
} // namespace heddle
