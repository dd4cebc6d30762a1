// SPDX-License-Identifier: Apache-2.0
#include "core/plan/CudaRun.h"

#include "tests/core/plan/PlanVectors.h"
#include "tests/support/FakeCudaDriver.h"

namespace heddle {
namespace {

using testing::FakeCudaDriver;

constexpr std::uint64_t firstInput = 0x1000000;

Result<CudaRun> load(const std::string &name, FakeCudaDriver &driver)
{
    auto plan = parsePlan(testing::vectorFiles(name, "cuda"));
    if (!plan)
        return plan.error();
    auto resolved = resolve(*plan, testing::vectorLayout(name));
    if (!resolved)
        return resolved.error();
    return CudaRun::create(*resolved, {{"kernel.cu", "cubin"}}, driver);
}

/// Launches as text: kernel, grid, block, shared memory, then pointers as buffer+offset.
std::string launchText(const FakeCudaDriver::Record &record)
{
    std::string text = record.kernel + " grid";
    for (const std::int64_t size : record.shape.grid)
        text += ' ' + std::to_string(size);
    text += " block";
    for (const std::int64_t size : record.shape.block)
        text += ' ' + std::to_string(size);
    return text + " shared " + std::to_string(record.shape.sharedBytes);
}

std::uint64_t address(const heddle_arg &argument) { return reinterpret_cast<std::uint64_t>(argument.ptr); }

TEST(CudaRun, biasGeluIsOneLaunchOfTheExpectedShapeAndArguments)
{
    FakeCudaDriver driver;
    auto run = load("bias_gelu", driver);
    ASSERT_TRUE(run) << run.error().text();
    const std::vector<std::uint64_t> given = {firstInput, firstInput + 0x10000};
    const auto outputs = run->call(given);
    ASSERT_TRUE(outputs) << outputs.error().text();
    ASSERT_EQ(driver.launches.size(), 1u);
    // 64 * 96 elements, four a thread, 256 threads a block.
    EXPECT_EQ(launchText(driver.launches[0]), "bias_gelu grid 6 1 1 block 256 1 1 shared 0");
    const auto &arguments = driver.launches[0].arguments;
    ASSERT_EQ(arguments.size(), 5u);
    EXPECT_EQ(address(arguments[0]), given[0]);
    EXPECT_EQ(address(arguments[1]), given[1]);
    EXPECT_EQ(address(arguments[2]), outputs->at(0));
    EXPECT_EQ(arguments[3].i64, 64 * 96);
    EXPECT_EQ(arguments[4].i32, 96);
    EXPECT_EQ(driver.synchronisations, 1);
    EXPECT_EQ(driver.live, std::set<std::uint64_t>(outputs->begin(), outputs->end()));
}

TEST(CudaRun, rowSoftmaxPassesItsNumberAndItsSharedMemory)
{
    FakeCudaDriver driver;
    auto run = load("row_softmax", driver);
    ASSERT_TRUE(run) << run.error().text();
    ASSERT_TRUE(run->call(std::vector<std::uint64_t>{firstInput}));
    ASSERT_EQ(driver.launches.size(), 1u);
    EXPECT_EQ(launchText(driver.launches[0]), "row_softmax grid 48 1 1 block 128 1 1 shared 128");
    EXPECT_EQ(driver.launches[0].arguments[2].i32, 200);
    EXPECT_EQ(driver.launches[0].arguments[3].f32, 0.125f);
}

TEST(CudaRun, aRepeatLaunchesOncePerIndexWithMovingOffsets)
{
    FakeCudaDriver driver;
    auto run = load("repeat_scan", driver);
    ASSERT_TRUE(run) << run.error().text();
    // State in the layout's order: calls, then the decay.
    const std::vector<std::uint64_t> given = {firstInput, 0x2000000, 0x3000000};
    const auto outputs = run->call(given);
    ASSERT_TRUE(outputs);
    ASSERT_EQ(driver.launches.size(), 14u);
    EXPECT_EQ(launchText(driver.launches[0]), "count_call grid 1 1 1 block 1 1 1 shared 0");
    EXPECT_EQ(address(driver.launches[0].arguments[0]), given[1]);
    EXPECT_EQ(launchText(driver.launches[1]), "clear grid 2 1 1 block 128 1 1 shared 0");
    for (std::uint64_t t = 0; t < 12; ++t) {
        const auto &record = driver.launches[2 + t];
        EXPECT_EQ(launchText(record), "scan_step grid 2 1 1 block 128 1 1 shared 0");
        EXPECT_EQ(address(record.arguments[0]), given[0] + t * 160 * 4);
        EXPECT_EQ(address(record.arguments[1]), given[2]);
        EXPECT_EQ(address(record.arguments[2]), outputs->at(1));
        EXPECT_EQ(address(record.arguments[3]), outputs->at(0) + t * 160 * 4);
        EXPECT_EQ(record.arguments[4].i64, 160);
        EXPECT_EQ(record.arguments[5].i64, 40);
    }
}

TEST(CudaRun, aFailureLeavesNothingAllocatedAndNamesTheStep)
{
    FakeCudaDriver driver;
    {
        auto run = load("repeat_scan", driver);
        ASSERT_TRUE(run);
        EXPECT_EQ(driver.modules(), 1u);
        const std::vector<std::uint64_t> given = {firstInput, 0x2000000, 0x3000000};
        driver.launchesLeft = 5;
        const auto failed = run->call(given);
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().where(), "scan_step");
        EXPECT_TRUE(driver.live.empty());
        driver.launchesLeft = -1;
        driver.allocationsLeft = 1;
        const auto full = run->call(given);
        ASSERT_FALSE(full);
        EXPECT_EQ(full.error().code(), Code::OutOfMemory);
        EXPECT_TRUE(driver.live.empty());
        EXPECT_FALSE(run->call(std::vector<std::uint64_t>{firstInput}));
    }
    EXPECT_EQ(driver.modules(), 0u);
}

TEST(CudaRun, cpuPlansAndMissingCubinsAreRefused)
{
    FakeCudaDriver driver;
    const auto cpu = parsePlan(testing::vectorFiles("bias_gelu", "cpu"));
    const auto cuda = parsePlan(testing::vectorFiles("bias_gelu", "cuda"));
    ASSERT_TRUE(cpu && cuda);
    const TaskLayout layout = testing::vectorLayout("bias_gelu");
    EXPECT_FALSE(CudaRun::create(*resolve(*cpu, layout), {{"kernel.cpp", "x"}}, driver));
    EXPECT_FALSE(CudaRun::create(*resolve(*cuda, layout), {}, driver));
    EXPECT_EQ(driver.modules(), 0u);
}

TEST(Resolve, launchShapesOutsideTheLimitsOfCudaAreNamed)
{
    const FileTree files = testing::vectorFiles("bias_gelu", "cuda");
    const auto rejects = [&](const char *member, const Json &value, const char *where) {
        Json json = *parseJson(files.at("plan.json"), "plan.json");
        json["steps"][0][member] = value;
        const auto plan = planFromJson(json, nullptr);
        ASSERT_TRUE(plan) << plan.error().text();
        const auto resolved = resolve(*plan, testing::vectorLayout("bias_gelu"));
        ASSERT_FALSE(resolved) << member;
        EXPECT_EQ(resolved.error().where(), where);
    };
    rejects("grid", {0}, "plan.json: steps[0].grid[0]");
    rejects("grid", {1, 70000}, "plan.json: steps[0].grid[1]");
    rejects("block", {32, 64}, "plan.json: steps[0].block");
    rejects("block", {2048}, "plan.json: steps[0].block[0]");
    rejects("shared", 300000, "plan.json: steps[0].shared");
    rejects("cluster", {17}, "plan.json: steps[0].cluster[0]");
}

} // namespace
} // namespace heddle
