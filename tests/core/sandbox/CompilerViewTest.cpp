// SPDX-License-Identifier: Apache-2.0
// A real compiler outside /usr: the parts of the system's g++, copied into a folder of the test's own.
#include "core/compile/HostCompiler.h"
#include "core/sandbox/RunLimited.h"
#include "tests/support/ChildrenFixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace heddle {
namespace {

namespace fs = std::filesystem;

std::string said(const std::string &command)
{
    std::string text;
    FILE *pipe = ::popen(command.c_str(), "r");
    for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;)
        text += static_cast<char>(c);
    if (pipe != nullptr)
        ::pclose(pipe);
    return text.substr(0, text.find('\n'));
}

class CompilerViewTest : public ChildrenTest {
protected:
    void SetUp() override
    {
        ChildrenTest::SetUp();
        // Sandboxed children are another user: they pass these folders as they would pass /opt.
        fs::permissions(m_folder->path(), fs::perms(0755));
        std::ofstream(secret()) << "the person's\n";
        const fs::path driver = fs::canonical("/usr/bin/g++");
        const fs::path parts = fs::path(said("/usr/bin/g++ -print-prog-name=cc1plus")).parent_path();
        if (!fs::exists(parts / "cc1plus") || parts.string().rfind("/usr/", 0) != 0)
            GTEST_SKIP() << "the system's compiler is no GCC below /usr";
        const fs::path copy = m_folder->path() / "gcc" / parts.lexically_relative("/usr");
        fs::create_directories(copy);
        fs::create_directories(bin());
        fs::copy_file(driver, bin() / "g++-real");
        fs::create_symlink("g++-real", bin() / "g++");
        for (const fs::directory_entry &entry : fs::directory_iterator(parts)) {
            const std::string name = entry.path().filename().string();
            if (name == "cc1plus" || name == "collect2" || name == "lto-wrapper" || name == "include"
                || name.rfind("crt", 0) == 0 || name.rfind("libgcc", 0) == 0 || name.rfind("liblto", 0) == 0)
                fs::copy(entry.path(), copy / name, fs::copy_options::recursive);
        }
        // What is a link there leads to the system's libraries, which a compiler of its own would bring along.
        for (const char *library : {"libstdc++.so", "libgcc_s.so.1", "libm.so"})
            if (const fs::path found = said("/usr/bin/g++ -print-file-name=" + std::string(library));
                found.is_absolute())
                fs::copy_file(fs::canonical(found), copy / library, fs::copy_options::overwrite_existing);
    }

    fs::path bin() const { return m_folder->path() / "gcc/bin"; }
    fs::path secret() const { return m_folder->path() / "secret.txt"; }

    /// As the worker does it.
    Result<CompilerOutput> launch(const CompileCommand &command) const
    {
        HEDDLE_TRY(const TempFolder folder, TempFolder::create("heddle-compile-"));
        HEDDLE_CHECK_OK(writeTree(folder.path(), command.files));
        SandboxPolicy policy;
        policy.role = Role::Compiler;
        policy.needsCompiler = true;
        policy.scratch = folder.path();
        std::vector<std::string> argv{command.program};
        argv.insert(argv.end(), command.arguments.begin(), command.arguments.end());
        HEDDLE_TRY(const CommandResult result, runLimited(*s_spawner, policy, argv));
        CompilerOutput output;
        output.exitCode = result.status.isSuccess() ? 0 : std::max(1, result.status.code);
        output.log = result.output + result.error;
        if (auto object = readFile(folder.path() / command.output); object && !command.output.empty())
            output.object = std::move(*object);
        return output;
    }

    /// Compiles a plan's kernel; what `source` reads besides must not be there.
    Result<CompileOutcome> compile(const fs::path &program, const std::string &source) const
    {
        const auto launcher = [this](const CompileCommand &command, const CancelToken &) {
            return launch(command);
        };
        HEDDLE_TRY(CompilerIdentity identity, identifyCompiler(program, launcher));
        HEDDLE_TRY(const HostCompiler compiler,
                   HostCompiler::create(std::move(identity), m_folder->path() / "cache",
                                        fs::path(HEDDLE_SOURCE_DIR) / "resources/include", launcher));
        const FileTree files{{"kernel.cpp", source}, {"plan.json", R"({"heddle": 1, "target": "cpu",
              "steps": [{"kernel": "fill", "source": "kernel.cpp", "args": [{"ptr": "out:0"}]}],
              "outputs": [{"dtype": "float32", "shape": ["1"]}]})"}};
        HEDDLE_TRY(const Plan plan, parsePlan(files));
        return compiler.compile(plan, files, {});
    }

    void expectWorks(const fs::path &program) const
    {
        const auto built = compile(program,
                                   "#include \"heddle_cpu.h\"\nextern \"C\" void fill(float *out) { out[0] = "
                                   "heddle::exp(1.0f); }\n");
        ASSERT_TRUE(built) << built.error().text();
        EXPECT_TRUE(built->isBuilt) << built->log;
        const auto curious =
            compile(program, "#include \"" + secret().string() + "\"\nextern \"C\" void fill(float *) {}\n");
        ASSERT_TRUE(curious) << curious.error().text();
        EXPECT_FALSE(curious->isBuilt);
        EXPECT_EQ(curious->log.find("the person's"), std::string::npos) << curious->log;
    }
};

TEST_F(CompilerViewTest, aCompilerOutsideUsrCompilesAPlanAndSeesNoFileBesideItself)
{
    expectWorks(bin() / "g++");
}

TEST_F(CompilerViewTest, aLinkFromElsewhereLeadsToItsParts)
{
    fs::create_directories(m_folder->path() / "links/bin");
    fs::create_symlink(bin() / "g++", m_folder->path() / "links/bin/mine");
    expectWorks(m_folder->path() / "links/bin/mine");
    fs::create_directory_symlink("gcc", m_folder->path() / "current");
    expectWorks(m_folder->path() / "current/bin/g++");
}

TEST_F(CompilerViewTest, aScriptThatStartsACompilerElsewhereWorksToo)
{
    fs::create_directories(m_folder->path() / "scripts");
    const fs::path script = m_folder->path() / "scripts/g++";
    std::ofstream(script) << "#!/bin/sh\nexec " << (bin() / "g++").string() << " \"$@\"\n";
    fs::permissions(script, fs::perms(0755));
    expectWorks(script);
}

TEST_F(CompilerViewTest, aCompilerInTheHomeFolderItselfIsRefusedWithTheReason)
{
    const char *before = std::getenv("HOME");
    const std::string home = before != nullptr ? before : "";
    ::setenv("HOME", (m_folder->path() / "gcc").c_str(), 1);
    const auto view = viewOfCompiler(bin() / "g++");
    ::setenv("HOME", (m_folder->path() / "gcc/deep/home").c_str(), 1);
    fs::create_directories(m_folder->path() / "gcc/deep/home");
    const auto above = viewOfCompiler(bin() / "g++");
    if (before != nullptr)
        ::setenv("HOME", home.c_str(), 1);
    else
        ::unsetenv("HOME");
    for (const auto *refused : {&view, &above}) {
        ASSERT_FALSE(*refused);
        EXPECT_EQ(refused->error().code(), Code::Environment);
        EXPECT_NE(refused->error().message().find((m_folder->path() / "gcc").string()), std::string::npos);
        EXPECT_FALSE(refused->error().next().empty());
    }
}

TEST_F(CompilerViewTest, theSystemsOwnCompilerNeedsNothingMore)
{
    for (const char *program : {"/usr/bin/g++", "/bin/g++"}) {
        const auto view = viewOfCompiler(program);
        ASSERT_TRUE(view) << view.error().text();
        EXPECT_TRUE(view->readOnly.empty() && view->pathFolders.empty());
    }
}

} // namespace
} // namespace heddle
