// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Builder.h"

#include "core/base/Places.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace heddle;

TEST(Builder, aSourceThatTheCompilerCannotFinishInTimeDoesNotBuild)
{
    const char *python = std::getenv("HEDDLE_PYTHON");
    if (python == nullptr)
        GTEST_SKIP() << "HEDDLE_PYTHON names no interpreter with torch";
    MachineOptions options;
    options.python = python;
    options.package = packageFolder().value();
    options.resources = resourcesFolder().value();
    const auto machine = Machine::create(options);
    ASSERT_TRUE(machine) << machine.error().text();
    // No compiler is that fast, so nothing of this source is ever found in a cache.
    Builder builder(**machine, std::chrono::milliseconds(1));
    const FileTree files{{"plan.json",
                          R"({"heddle": 1, "target": "cpu", "outputs": [{"dtype": "float32", "shape": [4]}],
             "steps": [{"kernel": "fill", "source": "slow.cpp", "args": [{"ptr": "out:0"}]}]})"},
                         {"slow.cpp", "extern \"C\" void fill(float *out) { out[0] = 1.0f; }\n"}};
    const auto built = builder.build(files, {}, nullptr, {});
    ASSERT_TRUE(built) << built.error().text();
    EXPECT_FALSE(built->ok);
    ASSERT_EQ(built->diagnostics.size(), 1u);
    const Json &row = built->diagnostics[0];
    EXPECT_EQ(stringOr(row, "file"), "slow.cpp");
    EXPECT_EQ(stringOr(row, "severity"), "error");
    EXPECT_NE(stringOr(row, "message").find("limit"), std::string::npos) << row.dump();
}
