// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Nvrtc.h"

#include "tests/core/plan/PlanVectors.h"

#include <cstdlib>

namespace heddle {
namespace {

/// The site-packages of $HEDDLE_PYTHON, whose wheels may hold NVRTC.
std::vector<std::filesystem::path> sitePackages()
{
    std::vector<std::filesystem::path> out;
    const char *python = std::getenv("HEDDLE_PYTHON");
    if (python == nullptr)
        return out;
    std::error_code code;
    const auto lib = std::filesystem::path(python).parent_path().parent_path() / "lib";
    for (std::filesystem::directory_iterator entry(lib, code), end; !code && entry != end;
         entry.increment(code))
        out.push_back(entry->path() / "site-packages");
    return out;
}

FileTree cudaHeaders()
{
    return {{"heddle.cuh", *readFile(std::string(HEDDLE_SOURCE_DIR) + "/resources/include/heddle.cuh")}};
}

class NvrtcTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        auto opened = Nvrtc::open(Nvrtc::findLibraries(sitePackages()));
        if (!opened)
            GTEST_SKIP() << opened.error().text();
        m_nvrtc.emplace(std::move(*opened));
    }
    std::optional<Nvrtc> m_nvrtc;
};

TEST_F(NvrtcTest, theThreeVectorsCompileForSm90AndHoldTheirKernels)
{
    const std::map<std::string, std::vector<std::string>> expected = {
        {"bias_gelu", {"bias_gelu"}},
        {"row_softmax", {"row_softmax"}},
        {"repeat_scan", {"clear", "count_call", "scan_step"}}};
    for (const auto &[name, kernels] : expected) {
        const FileTree files = testing::vectorFiles(name, "cuda");
        const auto plan = parsePlan(files);
        ASSERT_TRUE(plan);
        const auto outcome = m_nvrtc->compile(*plan, files, {}, cudaHeaders(), "sm_90");
        ASSERT_TRUE(outcome) << outcome.error().text();
        EXPECT_TRUE(outcome->isBuilt) << outcome->log;
        ASSERT_EQ(outcome->cubins.count("kernel.cu"), 1u);
        EXPECT_EQ(cubinKernels(outcome->cubins.at("kernel.cu")), kernels);
        std::printf("NVRTC %s: %s in %.3f s\n", m_nvrtc->version().c_str(), name.c_str(), outcome->seconds);
    }
}

TEST_F(NvrtcTest, anErrorHasItsLineAndAMissingKernelItsStep)
{
    FileTree files = testing::vectorFiles("bias_gelu", "cuda");
    const auto plan = parsePlan(files);
    ASSERT_TRUE(plan);
    files["kernel.cu"] =
        "#include \"heddle.cuh\"\nextern \"C\" __global__ void other(float *x)\n{\n    *x = y;\n}\n";
    auto outcome = m_nvrtc->compile(*plan, files, {}, cudaHeaders(), "sm_90");
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->isBuilt);
    ASSERT_FALSE(outcome->diagnostics.empty()) << outcome->log;
    EXPECT_EQ(outcome->diagnostics[0].file, "kernel.cu");
    EXPECT_EQ(outcome->diagnostics[0].line, 4);
    files["kernel.cu"] = "extern \"C\" __global__ void other(float *x) { *x = 1; }\n";
    outcome = m_nvrtc->compile(*plan, files, {}, cudaHeaders(), "sm_90");
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->isBuilt);
    ASSERT_EQ(outcome->diagnostics.size(), 1u);
    EXPECT_NE(outcome->diagnostics[0].message.find("bias_gelu"), std::string::npos);
}

TEST(Cubin, damagedImagesGiveNoKernelAndNoCrash)
{
    EXPECT_TRUE(cubinKernels("").empty());
    EXPECT_TRUE(cubinKernels(std::string(64, '\xff')).empty());
    std::string image("\x7f"
                      "ELF",
                      4);
    image.resize(200, '\xff');
    EXPECT_TRUE(cubinKernels(image).empty());
}

TEST(Nvrtc, withoutALibraryTheErrorSaysHowToGetOne)
{
    const auto opened = Nvrtc::open({"/nowhere/libnvrtc.so"});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Code::Environment);
    EXPECT_NE(opened.error().next().find("toolkit"), std::string::npos);
}

} // namespace
} // namespace heddle
