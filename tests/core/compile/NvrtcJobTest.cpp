// SPDX-License-Identifier: Apache-2.0
#include "core/compile/NvrtcJob.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

NvrtcAnswer sample()
{
    NvrtcAnswer answer{"/usr/lib/libnvrtc.so", "13.0", {75, 90, 121}, {}};
    answer.products["a.cu"] = {true,
                               std::string("\x7f"
                                           "ELF\0\n{}",
                                           8),
                               ".version 9.0\n", "ptxas info\n"};
    answer.products["b.cu"] = {false, "", "", "b.cu(1): error: no\n"};
    return answer;
}

TEST(NvrtcJob, anAnswerIsReadAsItWasWritten)
{
    const NvrtcAnswer answer = sample();
    const auto read = decodeAnswer(encodeAnswer(answer));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->library, answer.library);
    EXPECT_EQ(read->version, answer.version);
    EXPECT_EQ(read->architectures, answer.architectures);
    ASSERT_EQ(read->products.size(), 2u);
    EXPECT_EQ(read->products.at("a.cu").cubin, answer.products.at("a.cu").cubin);
    EXPECT_EQ(read->products.at("a.cu").ptx, answer.products.at("a.cu").ptx);
    EXPECT_TRUE(read->products.at("a.cu").isBuilt);
    EXPECT_FALSE(read->products.at("b.cu").isBuilt);
    EXPECT_EQ(read->products.at("b.cu").log, "b.cu(1): error: no\n");
}

TEST(NvrtcJob, anAnswerWhoseSizesDoNotFitIsRefused)
{
    const std::string good = encodeAnswer(sample());
    EXPECT_FALSE(decodeAnswer(""));
    EXPECT_FALSE(decodeAnswer("\n"));
    EXPECT_FALSE(decodeAnswer("no JSON\n"));
    EXPECT_FALSE(decodeAnswer("{\"products\": 3}\n"));
    EXPECT_FALSE(decodeAnswer(good + "x"));
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_FALSE(decodeAnswer(std::string_view(good).substr(0, size))) << size;
    for (const char *sizes :
         {"\"cubin\": -1, \"ptx\": 0, \"log\": 0", "\"cubin\": 9223372036854775807, \"ptx\": 0, \"log\": 0",
          "\"cubin\": 18446744073709551615, \"ptx\": 0, \"log\": 0", "\"cubin\": 1.5, \"ptx\": 0, \"log\": 0",
          "\"ptx\": 0, \"log\": 0", "\"cubin\": 0, \"ptx\": 0, \"log\": 0"}) {
        const auto read = decodeAnswer("{\"products\": [{\"source\": \"a\", \"built\": true, "
                                       + std::string(sizes) + "}]}\n");
        ASSERT_FALSE(read) << sizes;
        EXPECT_EQ(read.error().code(), Code::Protocol);
    }
}

TEST(NvrtcJob, aJobNamesSourcesBelowItsFolderOnly)
{
    const auto read = decodeJob(encodeJob({{"/l.so"}, {"sub/kernel.cu"}, {"--std=c++20"}}));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->libraries, std::vector<std::string>{"/l.so"});
    EXPECT_EQ(read->sources, std::vector<std::string>{"sub/kernel.cu"});
    EXPECT_EQ(read->options, std::vector<std::string>{"--std=c++20"});
    EXPECT_FALSE(decodeJob(encodeJob({{}, {"../../etc/passwd"}, {}})));
    EXPECT_FALSE(decodeJob("{"));
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
