// SPDX-License-Identifier: Apache-2.0
// Two OpenMP runtimes in one process mean two pools of threads on the same processors: wrong times, and now and then a hang.
#include "tests/core/runtime_server/JudgeFixture.h"

namespace heddle {
namespace {

/// A kernel that is right only where its process has mapped exactly one libgomp, whose path holds `place`.
std::string bodyThatLooks(const std::string &place)
{
    return R"(
    static int only = -1;
    if (only < 0) {
        only = 0;
        char line[4096], first[4096] = "";
        int others = 0;
        if (std::FILE *maps = std::fopen("/proc/self/maps", "r")) {
            while (std::fgets(line, sizeof line, maps)) {
                const char *path = std::strchr(line, '/');
                if (path == nullptr || std::strstr(path, "libgomp") == nullptr)
                    continue;
                if (first[0] == 0)
                    std::strcpy(first, path);
                others += std::strcmp(first, path) != 0;
            }
            std::fclose(maps);
        }
        only = others == 0 && std::strstr(first, ")"
        + place + R"(") != nullptr;
    }
#pragma omp parallel for
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column)
            out[row * columns + column] =
                x[row * columns + column] * weight[column] + bias[column] + (only ? 0.0f : 100.0f);
)";
}

constexpr const char *includes = "#include <cstdio>\n#include <cstring>\n";

using OneOpenMpTest = JudgeTest;

TEST_F(OneOpenMpTest, anExecutorMapsTheLibgompOfPyTorchAndNoOther)
{
    const auto report = judgeKernel(includes, bodyThatLooks("/torch/lib/libgomp"));
    EXPECT_EQ(statusOf(report, "correct"), "passed") << messageOf(report, "correct") << classOf(report);
}

TEST_F(OneOpenMpTest, theKernelThatLooksFindsAnotherPlaceWrong)
{
    const auto report = judgeKernel(includes, bodyThatLooks("/nowhere/lib/libgomp"));
    EXPECT_EQ(statusOf(report, "correct"), "failed") << classOf(report);
}

TEST_F(OneOpenMpTest, theRoofOfATaskIsPossibleAndNoBaselineIsFarBelowIt)
{
    const auto measured =
        s_worker->handle("task.baseline", {{"handle", s_handle}, {"strongest", false}}, {}, {});
    ASSERT_TRUE(measured) << measured.error().text();
    const double roof = numberOr(memberOr(*measured, "roof"), "ms", 0.0);
    const double eager = numberOr(memberOr(memberOr(*measured, "baselines"), "eager"), "median_ms", 0.0);
    EXPECT_GT(roof, 0.0);
    EXPECT_GT(eager, 0.0);
    // Reading and writing 2 MB once takes some microseconds at least, and no more than computing on them does.
    EXPECT_GT(roof, 1e-3);
    EXPECT_LT(roof, eager * 2.0);
}

} // namespace
} // namespace heddle
