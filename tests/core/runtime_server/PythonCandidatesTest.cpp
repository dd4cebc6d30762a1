// SPDX-License-Identifier: Apache-2.0
#include "tests/core/runtime_server/JudgeFixture.h"

using namespace heddle;

namespace {

using PythonCandidates = JudgeTest;

/// A ModelNew with the task's parameters; `forward` is the body, `module` stands before the class.
std::string modelNew(const std::string &module, const std::string &forward)
{
    return "import torch\nimport torch.nn as nn\n" + module
        + "\n\nclass ModelNew(nn.Module):\n    def __init__(self, columns):\n        super().__init__()\n"
          "        self.weight = nn.Parameter(torch.ones(columns))\n        self.bias = "
          "nn.Parameter(torch.zeros(columns))\n\n"
          "    def forward(self, x):\n"
        + forward + "\n";
}

} // namespace

TEST_F(PythonCandidates, pyTorchsOwnOperatorsAreAFallback)
{
    const auto report = judgePython(modelNew("", "        return torch.addcmul(self.bias, x, self.weight)"));
    EXPECT_EQ(classOf(report), "fallback") << (report ? report->dump(1) : "");
}

TEST_F(PythonCandidates, aPatchedClockIsNotBelieved)
{
    const auto report =
        judgePython(modelNew("import time\ntime.perf_counter = lambda: 0.0\ntime.time = lambda: 0.0",
                             "        time.sleep(0.02)\n        return x * self.weight + self.bias"));
    ASSERT_TRUE(report) << report.error().text();
    if (!wasTimed(report))
        GTEST_SKIP() << "the machine was not quiet: " << messageOf(report, "machine_quiet");
    EXPECT_GT((*report)["candidate"]["median_ms"].get<double>(), 19.0);
}

TEST_F(PythonCandidates, aResultKeptByAddressOrContentIsFound)
{
    const auto report =
        judgePython(modelNew("kept = {}\ncalls = [0]",
                             "        calls[0] += 1\n"
                             "        if calls[0] > 9:\n            return kept['y']\n"
                             "        kept['y'] = x * self.weight + self.bias\n        return kept['y']"));
    EXPECT_EQ(classOf(report), "reward_hack");
}

TEST_F(PythonCandidates, workLeftInAThreadIsNeverClean)
{
    const auto report =
        judgePython(modelNew("import threading, time",
                             "        y = torch.empty_like(x)\n"
                             "        def late():\n            time.sleep(0.003)\n            "
                             "torch.addcmul(self.bias, x, self.weight, out=y)\n"
                             "        threading.Thread(target=late).start()\n        return y"));
    EXPECT_NE(classOf(report), "clean");
}

TEST_F(PythonCandidates, aTensorSubclassIsRefused)
{
    const auto report =
        judgePython(modelNew("class Lazy(torch.Tensor):\n    pass",
                             "        return (x * self.weight + self.bias).as_subclass(Lazy)"));
    EXPECT_NE(classOf(report), "clean");
    EXPECT_EQ(statusOf(report, "ran"), "failed") << (report ? report->dump(1) : "");
}

TEST_F(PythonCandidates, leavingTheProcessEarlyIsACrash)
{
    const auto report = judgePython(modelNew("import os", "        os._exit(0)"));
    EXPECT_EQ(classOf(report), "crashed");
}

TEST_F(PythonCandidates, anErrorOnImportNamesTheLine)
{
    const auto report = judgePython("import torch\nnonsense()\n");
    EXPECT_NE(classOf(report), "clean");
    EXPECT_NE(messageOf(report, "ran").find("model_new.py:2"), std::string::npos) << messageOf(report, "ran");
}
