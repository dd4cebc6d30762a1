// SPDX-License-Identifier: Apache-2.0
#include "core/base/File.h"
#include "core/sandbox/Orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace heddle {
namespace {

namespace fs = std::filesystem;

TEST(PolicyTest, aVirtualEnvironmentNeedsItsBaseInterpreterToo)
{
    const auto folder = TempFolder::create("heddle-policy-test-");
    ASSERT_TRUE(folder);
    const fs::path root = folder->path();
    fs::create_directories(root / "venv/bin");
    fs::create_directories(root / "pyenv/versions/3.11/bin");
    std::ofstream(root / "pyenv/versions/3.11/bin/python3.11") << "";
    std::ofstream(root / "venv/pyvenv.cfg")
        << "home = " << (root / "pyenv/versions/3.11/bin").string() << "\nversion = 3.11\n";
    fs::create_symlink(root / "pyenv/versions/3.11/bin/python3.11", root / "venv/bin/python");
    const auto folders = pythonFolders(root / "venv/bin/python");
    EXPECT_EQ(folders, (std::vector<fs::path>{root / "venv", root / "pyenv/versions/3.11"}));
}

TEST(PolicyTest, theSystemsOwnPythonNeedsNothingMore)
{
    EXPECT_TRUE(pythonFolders("/usr/bin/python3").empty());
}

TEST(PolicyTest, theWholeDiskIsNeverShown)
{
    SandboxPolicy policy;
    policy.scratch = fs::temp_directory_path();
    EXPECT_TRUE(checkPolicy(policy));
    policy.readOnly = {"/"};
    EXPECT_FALSE(checkPolicy(policy));
    policy.readOnly = {"relative"};
    EXPECT_FALSE(checkPolicy(policy));
}

TEST(PolicyTest, bubblewrapAlwaysDropsEverythingAndIsNeverRoot)
{
    SandboxPolicy policy;
    policy.scratch = "/tmp";
    std::vector<std::string> arguments;
    const auto follows = [&](const char *word, const char *next) {
        const auto found = std::find(arguments.begin(), arguments.end(), word);
        return found != arguments.end() && found + 1 != arguments.end() && *(found + 1) == next;
    };
    const auto has = [&](const char *word) {
        return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
    };
    for (const bool isRoot : {false, true}) {
        arguments = bubblewrapArguments(policy, isRoot, "/usr/bin/bwrap", "/usr/bin/heddle-launch");
        EXPECT_TRUE(follows("--cap-drop", "ALL"));
        EXPECT_TRUE(has("--die-with-parent") && has("--new-session"));
        EXPECT_TRUE(has("--unshare-all") || (has("--unshare-net") && has("--unshare-pid")));
        EXPECT_FALSE(has("--share-net"));
        EXPECT_EQ(follows("--uid", "65534"), !isRoot);
        const Json orders = launchOrders(policy, Launch{Rung::Bubblewrap, isRoot, 1234, 1});
        EXPECT_EQ(orders["user"], isRoot ? Json(1234) : Json());
    }
}

TEST(PolicyTest, aPolicysEnvironmentReplacesTheStandardOne)
{
    SandboxPolicy policy;
    policy.scratch = "/scratch";
    policy.environment = {"PATH=/opt/bin", "OMP_NUM_THREADS=2"};
    const auto environment = childEnvironment(policy, Rung::Bubblewrap);
    const auto count = [&](std::string_view start) {
        return std::count_if(environment.begin(), environment.end(),
                             [&](const std::string &entry) { return entry.starts_with(start); });
    };
    EXPECT_EQ(count("PATH="), 1);
    EXPECT_EQ(count("PATH=/opt/bin"), 1);
    EXPECT_EQ(count("OMP_NUM_THREADS=2"), 1);
    EXPECT_EQ(count("LD_PRELOAD"), 0);
}

TEST(PolicyTest, onlyThePolicysDevicesOpenTheWallsForThem)
{
    SandboxPolicy policy;
    policy.scratch = fs::temp_directory_path();
    EXPECT_FALSE(launchOrders(policy, Launch{}).contains("devices"));
    policy.environment = {"HEDDLE_DEVICES=/dev/zero"};
    const auto checked = checkPolicy(policy);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code(), Code::InvalidInput);
    policy.environment.clear();
    policy.devices = {"/dev/zero"};
    EXPECT_TRUE(checkPolicy(policy));
    EXPECT_EQ(launchOrders(policy, Launch{})["devices"], (Json{{"forked", false}}));
    policy.isForkedBeforeDevices = true;
    EXPECT_EQ(launchOrders(policy, Launch{})["devices"], (Json{{"forked", true}}));
}

} // namespace
} // namespace heddle
