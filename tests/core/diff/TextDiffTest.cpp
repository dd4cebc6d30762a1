// SPDX-License-Identifier: Apache-2.0
#include "core/diff/TextDiff.h"

#include <gtest/gtest.h>

namespace heddle {

namespace {

const char *const Before = R"(#include <math.h>

extern "C" void scale(const float *x, float *y, long n)
{
    for (long i = 0; i < n; ++i)
        y[i] = x[i] * 2.0f;
}

// one
// two
// three
// four
// five

extern "C" void shift(const float *x, float *y, long n)
{
    for (long i = 0; i < n; ++i)
        y[i] = x[i] + 1.0f;
}
)";

const char *const After = R"(#include <math.h>
#include <omp.h>

extern "C" void scale(const float *x, float *y, long n)
{
#pragma omp parallel for
    for (long i = 0; i < n; ++i)
        y[i] = x[i] * 2.0f;
}

// one
// two
// three
// four
// five

extern "C" void shift(const float *x, float *y, long n)
{
    for (long i = 0; i < n; ++i)
        y[i] = x[i] + 3.0f;
}
)";

const char *const Golden = R"(@@ -1,7 +1,9 @@
 #include <math.h>
+#include <omp.h>
)"
                           " \n"
                           R"( extern "C" void scale(const float *x, float *y, long n)
 {
+#pragma omp parallel for
     for (long i = 0; i < n; ++i)
         y[i] = x[i] * 2.0f;
 }
@@ -15,5 +17,5 @@
 extern "C" void shift(const float *x, float *y, long n)
 {
     for (long i = 0; i < n; ++i)
-        y[i] = x[i] + 1.0f;
+        y[i] = x[i] + 3.0f;
 }
)";

TEST(TextDiff, HunksReadAsAPersonWouldCutThem) { EXPECT_EQ(unifiedText(diffText(Before, After)), Golden); }

TEST(TextDiff, HunksAreCountedFromZeroAndTakenAlone)
{
    const auto hunks = diffText(Before, After);
    ASSERT_EQ(hunks.size(), 2u);
    EXPECT_EQ(hunks[0].index, 0);
    EXPECT_EQ(hunks[1].index, 1);
    const auto second = applyHunks(Before, After, {1});
    ASSERT_TRUE(second);
    EXPECT_NE(second->find("3.0f"), std::string::npos);
    EXPECT_EQ(second->find("omp"), std::string::npos);
    // What is left is the other hunk, now with index 0.
    EXPECT_EQ(diffText(*second, After).size(), 1u);
}

TEST(TextDiff, AHunkThatIsNotThereIsAnError)
{
    for (const int index : {-1, 2, 1000}) {
        const auto text = applyHunks(Before, After, {0, index});
        ASSERT_FALSE(text);
        EXPECT_EQ(text.error().code(), Code::InvalidInput);
    }
}

TEST(TextDiff, LinesKnowTheirNumbersAndWhatChangedWithin)
{
    const auto hunks = diffText("a\nlet b = 1;\nc\n", "a\nlet b = 2;\nc\n");
    ASSERT_EQ(hunks.size(), 1u);
    ASSERT_EQ(hunks[0].lines.size(), 4u);
    const DiffLine &removed = hunks[0].lines[1];
    const DiffLine &added = hunks[0].lines[2];
    EXPECT_EQ(removed.kind, DiffLineKind::Removed);
    EXPECT_EQ(removed.beforeLine, 1);
    EXPECT_EQ(removed.afterLine, -1);
    EXPECT_EQ(added.afterLine, 1);
    EXPECT_EQ(added.marks, (std::vector<Range>{{8, 1}}));
}

TEST(TextDiff, AMissingFinalNewlineIsShownAndKept)
{
    const auto hunks = diffText("a\nb", "a\nb\n");
    EXPECT_EQ(unifiedText(hunks), "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
    EXPECT_EQ(*applyHunks("a\nb", "a\nb\n", {0}), "a\nb\n");
    EXPECT_EQ(*applyHunks("a\nb\n", "a\nb", {0}), "a\nb");
}

TEST(TextDiff, LineEndsAndMarksAreBytesLikeOthers)
{
    const std::string a = "\xEF\xBB\xBFone\r\ntwo\r\nthree\r\n";
    const std::string b = "\xEF\xBB\xBFone\r\n2\r\nthree\r\n";
    EXPECT_EQ(*applyHunks(a, b, {0}), b);
    EXPECT_EQ(diffText("a\n", "a\r\n").size(), 1u);
}

TEST(TextDiff, EmptyTextsAreTexts)
{
    EXPECT_TRUE(diffText("", "").empty());
    EXPECT_EQ(unifiedText(diffText("", "a\n")), "@@ -0,0 +1,1 @@\n+a\n");
    EXPECT_EQ(unifiedText(diffText("a\n", "")), "@@ -1,1 +0,0 @@\n-a\n");
}

} // namespace

} // namespace heddle
