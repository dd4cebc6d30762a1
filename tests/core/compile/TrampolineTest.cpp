// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Trampoline.h"

#include "core/compile/HostCompiler.h"
#include "tests/core/plan/PlanVectors.h"
#include "tests/support/PlainLauncher.h"

#include <dlfcn.h>

namespace heddle {
namespace {

/// A plan with one step over every kind of argument; the source is the test's.
FileTree candidate(const std::string &source)
{
    return {{"plan.json", R"({"heddle": 1, "target": "cpu", "updates": ["state:u"],
        "buffers": [{"name": "tmp:h", "dtype": "bfloat16", "shape": [4]}],
        "steps": [{"kernel": "work", "source": "kernel.cpp", "args": [{"ptr": "input:x"}, {"ptr": "state:u"},
            {"ptr": "tmp:h"}, {"ptr": "out:0"}, {"i64": 7}, {"i32": 3}, {"f32": "const:0.5"}, {"f64": "const:0.25"}]}],
        "outputs": [{"dtype": "float32", "shape": [4]}]})"},
            {"kernel.cpp", source}};
}

TaskLayout layout()
{
    TaskLayout layout;
    layout.inputs = {{"input:x", Dtype::Float32, {4}}};
    layout.state = {{"state:u", Dtype::Int64, {}}};
    layout.outputs = {{"out:0", Dtype::Float32, {4}}};
    layout.updates = {"state:u"};
    return layout;
}

class Trampoline : public ::testing::Test {
protected:
    void SetUp() override
    {
        auto identity = identifyCompiler("g++", testing::launchPlainly);
        ASSERT_TRUE(identity) << identity.error().text();
        auto folder = TempFolder::create("heddle-cache-");
        ASSERT_TRUE(folder);
        m_folder.emplace(std::move(*folder));
        auto compiler = HostCompiler::create(*identity, m_folder->path(),
                                             std::string(HEDDLE_SOURCE_DIR) + "/resources/include",
                                             testing::launchPlainly);
        ASSERT_TRUE(compiler) << compiler.error().text();
        m_compiler.emplace(std::move(*compiler));
    }

    CompileOutcome compile(const FileTree &files, const std::map<std::string, std::int64_t> &tunables = {})
    {
        const auto plan = parsePlan(files);
        EXPECT_TRUE(plan) << plan.error().text();
        const TaskLayout known = layout();
        auto outcome = m_compiler->compile(*plan, files, tunables, &known);
        EXPECT_TRUE(outcome) << outcome.error().text();
        return *outcome;
    }

    /// The first error of a source that holds `part`, as "file:line: message".
    std::string firstError(const std::string &source, const std::string &part = {})
    {
        const CompileOutcome outcome = compile(candidate(source));
        EXPECT_FALSE(outcome.isBuilt) << source;
        for (const Diagnostic &item : outcome.diagnostics)
            if (item.severity == Diagnostic::Severity::Error && item.message.find(part) != std::string::npos)
                return item.file + ':' + std::to_string(item.line) + ": " + item.message;
        return "no error; log: " + outcome.log;
    }

    std::optional<TempFolder> m_folder;
    std::optional<HostCompiler> m_compiler;
};

const char *const good =
    "#include \"heddle_cpu.h\"\n"
    "extern \"C\" void work(const float *x, int64_t *u, heddle::bfloat16 *h, float *__restrict__ out,\n"
    "                     int64_t n, int32_t k, float a, double b)\n"
    "{\n"
    "    *u += n; h[0] = heddle::bfloat16(1.0f); out[0] = x[0] + float(k) + a + float(b);\n"
    "}\n";

std::string replaced(const std::string &from, const std::string &to)
{
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST_F(Trampoline, callsTheKernelWithEveryKindOfArgument)
{
    const CompileOutcome outcome = compile(candidate(good));
    ASSERT_TRUE(outcome.isBuilt) << outcome.log;
    void *library = ::dlopen(outcome.object.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    void *symbol = ::dlsym(library, "heddle_step_0");
    ASSERT_NE(symbol, nullptr);
    void (*step)(const heddle_arg *) = nullptr;
    static_assert(sizeof step == sizeof symbol);
    std::memcpy(&step, &symbol, sizeof step);
    float x = 1.0f;
    std::int64_t u = 5;
    std::uint16_t h = 0;
    float out = 0.0f;
    heddle_arg arguments[8] = {};
    arguments[0].ptr = &x;
    arguments[1].ptr = &u;
    arguments[2].ptr = &h;
    arguments[3].ptr = &out;
    arguments[4].i64 = 7;
    arguments[5].i32 = 3;
    arguments[6].f32 = 0.5f;
    arguments[7].f64 = 0.25;
    step(arguments);
    EXPECT_EQ(u, 12);
    EXPECT_EQ(h, 0x3f80);
    EXPECT_EQ(out, 4.75f);
    ::dlclose(library);
}

TEST_F(Trampoline, aWrongPrototypeIsAReadableErrorAtTheKernelsLine)
{
    const std::vector<std::tuple<const char *, const char *, const char *>> rows = {
        {"const float *x", "float *x",
         "argument 0 of work is read-only input:x in plan.json, so this parameter must be const float *"},
        {"const float *x", "const double *x", "must be const float *"},
        {"int64_t *u", "int32_t *u",
         "argument 1 of work is state:u in plan.json, so this parameter must be int64_t *"},
        {"heddle::bfloat16 *h", "float *h", "must be heddle::bfloat16 *"},
        {"int64_t n", "int32_t n", "argument 4 of work is the int64_t in plan.json"},
        {"float a", "double a", "argument 6 of work is the float in plan.json"},
        {", double b", "",
         "plan.json passes 8 arguments to work: (const float *, int64_t *, heddle::bfloat16 *, float *, "
         "int64_t, int32_t, float, double)"},
        {"void work", "int work", "work must return void"},
    };
    for (const auto &[from, to, message] : rows) {
        const std::string error = firstError(replaced(from, to), "static assertion");
        EXPECT_EQ(error.rfind("kernel.cpp:2: ", 0), 0u) << error;
        EXPECT_NE(error.find(message), std::string::npos) << error;
    }
}

TEST_F(Trampoline, constPointersToWritableBuffersAndRawHalvesAreAccepted)
{
    EXPECT_TRUE(compile(candidate(replaced("heddle::bfloat16 *h", "const uint16_t *h")
                                      .replace(0, 0, "#include <stdint.h>\n")
                                      .replace(0, 0, "// raw\n")))
                    .diagnostics.size()
                > 0)
        << "the body writes a bfloat16 through const uint16_t *, which must not compile";
    const std::string raw =
        "#include <stdint.h>\nextern \"C\" void work(const float *, const int64_t *, const uint16_t *, "
        "float *, int64_t, int32_t, float, double) noexcept {}\n";
    EXPECT_TRUE(compile(candidate(raw)).isBuilt) << compile(candidate(raw)).log;
}

TEST_F(Trampoline, anErrorInTheBodyIsAtItsLineAndAMissingKernelIsNamed)
{
    EXPECT_EQ(firstError(replaced("x[0] +", "x[0] + missing +"))
                  .rfind("kernel.cpp:5: 'missing' was not declared", 0),
              0u)
        << firstError(replaced("x[0] +", "x[0] + missing +"));
    EXPECT_EQ(
        firstError(replaced("void work", "void worker")).rfind("plan.json:1: 'work' was not declared", 0), 0u)
        << firstError(replaced("void work", "void worker"));
}

TEST_F(Trampoline, theCacheAnswersForTheSameBytesOnly)
{
    EXPECT_FALSE(compile(candidate(good)).isCached);
    const CompileOutcome again = compile(candidate(good));
    EXPECT_TRUE(again.isCached);
    EXPECT_TRUE(again.isBuilt);
    EXPECT_FALSE(compile(candidate(replaced("x[0] +", "2.0f * x[0] +"))).isCached);
}

TEST_F(Trampoline, everyVectorCompilesWithoutAWarningForEachTunable)
{
    for (const std::string &name : testing::vectorNames()) {
        const FileTree files = testing::vectorFiles(name, "cpu");
        const auto plan = parsePlan(files);
        ASSERT_TRUE(plan);
        const TaskLayout known = testing::vectorLayout(name);
        std::map<std::string, std::int64_t> tunables;
        for (const auto &[tunable, value] : plan->tunables)
            tunables[tunable] = value.choices.front();
        const auto outcome = m_compiler->compile(*plan, files, tunables, &known);
        ASSERT_TRUE(outcome) << outcome.error().text();
        EXPECT_TRUE(outcome->isBuilt) << outcome->log;
        EXPECT_EQ(outcome->log, "") << name;
        EXPECT_FALSE(m_compiler->compile(*plan, files, {{"OTHER", 1}}, &known));
    }
}

TEST(LineOfFunction, findsTheDefinitionAndNotACall)
{
    EXPECT_EQ(lineOfFunction("int a;\nvoid f()\n{\n    g (1);\n}\nvoid *g(int)\n{}\n", "g"), 6);
    EXPECT_EQ(lineOfFunction("void myg(); void gg();\n", "g"), 0);
}

TEST(HostCompiler, aMissingCompilerIsAnEnvironmentErrorWithThePackage)
{
    const auto identity = identifyCompiler("/nowhere/g++", testing::launchPlainly);
    ASSERT_FALSE(identity);
    EXPECT_EQ(identity.error().code(), Code::Environment);
    EXPECT_NE(identity.error().next().find("package g++"), std::string::npos);
}

TEST(HostCompiler, aCompilerIsFoundByItsAbsolutePathAndArgumentsBesideItAreExplained)
{
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path("/usr");
    const auto relative = findCompiler("bin/g++");
    std::filesystem::current_path(before);
    ASSERT_TRUE(relative) << relative.error().text();
    EXPECT_EQ(*relative, "/usr/bin/g++");
    const auto wrapped = findCompiler("ccache g++");
    ASSERT_FALSE(wrapped);
    EXPECT_NE(wrapped.error().next().find("without arguments"), std::string::npos);
}

TEST(HostCompiler, aCompilerThatDoesNotWorkSaysWhatItSaid)
{
    const auto failing = [](const CompileCommand &, const CancelToken &) -> Result<CompilerOutput> {
        return CompilerOutput{.exitCode = 1, .log = "cc1plus: no libmpfr.so.6\n", .object = {}};
    };
    const auto identity = identifyCompiler("/usr/bin/g++", failing);
    ASSERT_FALSE(identity);
    EXPECT_NE(identity.error().message().find("libmpfr"), std::string::npos);
}

} // namespace
} // namespace heddle
