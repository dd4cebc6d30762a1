// SPDX-License-Identifier: Apache-2.0
#include "app/cli/CompileText.h"

#include <gtest/gtest.h>

namespace heddle::cli::test {

namespace {

Json kernel(const char *name)
{
    return {{"name", name},       {"source", "kernel.cu"},      {"registers", 20},
            {"code_bytes", 1280}, {"shared_static_bytes", 0},   {"constant_bytes", 552},
            {"stack_bytes", 0},   {"spill_store_bytes", 0},     {"spill_load_bytes", 0},
            {"barriers", 1},      {"assembly_seconds", 0.0135}, {"launches", Json::array()}};
}

Json launch(int blocks, double share, const Json &limiters)
{
    return {
        {"steps", {0}},
        {"block", {128, 1, 1}},
        {"threads", 128},
        {"cluster", {1, 1, 1}},
        {"shared_dynamic_bytes", 128},
        {"occupancy", {{"blocks", blocks}, {"warps", 4 * blocks}, {"share", share}, {"limiters", limiters}}},
        {"message", ""}};
}

Json report(const Json &kernels)
{
    return {{"target", {{"name", "cuda:sm_90"}, {"architecture", "sm_90"}, {"capability", "9.0"}}},
            {"compilation",
             {{"ok", true},
              {"cached", false},
              {"compiler", {{"name", "NVRTC"}, {"version", "13.0"}, {"path", "/l.so"}}},
              {"tunables", {{"BLOCK", 128}}},
              {"binary_bytes", 18792},
              {"kernels", kernels}}},
            {"diagnostics", Json::array()},
            {"seconds", {{"compile", 0.125}}}};
}

} // namespace

TEST(CompileText, aTableHasARowForEachLaunchAndColumnsStandUnderTheirHeads)
{
    Json first = kernel("row_softmax");
    first["launches"] = Json::array({launch(16, 1.0, {"threads", "registers"})});
    Json second = kernel("unused");
    EXPECT_EQ(compileText(report({first, second})),
              "compiled for sm_90 (compute capability 9.0) by NVRTC 13.0 in 125 ms: 18.4 KiB\n"
              "with BLOCK=128\n"
              "  kernel       registers  spilled + reloaded  static + dynamic shared  code    ptxas    block "
              " blocks/SM  "
              "occupancy  limited by\n"
              "  row_softmax  20         none                0 + 128 B                1280 B  13.5 ms  128   "
              " 16         "
              "100 %      threads, registers\n"
              "  unused       20         none                0 + ? B                  1280 B  13.5 ms  –     "
              " –          "
              "–          no step launches it\n");
}

TEST(CompileText, whatIsUnknownIsAQuestionMarkAndItsReasonStandsBelow)
{
    Json row = kernel("k");
    row["registers"] = nullptr;
    row["spill_load_bytes"] = nullptr;
    row["assembly_seconds"] = nullptr;
    Json unknown = launch(0, 0.0, Json::array());
    unknown["occupancy"] = nullptr;
    unknown["block"] = {64, 2, 1};
    unknown["shared_dynamic_bytes"] = nullptr;
    unknown["message"] = "the launch depends on cols";
    row["launches"] = Json::array({unknown});
    const std::string text = compileText(report(Json::array({row})));
    EXPECT_NE(
        text.find(
            "  k       ?          ?                   0 + ? B                  1280 B  ?      64 × 2  ?      "
            "    ?          ?\n"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("\n  k: the launch depends on cols\n"), std::string::npos) << text;
}

TEST(CompileText, spillsAndALaunchThatCannotRunAreSaid)
{
    Json row = kernel("k");
    row["spill_store_bytes"] = 96;
    row["spill_load_bytes"] = 112;
    row["stack_bytes"] = 24;
    Json refused = launch(0, 0.0, Json::array());
    refused["message"] = "a block has at most 1024 threads, this one 2048";
    row["launches"] = Json::array({refused});
    const std::string text = compileText(report(Json::array({row})));
    EXPECT_NE(text.find("96 + 112 B"), std::string::npos) << text;
    EXPECT_NE(text.find("it can't run"), std::string::npos) << text;
    EXPECT_NE(text.find("k: a block has at most 1024 threads, this one 2048\n"), std::string::npos) << text;
    EXPECT_NE(text.find("a stack of 24 B"), std::string::npos) << text;
}

TEST(CompileText, aRefusalIsItsMessagesAtTheirPlaces)
{
    const Json refused{
        {"target", {{"name", "cpu"}}},
        {"compilation", {{"ok", false}, {"kernels", Json::array()}}},
        {"diagnostics",
         {{{"file", "kernel.cpp"}, {"line", 3}, {"column", 7}, {"severity", "error"}, {"message", "no"}}}}};
    EXPECT_EQ(compileText(refused), "it does not compile for cpu\n  kernel.cpp:3:7: error: no\n");
}

TEST(CompileText, codeStandsWithItsOffsetAndItsLine)
{
    Json shown = report(Json::array());
    shown["compilation"]["sass"] = {
        {"k",
         {{{"offset", nullptr}, {"text", ".L_x_0:"}},
          {{"offset", 16}, {"text", "EXIT ;"}, {"file", "kernel.cu"}, {"line", 4}},
          {{"offset", 32}, {"text", "NOP ;"}}}}};
    const std::string text = compileText(shown);
    EXPECT_NE(text.find("\nSASS of k\n  .L_x_0:\n  0010     EXIT ;  kernel.cu:4\n  0020     NOP ;\n"),
              std::string::npos)
        << text;
}

} // namespace heddle::cli::test
