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

/// Right, and with the work in NumPy: nothing of PyTorch's but views.
const char *const ownWork = "        y = np.multiply(x.numpy(), self.weight.detach().numpy())\n"
                            "        np.add(y, self.bias.detach().numpy(), out=y)\n"
                            "        return torch.from_numpy(y)";

/// `ownWork` after statements of its own before each call; `calls[0]` counts from 1.
std::string counting(const std::string &statement)
{
    return modelNew("import numpy as np, os, time\ncalls = [0]",
                    "        calls[0] += 1\n        " + statement + '\n' + ownWork);
}

} // namespace

TEST_F(PythonCandidates, workOfItsOwnIsCleanAndEveryRowOfItSaysWhatWasDone)
{
    const auto report = judgePython(modelNew("import numpy as np", ownWork));
    ASSERT_EQ(classOf(report), "clean") << (report ? report->dump(1) : "");
    EXPECT_EQ(statusOf(report, "outputs_written"), "passed");
    EXPECT_NE(messageOf(report, "outputs_written").find("poison"), std::string::npos);
    EXPECT_EQ(statusOf(report, "guard_zones"), "passed");
    EXPECT_EQ(statusOf(report, "state_binding"), "passed");
    EXPECT_NE(messageOf(report, "state_binding").find("changed in place"), std::string::npos);
}

TEST_F(PythonCandidates, aRightResultThatWasFreedAndHandedBackIsNoOutput)
{
    // Without poison the allocator gives the freed result back, content and all.
    std::string body = ownWork;
    body.replace(
        body.find("return"), std::string::npos,
        "shape = y.shape\n        del y\n        return torch.from_numpy(np.empty(shape, np.float32))");
    const auto report = judgePython(modelNew("import numpy as np", body));
    EXPECT_EQ(classOf(report), "wrong");
    EXPECT_EQ(statusOf(report, "outputs_written"), "failed") << (report ? report->dump(1) : "");
}

TEST_F(PythonCandidates, aWriteBehindAnInputIsFound)
{
    const auto report = judgePython(
        modelNew("import ctypes\nimport numpy as np",
                 std::string("        ctypes.memset(x.data_ptr() + x.nbytes, 0, 8)\n") + ownWork));
    EXPECT_EQ(classOf(report), "wrong");
    EXPECT_EQ(statusOf(report, "guard_zones"), "failed") << messageOf(report, "guard_zones");
}

TEST_F(PythonCandidates, parametersThatAreKeptWhenTheyAreLoadedAreAnAssumption)
{
    std::string body = ownWork;
    for (const std::string name : {"weight", "bias"})
        body.replace(body.find("self." + name + ".detach().numpy()"),
                     ("self." + name + ".detach().numpy()").size(), "self.kept_" + name);
    const auto report =
        judgePython(modelNew("import numpy as np", body)
                    + "\n    def load_state_dict(self, *given, **more):\n"
                      "        done = super().load_state_dict(*given, **more)\n"
                      "        self.kept_weight = self.weight.detach().clone().numpy()\n"
                      "        self.kept_bias = self.bias.detach().clone().numpy()\n        return done\n");
    EXPECT_EQ(classOf(report), "structure_assuming") << (report ? report->dump(1) : "");
    EXPECT_EQ(statusOf(report, "correct"), "passed");
    EXPECT_EQ(statusOf(report, "state_binding"), "failed");
}

TEST_F(PythonCandidates, anOperatorOfPyTorchOutsideAtenIsAFallbackToo)
{
    const auto report = judgePython(modelNew("",
                                             "        return torch.ops.mkldnn._linear_pointwise("
                                             "x, torch.diag(self.weight), self.bias, 'none', [], '')"));
    EXPECT_EQ(classOf(report), "fallback") << (report ? report->dump(1) : "");
}

TEST_F(PythonCandidates, pyTorchsOwnOperatorsInAThreadAreAFallbackToo)
{
    const auto report =
        judgePython(modelNew("import threading",
                             "        made = []\n        thread = threading.Thread(target=lambda: "
                             "made.append(x @ torch.diag(self.weight) + self.bias))\n"
                             "        thread.start()\n        thread.join()\n        return made[0]"));
    EXPECT_EQ(classOf(report), "fallback") << (report ? report->dump(1) : "");
}

TEST_F(PythonCandidates, leavingInAnyCallIsACrash)
{
    // The checks, the update in place, the calls under the profiler, the timed calls.
    for (const char *call : {"1", "7", "8", "9", "10", "15", "40"}) {
        const auto report = judgePython(counting(std::string("if calls[0] == ") + call + ": os._exit(0)"));
        EXPECT_EQ(classOf(report), "crashed") << "call " << call;
        EXPECT_EQ(statusOf(report, "ran"), "failed") << "call " << call;
    }
}

TEST_F(PythonCandidates, lessPrecisionInTimedCallsAloneIsFound)
{
    // Far within the tolerance, and a hundred times eager's own error.
    std::string body = ownWork;
    body.insert(body.find("        return"), "        if calls[0] > 20:\n            y *= 1.00001\n");
    const auto report =
        judgePython(modelNew("import numpy as np\ncalls = [0]", "        calls[0] += 1\n" + body));
    EXPECT_EQ(classOf(report), "precision_changed") << (report ? report->dump(1) : "");
    EXPECT_EQ(statusOf(report, "timed_outputs"), "passed");
}

TEST_F(PythonCandidates, raisingInAnyCallIsACrash)
{
    for (const char *call : {"1", "8", "9", "10", "40"}) {
        const auto report =
            judgePython(counting(std::string("assert calls[0] != ") + call + ", 'not this one'"));
        EXPECT_EQ(classOf(report), "crashed") << "call " << call;
        EXPECT_NE(messageOf(report, "ran").find("not this one"), std::string::npos)
            << messageOf(report, "ran");
    }
}

TEST_F(PythonCandidates, aHangCostsNeitherTheOracleNorTheBaselines)
{
    const Json params{{"handle", s_handle}};
    const auto before = s_worker->handle("task.baseline", params, {}, {});
    ASSERT_TRUE(before) << before.error().text();
    const auto report = judgePython(counting("if calls[0] == 3: time.sleep(1000)"));
    EXPECT_EQ(classOf(report), "timed_out");
    const auto after = s_worker->handle("task.baseline", params, {}, {});
    ASSERT_TRUE(after) << after.error().text();
    // Times that were measured again would not be equal to the last digit.
    EXPECT_EQ(memberOr(*before, "baselines"), memberOr(*after, "baselines"));
}

TEST_F(PythonCandidates, addressesThatCannotBeReadAreACrashOfTheCandidate)
{
    // It changes what its own process publishes: the input's address becomes one that is not mapped.
    const auto report = judgePython(modelNew("import numpy as np\nfrom heddle_oracle import subject\n"
                                             "subject.span = lambda tensor: (4096, tensor.nbytes)",
                                             ownWork));
    EXPECT_EQ(classOf(report), "crashed") << (report ? report->dump(1) : "");
    EXPECT_EQ(statusOf(report, "ran"), "failed");
}

TEST_F(PythonCandidates, aTaskThatRefusesAFamilyIsJudgedOnTheOthersAndSaysSo)
{
    const std::string source =
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Model(nn.Module):\n"
        "    def forward(self, p, y):\n        return F.binary_cross_entropy(p, y, reduction='none')\n\n\n"
        "def get_inputs():\n    return [torch.rand(128, 64) * 0.9 + 0.05, torch.rand(128, 64)]\n";
    const auto opened = s_worker->handle("task.open", {{"path", "loss.py"}, {"source", source}}, {}, {});
    ASSERT_TRUE(opened) << opened.error().text();
    const FileTree files{{"model_new.py",
                          "import numpy as np\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n"
                          "    def forward(self, p, y):\n        p, y = p.numpy(), y.numpy()\n"
                          "        return torch.from_numpy(-(y * np.log(p) + (1 - y) * np.log1p(-p)))\n"}};
    const auto report = s_worker->handle("candidate.judge",
                                         {{"handle", stringOr(*opened, "handle")}, {"files", files}}, {}, {});
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_EQ(statusOf(report, "correct"), "passed") << report->dump(1);
    EXPECT_EQ(statusOf(report, "domain"), "passed");
    const std::string domain = messageOf(report, "domain");
    EXPECT_NE(domain.find("not used: signed: the reference raised"), std::string::npos) << domain;
    EXPECT_EQ(domain.find("signed"), domain.rfind("signed")) << domain;
}

TEST_F(PythonCandidates, aFamilyThatWasDroppedIsDrawnAgainForTheNextVerdict)
{
    // It refuses the first two draws beyond its own inputs, as one does that some draws break.
    const std::string source =
        "import torch\nimport torch.nn as nn\n\nrefused = [0]\n\n\nclass Model(nn.Module):\n"
        "    def forward(self, x):\n        if x.min() < 0 and refused[0] < 2:\n            refused[0] += 1\n"
        "            raise ValueError('not this draw')\n        return x * 2\n\n\n"
        "def get_inputs():\n    return [torch.rand(128, 64)]\n";
    const auto opened = s_worker->handle("task.open", {{"path", "moody.py"}, {"source", source}}, {}, {});
    ASSERT_TRUE(opened) << opened.error().text();
    const FileTree files{
        {"model_new.py",
         "import numpy as np\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n"
         "    def forward(self, x):\n        return torch.from_numpy(np.multiply(x.numpy(), 2))\n"}};
    std::vector<std::string> said;
    for (int i = 0; i < 4; ++i) {
        const auto report = s_worker->handle(
            "candidate.judge", {{"handle", stringOr(*opened, "handle")}, {"files", files}}, {}, {});
        ASSERT_TRUE(report) << report.error().text();
        said.push_back(messageOf(report, "families"));
    }
    EXPECT_EQ(said.front().find("signed"), std::string::npos) << said.front();
    EXPECT_NE(said.back().find("signed"), std::string::npos) << said.back();
}

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
