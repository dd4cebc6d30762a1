// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Cubin.h"
#include "core/compile/Disassembler.h"
#include "tests/core/compile/CudaCompilerFixture.h"

#include <chrono>
#include <fstream>

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// The messages as "file:line:column: severity: text" lines.
std::string textOf(const CudaOutcome &outcome)
{
    std::string text;
    for (const Json &row : toJson(outcome.diagnostics))
        text += placeText(row) + stringOr(row, "severity") + ": " + stringOr(row, "message") + '\n';
    return text;
}

TEST_F(CudaCompilerTest, theThreeVectorsCompileForEachArchitectureAndSayWhatTheyUse)
{
    const std::map<std::string, std::vector<std::string>> expected = {
        {"bias_gelu", {"bias_gelu"}},
        {"row_softmax", {"row_softmax"}},
        {"repeat_scan", {"clear", "count_call", "scan_step"}}};
    for (const int number : m_compiler->architectures()) {
        const std::string architecture = "sm_" + std::to_string(number);
        for (const auto &[name, kernels] : expected) {
            const auto outcome =
                compile(testing::vectorFiles(name, "cuda"), *m_compiler, architecture.c_str());
            ASSERT_TRUE(outcome) << outcome.error().text();
            ASSERT_TRUE(outcome->isBuilt) << textOf(*outcome);
            EXPECT_EQ(textOf(*outcome), "") << name << ' ' << architecture;
            const CudaModule &module = outcome->modules.at("kernel.cu");
            EXPECT_EQ(cubinKernels(module.cubin), kernels);
            EXPECT_NE(module.ptx.find(".entry " + kernels.front()), std::string::npos);
            for (const std::string &kernel : kernels) {
                const ResourceUse &use = module.kernels.at(kernel);
                EXPECT_GT(use.registers.value_or(0), 4) << kernel;
                EXPECT_LE(use.registers.value_or(999), 64) << kernel;
                EXPECT_EQ(use.spillStoreBytes, 0) << kernel << outcome->log;
                EXPECT_EQ(use.spillLoadBytes, 0) << kernel;
                EXPECT_EQ(use.staticSharedBytes, 0) << kernel;
                EXPECT_EQ(use.stackBytes, 0) << kernel;
                EXPECT_EQ(use.maxThreads, 1024) << kernel;
                EXPECT_GT(use.codeBytes.value_or(0), 64) << kernel;
                EXPECT_GT(use.constantBytes.value_or(0), 8) << kernel;
                EXPECT_EQ(use.barriers.value_or(-1), kernel == "row_softmax" ? 1 : 0) << kernel;
            }
        }
    }
}

TEST_F(CudaCompilerTest, theLogAndTheCubinAgreeOnWhatBothSay)
{
    const auto outcome = compile(candidate(R"(
extern "C" __global__ void __launch_bounds__(192) k(float *out)
{
    __shared__ float tile[1000];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1] + expf(tile[threadIdx.x ^ 2]);
}
)"),
                                 *m_compiler);
    ASSERT_TRUE(outcome && outcome->isBuilt) << (outcome ? textOf(*outcome) : outcome.error().text());
    const auto said = resourcesFromLog(outcome->log);
    const auto stands = cubinResources(outcome->modules.at("kernel.cu").cubin);
    ASSERT_EQ(said.count("k"), 1u) << outcome->log;
    ASSERT_EQ(stands.count("k"), 1u);
    EXPECT_EQ(said.at("k").staticSharedBytes, 4000);
    EXPECT_TRUE(said.at("k").registers);
    EXPECT_EQ(said.at("k").registers, stands.at("k").registers);
    EXPECT_GT(said.at("k").assemblySeconds.value_or(0.0), 0.0);
    EXPECT_TRUE(stands.at("k").constantBytes && stands.at("k").codeBytes);
    EXPECT_EQ(stands.at("k").maxThreads, 192);
    EXPECT_EQ(said.at("k").stackBytes, stands.at("k").stackBytes);
    EXPECT_EQ(said.at("k").barriers, 1);
}

TEST_F(CudaCompilerTest, spillsAreCounted)
{
    const auto outcome = compile(candidate(R"(
extern "C" __global__ void __launch_bounds__(1024, 2) k(float *out)
{
    float a[64];
#pragma unroll
    for (int i = 0; i < 64; ++i)
        a[i] = out[threadIdx.x * 64 + i];
    for (int turn = 0; turn < 10; ++turn) {
#pragma unroll
        for (int i = 0; i < 64; ++i)
            a[i] = a[i] * a[(i * 7 + 3) % 64] + out[turn];
    }
#pragma unroll
    for (int i = 0; i < 64; ++i)
        out[threadIdx.x * 64 + i] = a[i];
}
)"),
                                 *m_compiler);
    ASSERT_TRUE(outcome && outcome->isBuilt) << (outcome ? textOf(*outcome) : outcome.error().text());
    const ResourceUse &use = outcome->modules.at("kernel.cu").kernels.at("k");
    EXPECT_GT(use.spillStoreBytes.value_or(0), 0) << outcome->log;
    EXPECT_GT(use.spillLoadBytes.value_or(0), 0) << outcome->log;
    EXPECT_LE(use.registers.value_or(999), 32);
    EXPECT_EQ(use.maxThreads, 1024);
}

TEST_F(CudaCompilerTest, anErrorHasItsLineAndColumnAndAMissingKernelItsStep)
{
    auto outcome = compile(
        candidate("#include \"heddle.cuh\"\nextern \"C\" __global__ void k(float *x)\n{\n    *x = y;\n}\n"),
        *m_compiler);
    ASSERT_TRUE(outcome) << outcome.error().text();
    EXPECT_FALSE(outcome->isBuilt);
    EXPECT_EQ(textOf(*outcome), "kernel.cu:4:10: error: identifier \"y\" is undefined\n") << outcome->log;
    outcome = compile(candidate("extern \"C\" __global__ void other(float *x) { *x = 1; }\n"), *m_compiler);
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->isBuilt);
    EXPECT_EQ(textOf(*outcome),
              "kernel.cu: error: there is no `extern \"C\" __global__ void k` in this file, which step 0 "
              "launches\n");
}

TEST_F(CudaCompilerTest, theCacheAnswersForTheSameBytesOnlyAndADamagedEntryIsMadeAnew)
{
    FileTree files = testing::vectorFiles("row_softmax", "cuda");
    const auto isCached = [&](const char *architecture,
                              const std::map<std::string, std::int64_t> &tunables = {}) {
        const auto outcome = compile(files, *m_compiler, architecture, tunables);
        EXPECT_TRUE(outcome && outcome->isBuilt);
        return outcome && outcome->isCached;
    };
    EXPECT_FALSE(isCached("sm_90"));
    EXPECT_TRUE(isCached("sm_90"));
    EXPECT_FALSE(isCached("sm_80"));
    EXPECT_FALSE(isCached("sm_90", {{"BLOCK", 256}}));
    EXPECT_TRUE(isCached("sm_90", {{"BLOCK", 128}})) << "the default, named";
    files["kernel.cu"] += "// another byte\n";
    EXPECT_FALSE(isCached("sm_90"));
    files["helper.cuh"] = "// a header that nobody includes counts: who knows what includes what\n";
    EXPECT_FALSE(isCached("sm_90"));
    const auto known = compile(files, *m_compiler);
    ASSERT_TRUE(known && known->isCached);
    const fs::path entry = ArtefactCache(m_folder->path() / "cubins").pathOf(known->key);
    ASSERT_TRUE(fs::exists(entry));
    fs::resize_file(entry, fs::file_size(entry) / 2);
    const auto again = compile(files, *m_compiler);
    ASSERT_TRUE(again && again->isBuilt);
    EXPECT_FALSE(again->isCached);
    EXPECT_TRUE(again->modules.at("kernel.cu").cubin == known->modules.at("kernel.cu").cubin)
        << "equal sources give equal bytes, wherever they were compiled";
}

TEST_F(CudaCompilerTest, anArchitectureThatThisNvrtcDoesNotKnowIsRefusedWithThoseThatItDoes)
{
    for (const char *name : {"sm_35", "sm_998"}) {
        const auto outcome = compile(testing::vectorFiles("bias_gelu", "cuda"), *m_compiler, name);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code(), Code::InvalidInput);
        EXPECT_NE(outcome.error().message().find(name), std::string::npos);
        EXPECT_NE(outcome.error().next().find("sm_90"), std::string::npos);
    }
    const auto unknown =
        compile(testing::vectorFiles("bias_gelu", "cuda"), *m_compiler, "sm_90", {{"BLOCK", 7}});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().where(), "tunables.BLOCK");
}

TEST_F(CudaCompilerTest, anIncludeOfAFileOfThePersonDoesNotPrintIt)
{
    const fs::path secret = m_folder->path() / "secret.txt";
    std::ofstream(secret) << "the_secret_word here\n";
    fs::permissions(secret, fs::perms::owner_read | fs::perms::others_read | fs::perms::owner_write);
    for (const std::string &path :
         {std::string("/etc/passwd"), std::string("/etc/shadow"), secret.string()}) {
        const auto outcome =
            compile(candidate("#include \"" + path + "\"\nextern \"C\" __global__ void k(float *) {}\n"),
                    *m_compiler);
        ASSERT_TRUE(outcome) << outcome.error().text();
        EXPECT_FALSE(outcome->isBuilt) << path;
        const std::string all = outcome->log + textOf(*outcome);
        EXPECT_EQ(all.find("root"), std::string::npos) << all;
        EXPECT_EQ(all.find("the_secret_word"), std::string::npos) << all;
        EXPECT_NE(textOf(*outcome).find("kernel.cu:1"), std::string::npos) << all;
    }
}

TEST_F(CudaCompilerTest, aSourceThatTakesAllTimeOrMemoryCostsOneChildAndIsAMessage)
{
    // Each instantiation needs two others, none of them twice: 2^30 in all.
    const std::string bomb = R"(
template<int A, int B> struct Wide
{
    static __device__ int run() { return Wide<A * 2, B - 1>::run() + Wide<A * 2 + 1, B - 1>::run(); }
};
template<int A> struct Wide<A, 0>
{
    static __device__ int run() { return A; }
};
extern "C" __global__ void k(float *out) { out[0] = Wide<1, 30>::run(); }
)";
    auto limited =
        make(cudaPlacesHere(), {.time = std::chrono::seconds(4), .memoryBytes = std::uint64_t{600} << 20});
    ASSERT_TRUE(limited) << limited.error().text();
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = compile(candidate(bomb), *limited);
    ASSERT_TRUE(outcome) << outcome.error().text();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    EXPECT_FALSE(outcome->isBuilt);
    EXPECT_NE(textOf(*outcome).find("kernel.cu: error: the CUDA compiler reached its limit of"),
              std::string::npos)
        << textOf(*outcome) << outcome->log.substr(0, 500);
    // And the next one is compiled as if nothing had been.
    const auto next = compile(testing::vectorFiles("bias_gelu", "cuda"), *limited);
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_TRUE(next->isBuilt);
}

TEST_F(CudaCompilerTest, theMachineCodeIsReadWithTheLinesThatItComesFrom)
{
    const auto disassembler =
        Disassembler::create(cudaPlacesHere().nvdisasm, sandboxLauncher(*s_spawner, {.logBytes = 16u << 20}));
    if (!disassembler)
        GTEST_SKIP() << disassembler.error().text();
    const auto outcome = compile(testing::vectorFiles("row_softmax", "cuda"), *m_compiler, "sm_80");
    ASSERT_TRUE(outcome && outcome->isBuilt);
    const auto kernels =
        disassembler->disassemble(outcome->modules.at("kernel.cu").cubin, {"kernel.cu", "heddle.cuh"});
    ASSERT_TRUE(kernels) << kernels.error().text();
    ASSERT_EQ(kernels->size(), 1u);
    EXPECT_EQ((*kernels)[0].name, "row_softmax");
    std::uint32_t next = 0;
    std::set<std::pair<std::string, int>> places;
    bool hasBarrier = false;
    for (const SassLine &line : (*kernels)[0].lines) {
        if (!line.offset)
            continue;
        EXPECT_EQ(*line.offset, next) << line.text;
        next = *line.offset + 16;
        places.insert({line.file, line.line});
        hasBarrier = hasBarrier || line.text.find("BAR.SYNC") != std::string::npos;
    }
    EXPECT_EQ(next, outcome->modules.at("kernel.cu").kernels.at("row_softmax").codeBytes);
    EXPECT_TRUE(hasBarrier);
    // Its loop over columns, and the reduction in the header.
    EXPECT_EQ(places.count({"kernel.cu", 12}), 1u);
    EXPECT_TRUE(
        std::any_of(places.begin(), places.end(), [](const auto &at) { return at.first == "heddle.cuh"; }));
    const auto nonsense = disassembler->disassemble("this is no cubin", {});
    ASSERT_FALSE(nonsense);
    EXPECT_NE(nonsense.error().next().find("HEDDLE_NVDISASM"), std::string::npos);
}

TEST_F(CudaCompilerTest, everyNvrtcThatIsHereWorksInTheSandboxWithItsHeaders)
{
    const CudaPlaces here = cudaPlacesHere();
    for (const fs::path &library : here.nvrtc) {
        const auto compiler = make({.nvrtc = {library}, .nvdisasm = {}, .cupti = {}}, {});
        ASSERT_TRUE(compiler) << library << ": " << compiler.error().text();
        EXPECT_EQ(compiler->library(), library);
        std::printf("  NVRTC %s, %s\n", compiler->version().c_str(), library.c_str());
        const auto plain = compile(testing::vectorFiles("bias_gelu", "cuda"), *compiler);
        ASSERT_TRUE(plain && plain->isBuilt) << library << (plain ? textOf(*plain) : plain.error().text());
        EXPECT_FALSE(plain->isCached) << "what another NVRTC made is not taken";
        if (cudaIncludeFolders(library).empty())
            continue;
        const auto half = compile(candidate("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
                                            "extern \"C\" __global__ void k(float *out)\n{\n"
                                            "    out[0] = __half2float(__float2half(out[1])) + "
                                            "__bfloat162float(__float2bfloat16(out[2]));\n}\n"),
                                  *compiler);
        ASSERT_TRUE(half) << half.error().text();
        EXPECT_TRUE(half->isBuilt) << library << textOf(*half);
    }
}

TEST_F(CudaCompilerTest, withoutALibraryOrWithOneThatIsNoneTheErrorSaysHowToGetOne)
{
    const fs::path text = m_folder->path() / "libnvrtc.so";
    std::ofstream(text) << "no library\n";
    for (const CudaPlaces &places :
         {CudaPlaces{}, CudaPlaces{.nvrtc = {"/nowhere/libnvrtc.so"}, .nvdisasm = {}, .cupti = {}},
          CudaPlaces{.nvrtc = {text}, .nvdisasm = {}, .cupti = {}}}) {
        const auto compiler = make(places, {});
        ASSERT_FALSE(compiler);
        EXPECT_EQ(compiler.error().code(), Code::Environment) << compiler.error().text();
        EXPECT_NE(compiler.error().next().find("nvidia-cuda-nvrtc"), std::string::npos)
            << compiler.error().text();
    }
}

} // namespace
} // namespace heddle
