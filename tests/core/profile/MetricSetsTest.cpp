// SPDX-License-Identifier: Apache-2.0
#include "core/profile/MetricReport.h"

#include "core/base/File.h"
#include "core/compile/CudaPlaces.h"
#include "core/compile/Occupancy.h"
#include "core/profile/MetricSets.h"
#include "tests/support/PlainLauncher.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace heddle {
namespace {

namespace fs = std::filesystem;

const fs::path program = fs::path(HEDDLE_BINARY_DIR) / "bin/heddle-counters";

Result<Json> reportOf(const std::string &chip, const std::vector<fs::path> &libraries)
{
    return metricReport(program, libraries, chip, testing::launchPlainly, {});
}

class MetricSetsTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        const char *python = std::getenv("HEDDLE_PYTHON");
        m_libraries = findCudaPlaces(sitePackagesOf(python != nullptr ? python : "")).cupti;
        if (const auto report = reportOf("GH100", m_libraries); !report)
            GTEST_SKIP() << report.error().text();
    }

    Json set(const std::string &chip, const std::string &name) const
    {
        const auto report = reportOf(chip, m_libraries);
        EXPECT_TRUE(report) << report.error().text();
        if (report)
            for (const Json &found : memberOr(*report, "sets"))
                if (found["name"] == name)
                    return found;
        ADD_FAILURE() << "no set " << name << " of " << chip;
        return {};
    }

    std::vector<fs::path> m_libraries;
};

TEST_F(MetricSetsTest, everyChipOfOurArchitecturesHasItsSetsWithPasses)
{
    for (const MultiprocessorLimits &limits : allMultiprocessorLimits()) {
        const auto chip = chipOf(limits.capability);
        if (!chip)
            continue;
        const auto report = reportOf(*chip, m_libraries);
        ASSERT_TRUE(report) << report.error().text();
        EXPECT_EQ((*report)["chip"], *chip);
        ASSERT_EQ((*report)["sets"].size(), 5u);
        for (const Json &set : (*report)["sets"]) {
            EXPECT_GE(integerOr(set, "passes", 0), 1) << *chip << compactText(set);
            EXPECT_FALSE(set["metrics"].empty()) << *chip << compactText(set);
        }
    }
    EXPECT_EQ(chipOf(90), "GH100");
    EXPECT_FALSE(chipOf(70));
}

TEST_F(MetricSetsTest, theCheapRooflineTakesTwoPassesAndTheFullOneMore)
{
    // As measured with CUPTI 13.0.
    for (const char *chip : {"GH100", "GB100", "GB202"}) {
        EXPECT_EQ(set(chip, "bytes")["passes"], 1) << chip;
        EXPECT_EQ(set(chip, "roofline")["passes"], 2) << chip;
        EXPECT_GT(set(chip, "full roofline")["passes"], 2) << chip;
        EXPECT_TRUE(set(chip, "roofline")["missing"].empty()) << chip;
        EXPECT_GE(set(chip, "stalls")["metrics"].size(), 15u) << chip;
    }
}

TEST_F(MetricSetsTest, aChipThatTheLibraryDoesNotKnowIsAnErrorAndNoNumber)
{
    const auto report = reportOf("NOCHIP", m_libraries);
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().message().find("does not know the chip NOCHIP"), std::string::npos)
        << report.error().text();
}

TEST(MetricReport, aLibraryThatCrashesOrIsNoneCostsAChildAndTheNextOneIsAsked)
{
    const auto folder = TempFolder::create("heddle-counters-test-");
    ASSERT_TRUE(folder);
    const auto file = [&](const char *name) {
        std::ofstream(folder->path() / name) << "x";
        return folder->path() / name;
    };
    const std::vector<fs::path> libraries{file("crashes.so"), "/nowhere.so", file("mute.so"),
                                          file("good.so")};
    std::vector<std::string> asked;
    const CompilerLauncher fake = [&](const CompileCommand &command,
                                      const CancelToken &) -> Result<CompilerOutput> {
        asked.push_back(fs::path(command.arguments.at(1)).filename());
        if (asked.back() == "crashes.so")
            return CompilerOutput{.exitCode = 139, .log = "", .object = {}};
        if (asked.back() == "mute.so")
            return CompilerOutput{.exitCode = 3,
                                  .log = "{\"code\": \"environment\", \"message\": \"too old\"}\n",
                                  .object = {}};
        return CompilerOutput{.exitCode = 0, .log = "{\"sets\": []}\n", .object = {}};
    };
    const auto found = metricReport(program, libraries, "GH100", fake, {});
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(asked, (std::vector<std::string>{"crashes.so", "mute.so", "good.so"}));
    const auto none = metricReport(program, {libraries[0], libraries[2]}, "GH100", fake, {});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), Code::Environment);
    EXPECT_NE(none.error().message().find("crashes.so: it crashes where there is no driver"),
              std::string::npos);
    EXPECT_NE(none.error().message().find("mute.so: too old"), std::string::npos);
    EXPECT_NE(none.error().next().find("nvidia-cuda-cupti"), std::string::npos);
}

} // namespace
} // namespace heddle
