// SPDX-License-Identifier: Apache-2.0
#include "core/profile/MetricSets.h"

#include "core/compile/CudaPlaces.h"
#include "core/compile/Occupancy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace heddle {
namespace {

class MetricSetsTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        const char *python = std::getenv("HEDDLE_PYTHON");
        auto host = CuptiHost::open(findCudaPlaces(sitePackagesOf(python != nullptr ? python : "")).cupti);
        if (!host)
            GTEST_SKIP() << host.error().text();
        m_host.emplace(std::move(*host));
        if (const auto chips = m_host->chips(); !chips)
            GTEST_SKIP() << chips.error().text();
    }

    MetricSet set(const std::string &chip, const std::string &name) const
    {
        const auto sets = metricSets(*m_host, chip);
        EXPECT_TRUE(sets) << sets.error().text();
        if (sets)
            for (const MetricSet &found : *sets)
                if (found.name == name)
                    return found;
        ADD_FAILURE() << "no set " << name;
        return {};
    }

    std::optional<CuptiHost> m_host;
};

TEST_F(MetricSetsTest, everyChipOfOurArchitecturesHasItsSetsWithPasses)
{
    for (const MultiprocessorLimits &limits : allMultiprocessorLimits()) {
        const auto chip = chipOf(limits.capability);
        if (!chip)
            continue;
        const auto sets = metricSets(*m_host, *chip);
        ASSERT_TRUE(sets) << sets.error().text();
        ASSERT_EQ(sets->size(), 5u);
        for (const MetricSet &set : *sets) {
            EXPECT_TRUE(set.passes) << *chip << ' ' << set.name;
            EXPECT_GE(set.passes.value_or(0), 1) << *chip << ' ' << set.name;
            EXPECT_FALSE(set.metrics.empty()) << *chip << ' ' << set.name;
        }
    }
    EXPECT_EQ(chipOf(90), "GH100");
    EXPECT_FALSE(chipOf(70));
}

TEST_F(MetricSetsTest, theCheapRooflineTakesTwoPassesAndTheFullOneMore)
{
    // Measured with CUPTI 13.0 and 13.2.
    for (const char *chip : {"GH100", "GB100", "GB202"}) {
        EXPECT_EQ(set(chip, "bytes").passes, 1) << chip;
        EXPECT_EQ(set(chip, "roofline").passes, 2) << chip;
        EXPECT_GT(set(chip, "full roofline").passes.value_or(0), 2) << chip;
        EXPECT_TRUE(set(chip, "roofline").missing.empty()) << chip;
        EXPECT_GE(set(chip, "stalls").metrics.size(), 15u) << chip;
    }
}

TEST_F(MetricSetsTest, whatAChipOrTheLibraryDoesNotKnowIsAnErrorAndNoNumber)
{
    const auto chip = m_host->metrics("NOCHIP");
    ASSERT_FALSE(chip);
    EXPECT_NE(chip.error().message().find("NOCHIP"), std::string::npos);
    EXPECT_FALSE(m_host->passes("GH100", {"dram__bytes.sum", "no__such_metric.sum"}));
}

TEST(CuptiHost, withoutALibraryTheErrorSaysHowToGetOne)
{
    const auto host = CuptiHost::open({"/nowhere/libcupti.so"});
    ASSERT_FALSE(host);
    EXPECT_EQ(host.error().code(), Code::Environment);
    EXPECT_NE(host.error().next().find("nvidia-cuda-cupti"), std::string::npos);
}

} // namespace
} // namespace heddle
