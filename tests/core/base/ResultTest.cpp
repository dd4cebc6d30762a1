// SPDX-License-Identifier: Apache-2.0
#include "core/base/Result.h"

#include <gtest/gtest.h>

using namespace heddle;

namespace {

Result<int> parsePositive(int value)
{
    if (value <= 0)
        return Error(Code::InvalidInput, "not positive");
    return value;
}

Result<int> doubled(int value)
{
    HEDDLE_TRY(const int checked, parsePositive(value));
    return checked * 2;
}

} // namespace

TEST(Result, tryPassesTheValueOnAndReturnsTheError)
{
    ASSERT_TRUE(doubled(4));
    EXPECT_EQ(*doubled(4), 8);
    ASSERT_FALSE(doubled(-1));
    EXPECT_EQ(doubled(-1).error().code(), Code::InvalidInput);
}

TEST(Error, everyCodeHasAWordThatNamesItAgain)
{
    for (int i = 0; i <= static_cast<int>(Code::Internal); ++i) {
        const auto code = static_cast<Code>(i);
        EXPECT_EQ(codeFromName(codeName(code)), code);
    }
}

TEST(Error, textShowsTheCauseBelowTheSentence)
{
    const Error inner(Code::Io, "disk full", "/x");
    EXPECT_EQ(inner.wrapped("cannot save").text(), "cannot save\n  because: /x: disk full");
}
