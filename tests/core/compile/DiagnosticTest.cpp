// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Diagnostic.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

std::string asText(std::string_view log)
{
    std::string text;
    for (const Json &row : toJson(parseDiagnostics(log, "src/")))
        text += row["file"].get<std::string>() + '|' + std::to_string(row["line"].get<int>()) + '|'
            + std::to_string(row["column"].get<int>()) + '|' + row["severity"].get<std::string>() + '|'
            + row["message"].get<std::string>() + '\n';
    return text;
}

TEST(Diagnostics, textOfCompilerAndLinkerBecomesPlacesInTheCandidatesFiles)
{
    EXPECT_EQ(asText("In file included from heddle_unit_0.cpp:2:\n"
                     "src/kernel.cpp: In function 'void f(const float*)':\n"
                     "src/kernel.cpp:7:9: error: assignment of read-only location '* x'\n"
                     "src/sub/util.h:3:1: warning: unused variable 'a' [-Wunused-variable]\n"
                     "./include/heddle_cpu.h:9: note: declared here\n"
                     "src/kernel.cpp:1:10: fatal error: vector3: No such file or directory\n"
                     "compilation terminated.\n"
                     "plan.json:1:33: error: 'g' was not declared in this scope\n"
                     "cc1plus: error: bad value 'x' for '-march=' switch\n"
                     "/usr/bin/ld: /tmp/ccA.o: in function `f':\n"
                     "u.cpp:(.text+0x0): multiple definition of `f'; /tmp/ccB.o:u.cpp:(.text+0x0): first "
                     "defined here\n"
                     "collect2: error: ld returned 1 exit status\n"),
              "kernel.cpp|7|9|error|assignment of read-only location '* x'\n"
              "sub/util.h|3|1|warning|unused variable 'a' [-Wunused-variable]\n"
              "include/heddle_cpu.h|9|0|note|declared here\n"
              "kernel.cpp|1|10|error|vector3: No such file or directory\n"
              "plan.json|1|33|error|'g' was not declared in this scope\n"
              "|0|0|error|bad value 'x' for '-march=' switch\n"
              "|0|0|error|multiple definition of `f'; /tmp/ccB.o:u.cpp:(.text+0x0): first defined here\n");
}

TEST(Diagnostics, textOfNvrtcIsReadAsWell)
{
    EXPECT_EQ(asText("kernel.cu(12): error: identifier \"foo\" is undefined\n      foo(x);\n      ^\n\n"
                     "src/kernel.cu(3): catastrophic error: cannot open source file \"vector\"\n"
                     "1 error detected in the compilation of \"kernel.cu\".\n"),
              "kernel.cu|12|5|error|identifier \"foo\" is undefined\n"
              "kernel.cu|3|0|error|cannot open source file \"vector\"\n");
}

TEST(Diagnostics, aNumberedMessageOfNvrtcAndOneOfItsAssemblerAreRead)
{
    EXPECT_EQ(asText("kernel.cu(1): warning #177-D: variable \"unused\" was declared but never referenced\n"
                     "      int unused; x[0] = 1;\n"
                     "          ^\n\n"
                     "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n"
                     "kernel.cu(2): error: expected a \";\"\n"
                     "  \tfoo()\n"
                     "  \t     ^\n\n"
                     "ptxas info    : Used 18 registers, used 1 barriers, 376 bytes cmem[0]\n"
                     "ptxas warning : Stack size for entry function 'k' cannot be statically determined\n"
                     "ptxas fatal   : Ptx assembly aborted due to errors\n"
                     "1 error detected in the compilation of \"kernel.cu\".\n"),
              "kernel.cu|1|9|warning|variable \"unused\" was declared but never referenced (#177-D)\n"
              "kernel.cu|2|0|error|expected a \";\"\n"
              "|0|0|warning|Stack size for entry function 'k' cannot be statically determined\n"
              "|0|0|error|Ptx assembly aborted due to errors\n");
}

TEST(Diagnostics, oddTextGivesNothingAndALongLogIsCut)
{
    EXPECT_EQ(asText(""), "");
    EXPECT_EQ(asText("no message\n:::\n(((\n"), "");
    std::string log;
    for (int i = 0; i < 1000; ++i)
        log += "a.cpp:1:1: error: x\n";
    EXPECT_EQ(parseDiagnostics(log, "src/").size(), 200u);
}

TEST(Diagnostic, aRefusalBeforeTheCompilerIsAMessageAtItsPlace)
{
    const auto broken = parseJson("{\n \"a\": ,\n}", "plan.json");
    ASSERT_FALSE(broken);
    const Diagnostic json = diagnosticOf(broken.error());
    EXPECT_EQ(placeText(toJson(std::vector{json})[0]), "plan.json:2:7: ");
    EXPECT_EQ(json.message.rfind("this is not valid JSON", 0), 0u) << json.message;
    EXPECT_NE(json.message.find(broken.error().next()), std::string::npos);

    const Diagnostic member = diagnosticOf(
        Error(Code::InvalidInput, "this is not a list", "plan.json: steps[0].args", "write one"));
    EXPECT_EQ(placeText(toJson(std::vector{member})[0]), "plan.json: ");
    EXPECT_EQ(member.message, "steps[0].args: this is not a list (write one)");

    // A place that only begins like a line and a column is none.
    const Diagnostic odd = diagnosticOf(Error(Code::InvalidInput, "no", "tunables: 3:4x"));
    EXPECT_EQ(odd.line, 0);
    EXPECT_EQ(odd.message, "3:4x: no");
    EXPECT_EQ(diagnosticOf(Error(Code::NotFound, "there is none")).file, "plan.json");
}

TEST(Diagnostic, aPlaceIsWrittenAsFarAsItIsKnown)
{
    EXPECT_EQ(placeText({{"file", "k.cpp"}, {"line", 3}, {"column", 0}}), "k.cpp:3: ");
    EXPECT_EQ(placeText({{"file", ""}, {"line", 3}, {"column", 1}}), "");
}

} // namespace
} // namespace heddle
