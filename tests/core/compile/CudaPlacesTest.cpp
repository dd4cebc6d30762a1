// SPDX-License-Identifier: Apache-2.0
#include "core/compile/CudaPlaces.h"

#include "core/base/File.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace heddle {
namespace {

namespace fs = std::filesystem;

class CudaPlacesTest : public ::testing::Test {
protected:
    CudaPlacesTest() : m_folder(*TempFolder::create("heddle-places-"))
    {
        for (const char *name : {"HEDDLE_NVRTC", "HEDDLE_NVDISASM", "HEDDLE_CUPTI"})
            ::unsetenv(name);
    }
    ~CudaPlacesTest() override
    {
        for (const char *name : {"HEDDLE_NVRTC", "HEDDLE_NVDISASM"})
            ::unsetenv(name);
    }

    fs::path write(const std::string &name) const
    {
        const fs::path path = m_folder.path() / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << "x";
        return fs::canonical(path);
    }
    static bool has(const std::vector<fs::path> &list, const fs::path &path)
    {
        return std::find(list.begin(), list.end(), path) != list.end();
    }

    TempFolder m_folder;
};

TEST_F(CudaPlacesTest, theWheelsOfBothCudaMajorsAndOfTritonAreFound)
{
    const fs::path site = m_folder.path() / "lib/python3.11/site-packages";
    const std::string root = "lib/python3.11/site-packages/";
    const fs::path thirteen = write(root + "nvidia/cu13/lib/libnvrtc.so.13");
    const fs::path builtins = write(root + "nvidia/cu13/lib/libnvrtc-builtins.so.13.2");
    const fs::path twelve = write(root + "nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    const fs::path fresh = write(root + "nvidia/cu13/bin/nvdisasm");
    const fs::path triton = write(root + "triton/backends/nvidia/bin/nvdisasm");
    const fs::path cupti = write(root + "nvidia/cu13/lib/libcupti.so.13");
    write("bin/python");
    EXPECT_EQ(sitePackagesOf(m_folder.path() / "bin/python").front(), site);
    const CudaPlaces places = findCudaPlaces({site});
    EXPECT_TRUE(has(places.nvrtc, thirteen));
    EXPECT_TRUE(has(places.nvrtc, twelve));
    EXPECT_FALSE(has(places.nvrtc, builtins)) << "NVRTC opens it by itself";
    EXPECT_TRUE(has(places.nvdisasm, fresh));
    EXPECT_TRUE(has(places.nvdisasm, triton));
    EXPECT_TRUE(has(places.cupti, cupti));
    const auto beside = filesBeside(thirteen, "libnvrtc");
    EXPECT_EQ(beside, (std::vector<fs::path>{builtins, thirteen}));
}

TEST_F(CudaPlacesTest, aLibraryThatTwoNamesLeadToIsThereOnce)
{
    const fs::path real = write("cuda/lib64/libnvrtc.so.13.0.48");
    fs::create_symlink(real, m_folder.path() / "cuda/lib64/libnvrtc.so.13");
    fs::create_symlink("libnvrtc.so.13", m_folder.path() / "cuda/lib64/libnvrtc.so");
    fs::create_directory_symlink("lib64", m_folder.path() / "cuda/lib");
    ::setenv("CUDA_HOME", (m_folder.path() / "cuda").c_str(), 1);
    const CudaPlaces places = findCudaPlaces({});
    ::unsetenv("CUDA_HOME");
    ASSERT_FALSE(places.nvrtc.empty());
    EXPECT_EQ(places.nvrtc.front(), real);
    EXPECT_EQ(std::count(places.nvrtc.begin(), places.nvrtc.end(), real), 1);
}

TEST_F(CudaPlacesTest, whatAVariableNamesIsTheOnlyOne)
{
    ::setenv("HEDDLE_NVRTC", "/nowhere/libnvrtc.so", 1);
    ::setenv("HEDDLE_NVDISASM", "/nowhere/nvdisasm", 1);
    const CudaPlaces places = findCudaPlaces({});
    EXPECT_EQ(places.nvrtc, std::vector<fs::path>{"/nowhere/libnvrtc.so"});
    EXPECT_EQ(places.nvdisasm, std::vector<fs::path>{"/nowhere/nvdisasm"});
}

TEST_F(CudaPlacesTest, headersAreThoseThatCameWithTheLibrary)
{
    const fs::path toolkit = write("cuda/lib64/libnvrtc.so.13");
    EXPECT_TRUE(cudaIncludeFolders(toolkit).empty());
    const fs::path include = write("cuda/include/cuda_fp16.h").parent_path();
    EXPECT_EQ(cudaIncludeFolders(toolkit), std::vector<fs::path>{include});
    fs::create_directories(include / "cccl");
    EXPECT_EQ(cudaIncludeFolders(toolkit), (std::vector<fs::path>{include, include / "cccl"}));
    // CUDA 12's wheels: one package for each library.
    const fs::path wheel = write("site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    const fs::path runtime = write("site/nvidia/cuda_runtime/include/cuda_fp16.h").parent_path();
    EXPECT_EQ(cudaIncludeFolders(wheel), std::vector<fs::path>{runtime});
}

TEST_F(CudaPlacesTest, aFileThatWasChangedIsAnotherOne)
{
    const fs::path file = write("libnvrtc.so");
    const std::string before = fileIdentity(file);
    EXPECT_NE(before.find(file.string()), std::string::npos);
    EXPECT_EQ(fileIdentity(file), before);
    std::ofstream(file) << "longer";
    EXPECT_NE(fileIdentity(file), before);
    EXPECT_EQ(fileIdentity("/nowhere"), "");
}

} // namespace
} // namespace heddle
