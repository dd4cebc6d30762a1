// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Occupancy.h"

#include "tests/core/compile/NvidiaOccupancy.h"

#include <gtest/gtest.h>

#include <random>

namespace heddle {
namespace {

std::string limitersOf(const Occupancy &occupancy)
{
    std::string text;
    for (const std::string &word : occupancy.limiters)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

TEST(Occupancy, eachResourceCanBeTheOneThatLimits)
{
    const MultiprocessorLimits h100 = *multiprocessorLimits(90);
    const Occupancy full =
        occupancyOf(h100, {.threads = 256, .registers = 32, .sharedBytes = 0, .barriers = 1});
    EXPECT_EQ(full.blocks, 8);
    EXPECT_EQ(full.warps, 64);
    EXPECT_EQ(full.share, 1.0);
    EXPECT_EQ(limitersOf(full), "threads, registers");
    const Occupancy registers = occupancyOf(h100, {.threads = 256, .registers = 128});
    EXPECT_EQ(registers.blocks, 2);
    EXPECT_EQ(registers.share, 0.25);
    EXPECT_EQ(limitersOf(registers), "registers");
    // 100 KiB and the KiB that the system takes from each block: two fit into 228 KiB.
    const Occupancy shared = occupancyOf(h100, {.threads = 128, .registers = 16, .sharedBytes = 100 * 1024});
    EXPECT_EQ(shared.blocks, 2);
    EXPECT_EQ(limitersOf(shared), "shared memory");
    EXPECT_EQ(limitersOf(occupancyOf(h100, {.threads = 32, .registers = 16})), "blocks");
    EXPECT_EQ(limitersOf(occupancyOf(h100, {.threads = 64, .registers = 16, .barriers = 16})), "barriers");
}

TEST(Occupancy, aLaunchThatCannotRunSaysWhichLimitItBreaks)
{
    const MultiprocessorLimits turing = *multiprocessorLimits(75);
    const auto refusal = [&](const LaunchNeeds &needs) {
        const Occupancy out = occupancyOf(turing, needs);
        EXPECT_EQ(out.blocks, 0);
        EXPECT_TRUE(out.limiters.empty());
        return out.refusal;
    };
    EXPECT_EQ(refusal({.threads = 1025, .registers = 16}), "a block has at most 1024 threads, this one 1025");
    EXPECT_EQ(refusal({.threads = 32, .registers = 16, .sharedBytes = 70'000}),
              "a block has at most 65536 bytes of shared memory, this one 70000");
    EXPECT_EQ(refusal({.threads = 1024, .registers = 65}),
              "its 1024 threads of 65 registers are more than the 65536 of a block");
    EXPECT_EQ(refusal({.threads = 32, .registers = 256}), "a thread has at most 255 registers");
}

TEST(Occupancy, theTableHasEachCapabilityOnceAndAnUnknownOneIsNotGuessed)
{
    int before = 0;
    for (const MultiprocessorLimits &row : allMultiprocessorLimits()) {
        EXPECT_LT(before, row.capability);
        before = row.capability;
        EXPECT_EQ(multiprocessorLimits(row.capability)->threads, row.threads);
    }
    EXPECT_FALSE(multiprocessorLimits(70));
    EXPECT_FALSE(multiprocessorLimits(130));
}

TEST(Occupancy, itAgreesWithNvidiasOwnCalculatorOverASeededSweep)
{
    if (!testing::nvidiaOccupancy(*multiprocessorLimits(80), {.threads = 32, .registers = 16}))
        GTEST_SKIP() << "no cuda_occupancy.h was found when this was built: install a CUDA toolkit, or set "
                        "HEDDLE_PYTHON "
                        "to a Python with the wheel nvidia-cuda-runtime";
    std::mt19937 random(20261130);
    const auto upTo = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    int refused = 0;
    std::map<std::string, int> seen;
    for (const MultiprocessorLimits &limits : allMultiprocessorLimits())
        for (int i = 0; i < 4000; ++i) {
            // Where limits meet is as likely as all the rest: small blocks, round sizes, one more and one less.
            LaunchNeeds needs{.threads = 1 + upTo(i % 3 == 0 ? 127 : 1040),
                              .registers = upTo(i % 2 == 0 ? 64 : 255),
                              .sharedBytes = upTo(i % 5 == 0 ? 240'000 : 20'000),
                              .barriers = 1 + upTo(i % 4 == 0 ? 15 : 0)};
            if (i % 7 == 0)
                needs.sharedBytes = std::max(0, 1024 * (1 + upTo(230)) + upTo(2) - 1);
            const Occupancy ours = occupancyOf(limits, needs);
            const auto theirs = testing::nvidiaOccupancy(limits, needs);
            ASSERT_TRUE(theirs) << limits.capability;
            const std::string what = "sm_" + std::to_string(limits.capability) + ": "
                + std::to_string(needs.threads) + " threads, " + std::to_string(needs.registers)
                + " registers, " + std::to_string(needs.sharedBytes) + " bytes, "
                + std::to_string(needs.barriers) + " barriers";
            ASSERT_EQ(ours.blocks, theirs->blocks) << what;
            // Where barriers limit, theirs also names what would limit without them.
            if (ours.limiters != std::vector<std::string>{"barriers"})
                ASSERT_EQ(ours.limiters, theirs->limiters) << what;
            else
                ASSERT_EQ(theirs->limiters.back(), "barriers") << what;
            ASSERT_EQ(ours.blocks == 0, !ours.refusal.empty()) << what;
            refused += ours.blocks == 0 ? 1 : 0;
            for (const std::string &limiter : ours.limiters)
                ++seen[limiter];
        }
    // The sweep is worth something only if everything occurs in it.
    EXPECT_GT(refused, 100);
    EXPECT_EQ(seen.size(), 5u);
}

TEST(Architecture, namesAreReadAndOthersAreRefusedWithAnExample)
{
    const auto hopper = parseArchitecture("sm_90a");
    ASSERT_TRUE(hopper);
    EXPECT_EQ(hopper->number, 90);
    EXPECT_EQ(hopper->name(), "sm_90a");
    EXPECT_EQ(hopper->capability(), "9.0");
    EXPECT_EQ(parseArchitecture("sm_120f")->capability(), "12.0");
    for (const char *text :
         {"", "90", "sm_", "sm_9", "sm_90b", "sm_90 ", "sm_-90", "sm_99999", "compute_90", "SM_90"}) {
        const auto wrong = parseArchitecture(text);
        ASSERT_FALSE(wrong) << text;
        EXPECT_EQ(wrong.error().code(), Code::InvalidInput);
        EXPECT_NE(wrong.error().next().find("sm_90"), std::string::npos);
    }
}

} // namespace
} // namespace heddle
