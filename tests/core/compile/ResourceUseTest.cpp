// SPDX-License-Identifier: Apache-2.0
#include "core/compile/ResourceUse.h"

#include "core/compile/Cubin.h"

#include <gtest/gtest.h>

#include <random>

namespace heddle {
namespace {

std::string asText(const std::map<std::string, ResourceUse> &uses)
{
    std::string text;
    for (const auto &[name, use] : uses)
        text += name + ' ' + compactText(toJson(use)) + '\n';
    return text;
}

TEST(ResourceUse, whatPtxasSaysIsReadForEachKernel)
{
    const auto uses = resourcesFromLog(
        "ptxas info    : 0 bytes gmem, 8 bytes cmem[4]\n"
        "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
        "ptxas info    : Function properties for first\n"
        "ptxas         .     24 bytes stack frame, 96 bytes spill stores, 112 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 1 barriers, 24 bytes cumulative stack size, 4000 bytes "
        "smem, 536 bytes "
        "cmem[0], 16 bytes cmem[2]\n"
        "ptxas info    : Compile time = 2.500 ms\n"
        "ptxas info    : Compiling entry function '_Z6secondPf' for 'sm_90'\n"
        "ptxas info    : Function properties for _Z6secondPf\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 8 registers, used 0 barriers\n"
        "ptxas info    : Compile time = long\n"
        "ptxas info    : Function properties for helper\n"
        "ptxas         .     16 bytes stack frame, 12 bytes spill stores, 12 bytes spill loads\n");
    EXPECT_EQ(asText(uses),
              "_Z6secondPf "
              "{\"assembly_seconds\":null,\"barriers\":0,\"code_bytes\":null,\"constant_bytes\":null,\"max_"
              "threads\":null,"
              "\"registers\":8,"
              "\"shared_static_bytes\":0,\"spill_load_bytes\":0,\"spill_store_bytes\":0,\"stack_bytes\":0}\n"
              "first "
              "{\"assembly_seconds\":0.0025,\"barriers\":1,\"code_bytes\":null,\"constant_bytes\":536,\"max_"
              "threads\":null,"
              "\"registers\":32,"
              "\"shared_static_bytes\":4000,\"spill_load_bytes\":112,\"spill_store_bytes\":96,\"stack_"
              "bytes\":24}\n");
}

TEST(ResourceUse, theSpillsOfACalledFunctionAreNotThoseOfTheKernel)
{
    const auto uses = resourcesFromLog("ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
                                       "ptxas info    : Function properties for helper\n"
                                       "    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
                                       "ptxas info    : Function properties for k\n"
                                       "    0 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads\n"
                                       "ptxas info    : Used 24 registers, 360 bytes cmem[0]\n");
    ASSERT_EQ(uses.size(), 1u);
    EXPECT_EQ(uses.at("k").spillLoadBytes, 4);
    EXPECT_EQ(uses.at("k").stackBytes, 0);
}

TEST(ResourceUse, unknownIsNeverZero)
{
    EXPECT_TRUE(resourcesFromLog("").empty());
    EXPECT_TRUE(
        resourcesFromLog("Used 12 registers\n    0 bytes stack frame, 0 bytes spill stores\n").empty());
    const auto cut = resourcesFromLog("ptxas info    : Compiling entry function 'k' for 'sm_90'\n");
    EXPECT_EQ(asText(cut),
              "k "
              "{\"assembly_seconds\":null,\"barriers\":null,\"code_bytes\":null,\"constant_bytes\":null,"
              "\"max_threads\":null,"
              "\"registers\":null,"
              "\"shared_static_bytes\":null,\"spill_load_bytes\":null,\"spill_store_bytes\":null,\"stack_"
              "bytes\":null}\n");
    const auto odd = resourcesFromLog("ptxas info : Compiling entry function 'k' for 'sm_90'\n"
                                      "ptxas info : Function properties for k\n"
                                      "    many bytes stack frame, 99999999999999999999 bytes spill stores\n"
                                      "ptxas info : Used  registers, used some barriers\n");
    EXPECT_FALSE(odd.at("k").registers);
    EXPECT_FALSE(odd.at("k").stackBytes);
    EXPECT_FALSE(odd.at("k").spillStoreBytes);
}

TEST(ResourceUse, whatOneSourceDoesNotSayTheOtherFills)
{
    ResourceUse log{.registers = 16, .spillStoreBytes = 0};
    log.addFrom({.registers = 99, .staticSharedBytes = 64});
    EXPECT_EQ(log.registers, 16);
    EXPECT_EQ(log.staticSharedBytes, 64);
    EXPECT_EQ(log.spillStoreBytes, 0);
    EXPECT_FALSE(log.spillLoadBytes);
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
    EXPECT_TRUE(cubinResources(image).empty());
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
        std::string noise(64 + random() % 400, '\0');
        for (char &byte : noise)
            byte = static_cast<char>(random() % 3 == 0 ? random() : random() % 4);
        noise.replace(0, 4,
                      "\x7f"
                      "ELF");
        noise[58] = 64; // e_shentsize, so that sections are read
        noise[59] = 0;
        noise[60] = static_cast<char>(random() % 5);
        noise[61] = 0;
        std::uint64_t offset = random() % 128;
        std::memcpy(noise.data() + 40, &offset, sizeof offset);
        cubinKernels(noise);
        cubinResources(noise);
    }
}

} // namespace
} // namespace heddle
