// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/sandbox/Spawner.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace heddle {

/// For tests that start sandboxed children: one spawner a suite, on the rung that holds here, and for each test a private
/// folder with an empty `scratch` in it.
class ChildrenTest : public ::testing::Test {
protected:
    static void SetUpTestSuite()
    {
        RungReport report = probeRung();
        for (const std::string &reason : report.reasons)
            std::printf("  %s\n", reason.c_str());
        std::printf("  rung: %s, Landlock %d\n", std::string(rungName(report.rung)).c_str(),
                    report.landlockAbi);
        auto created = Spawner::create(std::move(report));
        ASSERT_TRUE(created) << created.error().text();
        s_spawner = std::move(created).value();
    }

    static void TearDownTestSuite() { s_spawner.reset(); }

    void SetUp() override
    {
        auto folder = TempFolder::create("heddle-children-test-");
        ASSERT_TRUE(folder) << folder.error().text();
        m_folder.emplace(std::move(folder).value());
        std::filesystem::create_directory(scratch());
    }

    std::filesystem::path scratch() const { return m_folder->path() / "scratch"; }

    static inline std::unique_ptr<Spawner> s_spawner;
    std::optional<TempFolder> m_folder;
};

} // namespace heddle
