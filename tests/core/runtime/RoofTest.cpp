// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/Roof.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heddle {
namespace {

TEST(RoofTest, theRoofsOfThisMachineStandInAPossibleRelation)
{
    const auto roof = measureRoof(1, {});
    ASSERT_TRUE(roof) << roof.error().text();
    std::printf("%s\n", compactText(roof->toJson()).c_str());
    EXPECT_EQ(roof->threads, 1);
    const double rates[] = {roof->copyBytesPerSecond, roof->triadBytesPerSecond, roof->readBytesPerSecond,
                            roof->freshCopyBytesPerSecond};
    for (const double rate : rates) {
        ASSERT_TRUE(std::isfinite(rate));
        // A slower memory than a hard disk, or a faster one than any cache, is an error of the probe.
        EXPECT_GT(rate, 1e8);
        EXPECT_LT(rate, 1e13);
        for (const double other : rates)
            EXPECT_LT(rate / other, 50.0) << "streams of one memory differ by small factors";
    }
    EXPECT_GE(roof->pageFaultShare, 0.0);
    EXPECT_LE(roof->pageFaultShare, 1.0);
    EXPECT_GE(roof->faultSecondsPerByte, 0.0);
    // First touches cost; noise may hide it, but they never make a copy much faster.
    EXPECT_LT(roof->freshCopyBytesPerSecond, roof->copyBytesPerSecond * 1.5);
    // One multiplication and one addition at a time would be 2 per cycle and more: any machine of ours does as much.
    EXPECT_GT(roof->flopsPerSecond, 5e8);
    EXPECT_LT(roof->flopsPerSecond, 1e13);
    EXPECT_GT(roof->seconds, 0.0);
}

TEST(RoofTest, aCancelledProbeGivesNoRoof)
{
    CancelSource source;
    source.request_stop();
    const auto roof = measureRoof(1, source.get_token());
    ASSERT_FALSE(roof);
    EXPECT_EQ(roof.error().code(), Code::Cancelled);
}

} // namespace
} // namespace heddle
