// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Disassembler.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

std::string asText(const std::vector<SassKernel> &kernels)
{
    std::string text;
    for (const SassKernel &kernel : kernels) {
        text += kernel.name + '\n';
        for (const SassLine &line : kernel.lines)
            text += "  " + (line.offset ? std::to_string(*line.offset) : std::string("-")) + '|' + line.text
                + '|' + line.file + ':' + std::to_string(line.line) + '\n';
    }
    return text;
}

TEST(Sass, instructionsAndLabelsAreReadWithTheirLines)
{
    EXPECT_EQ(asText(parseSass("\t.target\tsm_90\n\n"
                               "//--------------------- .text.scale --------------------------\n"
                               "\t.section\t.text.scale,\"ax\",@progbits\n"
                               "        .global         scale\n"
                               "        .size           scale,(.L_x_2 - scale)\n"
                               "scale:\n"
                               ".text.scale:\n"
                               "\t//## File \"/kernel.cu\", line 4\n"
                               "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
                               "        /*0010*/              @!P0 BRA `(.L_x_1) ;\n"
                               ".L_x_0:\n"
                               "\t//## File \"/heddle.cuh\", line 71\n"
                               "        /*0020*/                   FADD R2, R2, R3 ;\n"
                               ".L_x_2:\n\n"
                               "\t.section\t.text._Z5otherPf,\"ax\",@progbits\n"
                               ".text._Z5otherPf:\n"
                               "_Z5otherPf:\n"
                               "        /*0000*/                   EXIT ;\n")),
              "scale\n"
              "  0|LDC R1, c[0x0][0x28] ;|/kernel.cu:4\n"
              "  16|@!P0 BRA `(.L_x_1) ;|/kernel.cu:4\n"
              "  -|.L_x_0:|:0\n"
              "  32|FADD R2, R2, R3 ;|/heddle.cuh:71\n"
              "_Z5otherPf\n"
              "  0|EXIT ;|:0\n");
}

TEST(Sass, oddTextGivesNothing)
{
    EXPECT_TRUE(parseSass("").empty());
    EXPECT_TRUE(parseSass(".section .nv.info,\"\"\n        /*0000*/ EXIT ;\n:\n/**/\n//## File\n").empty());
    EXPECT_EQ(asText(parseSass(
                  ".section .text.k\n/*zz*/ NOP ;\n/*0000 NOP ;\n//## File \"a\", line x\n/*0000*/ NOP ;")),
              "k\n  0|NOP ;|:0\n");
}

TEST(Disassembler, withoutAProgramTheErrorSaysHowToGetOne)
{
    const auto never = [](const CompileCommand &, const CancelToken &) -> Result<CompilerOutput> {
        ADD_FAILURE() << "nothing to start";
        return Error(Code::Internal, "");
    };
    const auto missing = Disassembler::create({"/nowhere/nvdisasm"}, never);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), Code::Environment);
    EXPECT_NE(missing.error().next().find("nvidia-cuda-nvdisasm"), std::string::npos);
    const auto mute = [](const CompileCommand &, const CancelToken &) -> Result<CompilerOutput> {
        return CompilerOutput{.exitCode = 1, .log = "cannot execute binary file\n", .object = {}};
    };
    const auto broken = Disassembler::create({"/bin/true"}, mute);
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().message().find("cannot execute"), std::string::npos);
}

} // namespace
} // namespace heddle
