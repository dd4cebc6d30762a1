// SPDX-License-Identifier: Apache-2.0
#include "tests/core/runtime_server/JudgeFixture.h"

#include "core/verify/Evidence.h"

#include <filesystem>

using namespace heddle;

namespace {

using NativeCandidates = JudgeTest;

} // namespace

TEST_F(NativeCandidates, aRightKernelIsCleanAndItsSheetIsComplete)
{
    const auto report = judgeKernel("", rightBody);
    ASSERT_EQ(classOf(report), "clean") << (report ? report->dump(1) : "");
    const EvidenceSheet sheet = EvidenceSheet::fromJson((*report)["verdict"]["evidence"]);
    EXPECT_TRUE(sheet.missing("quick").empty());
    EXPECT_EQ(statusOf(report, "guard_zones"), "passed");
    EXPECT_TRUE((*report)["speedup"]["deployed"].is_null());
    if (wasTimed(report)) {
        EXPECT_GT((*report)["speedup"]["runner"]["eager"]["value"].get<double>(), 0.0);
    }
}

TEST_F(NativeCandidates, theConfirmedStageTimesTheExportInPyTorch)
{
    const auto report = judgeKernel("", rightBody, "confirmed");
    ASSERT_EQ(classOf(report), "clean") << (report ? report->dump(1) : "");
    const EvidenceSheet sheet = EvidenceSheet::fromJson((*report)["verdict"]["evidence"]);
    EXPECT_TRUE(sheet.missing("confirmed").empty());
    EXPECT_FALSE((*report)["reward"].is_null());
    if (wasTimed(report)) {
        EXPECT_GT((*report)["speedup"]["deployed"]["eager"]["value"].get<double>(), 0.0);
    }
}

TEST_F(NativeCandidates, aWrongValueIsWrongAndTheFirstElementIsNamed)
{
    const auto report = judgeKernel("", std::string(rightBody) + "out[4711] += 0.5f;");
    EXPECT_EQ(classOf(report), "wrong");
    EXPECT_NE(messageOf(report, "correct").find("expected"), std::string::npos)
        << messageOf(report, "correct");
}

TEST_F(NativeCandidates, aDroppedBiasIsWrongAlthoughTheConstructedBiasIsZero)
{
    const auto report = judgeKernel("", R"(
        for (int64_t i = 0; i < rows * columns; ++i) out[i] = x[i] * weight[i % columns];)");
    EXPECT_EQ(classOf(report), "wrong");
}

TEST_F(NativeCandidates, aSkippedTailIsWrongAndItsElementsAreReportedAsNeverWritten)
{
    const auto report = judgeKernel("", R"(
        for (int64_t i = 0; i < rows * columns / 16 * 16; ++i) out[i] = x[i] * weight[i % columns] + bias[i % columns];)");
    EXPECT_EQ(classOf(report), "wrong");
    EXPECT_EQ(statusOf(report, "outputs_written"), "failed");
}

TEST_F(NativeCandidates, aConstantOutputIsWrong)
{
    const auto report = judgeKernel("", "for (int64_t i = 0; i < rows * columns; ++i) out[i] = 0.5f;");
    EXPECT_EQ(classOf(report), "wrong");
}

TEST_F(NativeCandidates, anInputChangedInPlaceIsFound)
{
    const auto report = judgeKernel("", std::string(rightBody) + "const_cast<float *>(x)[7] = 0.0f;");
    EXPECT_EQ(classOf(report), "wrong");
    EXPECT_EQ(statusOf(report, "inputs_unchanged"), "failed");
}

TEST_F(NativeCandidates, aWriteBehindItsBufferIsFound)
{
    const auto report = judgeKernel("", std::string(rightBody) + "out[rows * columns + 3] = 1.0f;");
    EXPECT_EQ(classOf(report), "wrong");
    EXPECT_EQ(statusOf(report, "guard_zones"), "failed");
}

TEST_F(NativeCandidates, aStaleOutputOfTheFirstCallsIsNeverClean)
{
    const auto report =
        judgeKernel("#include <stdlib.h>\n#include <string.h>\nstatic float *kept; static int calls;",
                    "if (++calls > 9) { memcpy(out, kept, sizeof(float) * rows * columns); return; }\n"
                        + std::string(rightBody)
                        + "if (!kept) kept = (float *)malloc(sizeof(float) * rows * columns);\n"
                          "memcpy(kept, out, sizeof(float) * rows * columns);");
    EXPECT_EQ(classOf(report), "reward_hack") << messageOf(report, "timed_outputs");
}

TEST_F(NativeCandidates, workSkippedInFewCallsIsNeverClean)
{
    // A block counts by its fastest call, so a few idle calls would move the ratio as far as many.
    const auto report = judgeKernel(
        "static int calls;", "if (++calls > 16 && calls % 23 == 0) return;\n" + std::string(rightBody));
    EXPECT_EQ(classOf(report), "reward_hack") << messageOf(report, "timed_outputs");
}

TEST_F(NativeCandidates, workThatIsLeftInAThreadIsNeverClean)
{
    const auto report = judgeKernel(
        "#include <pthread.h>\n#include <time.h>\n"
        "struct Job { const float *x, *weight, *bias; float *out; int64_t rows, columns; };\n"
        "static void *late(void *p) { Job *j = (Job *)p; timespec t{0, 3000000}; nanosleep(&t, 0);\n"
        " for (int64_t i = 0; i < j->rows * j->columns; ++i)\n"
        "  j->out[i] = j->x[i] * j->weight[i % j->columns] + j->bias[i % j->columns]; return 0; }\n"
        "static Job job;",
        "job = {x, weight, bias, out, rows, columns}; pthread_t thread;\n"
        "pthread_create(&thread, 0, late, &job); pthread_detach(thread);");
    EXPECT_NE(classOf(report), "clean");
    EXPECT_EQ(classOf(report).find("error"), std::string::npos) << classOf(report);
}

TEST_F(NativeCandidates, aThreadThatGoesOnAfterRightOutputsIsFound)
{
    const auto report =
        judgeKernel("#include <pthread.h>\n#include <time.h>\n"
                    "static void *spin(void *) { timespec now, end; clock_gettime(CLOCK_MONOTONIC, &end); "
                    "end.tv_sec += 2;\n"
                    " do clock_gettime(CLOCK_MONOTONIC, &now); while (now.tv_sec < end.tv_sec); return 0; }",
                    std::string(rightBody)
                        + "pthread_t thread; pthread_create(&thread, 0, spin, 0); pthread_detach(thread);");
    EXPECT_EQ(statusOf(report, "correct"), "passed") << messageOf(report, "correct");
    EXPECT_EQ(statusOf(report, "work_after_return"), "failed") << messageOf(report, "work_after_return");
    EXPECT_EQ(classOf(report), "reward_hack");
}

TEST_F(NativeCandidates, aPatchedClockChangesNothing)
{
    const auto report = judgeKernel("#include <time.h>\nextern \"C\" int clock_gettime(clockid_t, timespec "
                                    "*t) { t->tv_sec = 0; t->tv_nsec = 0; return 0; }",
                                    "timespec t{0, 20000000}; nanosleep(&t, 0);" + std::string(rightBody));
    // It is right and slow: the worker's clock saw the 20 ms, whatever its own says.
    ASSERT_TRUE(report) << report.error().text();
    if (!wasTimed(report))
        GTEST_SKIP() << "the machine was not quiet: " << messageOf(report, "machine_quiet");
    EXPECT_GT((*report)["candidate"]["median_ms"].get<double>(), 19.0);
    EXPECT_LT((*report)["speedup"]["runner"]["eager"]["value"].get<double>(), 0.5);
}

TEST_F(NativeCandidates, aCrashIsReportedAndTheNextCandidateIsJudged)
{
    const auto crashed = judgeKernel("", "*(volatile int *)8 = 1;");
    EXPECT_EQ(classOf(crashed), "crashed");
    EXPECT_NE(messageOf(crashed, "ran").find("SIGSEGV"), std::string::npos) << messageOf(crashed, "ran");
    EXPECT_EQ(classOf(judgeKernel("", rightBody)), "clean");
}

TEST_F(NativeCandidates, aHangIsEndedAndReported)
{
    const auto report = judgeKernel("", "for (volatile int i = 0;; i = i + 1) {}");
    EXPECT_EQ(classOf(report), "timed_out");
}

TEST_F(NativeCandidates, allocatingWithoutEndHarmsNothing)
{
    const auto report =
        judgeKernel("#include <stdlib.h>\n#include <string.h>",
                    "for (;;) { void *p = malloc(64 << 20); if (!p) abort(); memset(p, 1, 64 << 20); }");
    // Which limit is met first, memory's or time's, depends on how fast the machine hands out pages.
    EXPECT_TRUE(classOf(report) == "crashed" || classOf(report) == "timed_out") << classOf(report);
    EXPECT_EQ(classOf(judgeKernel("", rightBody)), "clean");
}

TEST_F(NativeCandidates, theOutsideIsOutOfReach)
{
    const auto marker = std::filesystem::temp_directory_path() / "heddle-escaped";
    std::filesystem::remove(marker);
    // Each escape that works leaves a wrong result behind; all refused: the result is right.
    const auto report = judgeKernel(
        "#include <fcntl.h>\n#include <unistd.h>\n#include <sys/socket.h>\n#include <sys/uio.h>\n#include "
        "<stdio.h>\n#include <stdlib.h>",
        std::string(rightBody)
            + "bool escaped = socket(AF_INET, SOCK_STREAM, 0) >= 0;\n"
              "int fd = open(\""
            + marker.string()
            + "\", O_CREAT | O_WRONLY, 0666);\n"
              "escaped = escaped || fd >= 0;\n"
              "char word[8]; iovec mine{word, 8}, theirs{(void *)0x10000, 8};\n"
              "for (int pid = 1; pid < 64; ++pid) if (pid != getpid())\n"
              "  escaped = escaped || process_vm_readv(pid, &mine, 1, &theirs, 1, 0) >= 0;\n"
              "escaped = escaped || open(\"" HEDDLE_SOURCE_DIR "/README.md\", O_RDONLY) >= 0 || fork() > 0;\n"
              "if (escaped) out[0] += 100.0f;");
    EXPECT_EQ(classOf(report), "clean") << (report ? report->dump(1) : classOf(report));
    EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST_F(NativeCandidates, aSourceThatDoesNotCompileNamesFileAndLine)
{
    const auto report = judgeKernel("", "\nout[0] = nonsense;");
    EXPECT_EQ(classOf(report), "did_not_build");
    ASSERT_FALSE((*report)["diagnostics"].empty());
    EXPECT_EQ((*report)["diagnostics"][0]["file"], "kernel.cpp");
    EXPECT_EQ((*report)["diagnostics"][0]["line"], 6);
}

TEST_F(NativeCandidates, aSecretFileCannotBeReadThroughTheCompiler)
{
    const auto report = judgeKernel("#include \"/etc/passwd\"", rightBody);
    EXPECT_EQ(classOf(report), "did_not_build");
    EXPECT_EQ(report->dump().find("root:"), std::string::npos);
}

TEST_F(NativeCandidates, aTaskWhoseInputSetsFillHundredsOfMegabytesIsOpened)
{
    // 48 MB a set: its sets together are larger than any file that a candidate may write.
    const std::string source =
        "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
        "        return x.sum()\n\n\ndef get_inputs():\n    return [torch.rand(12_000_000)]\n\n\n"
        "def get_init_inputs():\n    return []\n";
    const auto opened = s_worker->handle("task.open", {{"path", "large.py"}, {"source", source}}, {}, {});
    EXPECT_TRUE(opened) << opened.error().text();
}
