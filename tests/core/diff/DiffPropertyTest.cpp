// SPDX-License-Identifier: Apache-2.0
#include "RandomText.h"

#include "core/diff/Merge.h"
#include "core/diff/TextDiff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <numeric>

namespace heddle::test {

namespace {

std::vector<int> allOf(const std::vector<Hunk> &hunks)
{
    std::vector<int> indices(hunks.size());
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
}

/// Length of the longest common subsequence, by the textbook table.
int commonLength(const std::vector<int> &a, const std::vector<int> &b)
{
    std::vector<std::vector<int>> table(a.size() + 1, std::vector<int>(b.size() + 1, 0));
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j)
            table[i][j] =
                a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
    return table[a.size()][b.size()];
}

/// Checks that the changes are ordered, apart, and that everything outside them is equal.
void expectValid(const std::vector<int> &a, const std::vector<int> &b, const std::vector<Change> &changes)
{
    int x = 0;
    int y = 0;
    for (const Change &change : changes) {
        ASSERT_GT(change.before.count + change.after.count, 0);
        ASSERT_TRUE(&change == &changes.front() || change.before.start > x) << "changes touch";
        ASSERT_EQ(change.before.start - x, change.after.start - y);
        for (; x < change.before.start; ++x, ++y)
            ASSERT_EQ(a[static_cast<std::size_t>(x)], b[static_cast<std::size_t>(y)]);
        x = change.before.end();
        y = change.after.end();
    }
    ASSERT_EQ(a.size() - static_cast<std::size_t>(x), b.size() - static_cast<std::size_t>(y));
    for (; static_cast<std::size_t>(x) < a.size(); ++x, ++y)
        ASSERT_EQ(a[static_cast<std::size_t>(x)], b[static_cast<std::size_t>(y)]);
}

TEST(DiffProperty, ApplyingAllHunksGivesTheNewTextAndNoneTheOld)
{
    for (unsigned seed = 1; seed <= 400; ++seed) {
        RandomText random(seed);
        const int variety = 1 + random.pick(40);
        const std::string a = random.text(random.pick(60), variety);
        const std::string b =
            seed % 5 == 0 ? random.text(random.pick(60), variety) : random.edited(a, random.pick(8), variety);
        const auto hunks = diffText(a, b);
        ASSERT_EQ(hunks.empty(), a == b) << "seed " << seed;
        ASSERT_EQ(*applyHunks(a, b, allOf(hunks)), b) << "seed " << seed;
        ASSERT_EQ(*applyHunks(a, b, {}), a) << "seed " << seed;
    }
}

TEST(DiffProperty, TakingHunksOneAfterTheOtherEndsAtTheNewText)
{
    for (unsigned seed = 1; seed <= 100; ++seed) {
        RandomText random(seed);
        std::string a = random.text(80, 60);
        const std::string b = random.edited(a, 6, 60);
        for (int rest = static_cast<int>(diffText(a, b).size()); rest > 0; --rest) {
            a = *applyHunks(a, b, {random.pick(static_cast<int>(diffText(a, b).size()))});
            if (a == b)
                break;
        }
        ASSERT_EQ(a, b) << "seed " << seed;
    }
}

TEST(DiffProperty, SequencesAreComparedCorrectly)
{
    for (unsigned seed = 1; seed <= 600; ++seed) {
        RandomText random(seed);
        const int variety = 1 + random.pick(12);
        std::vector<int> a(static_cast<std::size_t>(random.pick(40)));
        std::vector<int> b(static_cast<std::size_t>(random.pick(40)));
        for (auto *side : {&a, &b})
            for (int &item : *side)
                item = random.pick(variety);
        ASSERT_NO_FATAL_FAILURE(expectValid(a, b, diffSequences(a, b))) << "seed " << seed;
    }
}

TEST(DiffProperty, WithFewUniqueItemsTheScriptsAreHardlyLongerThanTheShortest)
{
    int keptInAll = 0;
    int possibleInAll = 0;
    for (unsigned seed = 1; seed <= 300; ++seed) {
        RandomText random(seed);
        std::vector<int> a(static_cast<std::size_t>(2 * (1 + random.pick(15))));
        std::vector<int> b(static_cast<std::size_t>(2 * (1 + random.pick(15))));
        // Two symbols, repeated: hardly a box has an item that occurs once, so Myers does the work.
        for (auto *side : {&a, &b})
            for (int &item : *side)
                item = random.pick(2);
        std::vector<int> doubledA;
        std::vector<int> doubledB;
        for (const int item : a)
            doubledA.insert(doubledA.end(), {item, item});
        for (const int item : b)
            doubledB.insert(doubledB.end(), {item, item});
        int kept = static_cast<int>(doubledA.size());
        for (const Change &change : diffSequences(doubledA, doubledB))
            kept -= change.before.count;
        const int possible = commonLength(doubledA, doubledB);
        ASSERT_LE(kept, possible) << "seed " << seed;
        keptInAll += kept;
        possibleInAll += possible;
    }
    // Patience anchors in small boxes cost a little; a broken search for the middle would cost much.
    EXPECT_GE(keptInAll, 0.97 * possibleInAll) << keptInAll << " of " << possibleInAll;
    std::printf("    kept %d of %d\n", keptInAll, possibleInAll);
}

TEST(DiffProperty, TwentyThousandLinesTakeMillisecondsWhateverIsInThem)
{
    constexpr int Lines = 20000;
    const std::vector<
        std::pair<const char *, std::function<std::pair<std::string, std::string>(RandomText &)>>>
        cases = {
            {"few edits",
             [](RandomText &random) {
                 const std::string a = random.text(Lines, 100000);
                 return std::pair(a, random.edited(a, 50, 100000));
             }},
            {"nothing in common",
             [](RandomText &) {
                 std::string a;
                 std::string b;
                 for (int i = 0; i < Lines; ++i) {
                     a += "a" + std::to_string(i) + '\n';
                     b += "b" + std::to_string(i) + '\n';
                 }
                 return std::pair(a, b);
             }},
            {"reversed",
             [](RandomText &) {
                 std::string a;
                 std::string b;
                 for (int i = 0; i < Lines; ++i) {
                     a += std::to_string(i) + '\n';
                     b += std::to_string(Lines - i) + '\n';
                 }
                 return std::pair(a, b);
             }},
            {"random of two lines",
             [](RandomText &random) { return std::pair(random.text(Lines, 2), random.text(Lines, 2)); }},
            {"random of a hundred lines",
             [](RandomText &random) { return std::pair(random.text(Lines, 100), random.text(Lines, 100)); }},
            {"one line over and over",
             [](RandomText &) {
                 std::string a;
                 for (int i = 0; i < Lines; ++i)
                     a += "x\n";
                 return std::pair(a, a.substr(0, a.size() / 2) + "y\n" + a);
             }},
        };
    for (const auto &[name, make] : cases) {
        RandomText random(7);
        const auto [a, b] = make(random);
        const std::clock_t start = std::clock();
        const auto hunks = diffText(a, b);
        const double milliseconds = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        ::testing::Test::RecordProperty(name, std::to_string(milliseconds));
        std::printf("    %-28s %7.1f ms, %zu hunks\n", name, milliseconds, hunks.size());
        // The bar is 200 ms in an optimised build; debug and sanitizer builds get slack.
        EXPECT_LT(milliseconds, 4000) << name;
        ASSERT_EQ(*applyHunks(a, b, allOf(hunks)), b) << name;
    }
}

TEST(MergeProperty, WithoutAConcurrentChangeTheMergeIsTheOtherSide)
{
    for (unsigned seed = 1; seed <= 200; ++seed) {
        RandomText random(seed);
        const std::string base = random.text(random.pick(50), 30);
        const std::string other = random.edited(base, random.pick(8), 30);
        ASSERT_EQ(mergeText(base, base, other).text, other);
        ASSERT_EQ(mergeText(base, other, base).text, other);
        ASSERT_EQ(mergeText(base, other, other).text, other);
        ASSERT_TRUE(mergeText(base, other, other).isClean());
    }
}

TEST(MergeProperty, ChangesInSeparatePartsBothArrive)
{
    for (unsigned seed = 1; seed <= 200; ++seed) {
        RandomText random(seed);
        std::string fence;
        for (int i = 0; i < 5; ++i)
            fence += "fence " + std::to_string(i) + '\n';
        const std::string head = random.text(20, 1000) + '\n';
        const std::string tail = random.text(20, 1000);
        const std::string newHead = random.edited(head, 3, 1000);
        const std::string newTail = random.edited(tail, 3, 1000);
        if (newHead.empty() || newHead.back() != '\n')
            continue;
        const auto merged = mergeText(head + fence + tail, newHead + fence + tail, head + fence + newTail);
        ASSERT_TRUE(merged.isClean()) << "seed " << seed;
        ASSERT_EQ(merged.text, newHead + fence + newTail) << "seed " << seed;
    }
}

TEST(MergeProperty, TheSidesAreAlikeButForTheirNames)
{
    for (unsigned seed = 1; seed <= 200; ++seed) {
        RandomText random(seed);
        // One manner of line ends: where the sides differ in it, mine decides and the sides aren't alike.
        std::string base;
        for (int i = 0; i < 40; ++i)
            base += "line " + std::to_string(random.pick(25)) + "\n";
        const auto edit = [&](std::string text) {
            text = random.edited(text, random.pick(5), 25);
            text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
            return text;
        };
        const std::string a = edit(base);
        const std::string b = edit(base);
        const auto one = mergeText(base, a, b);
        const auto two = mergeText(base, b, a);
        ASSERT_EQ(one.text, two.text) << "seed " << seed;
        ASSERT_EQ(one.conflicts.size(), two.conflicts.size()) << "seed " << seed;
        for (std::size_t i = 0; i < one.conflicts.size(); ++i) {
            ASSERT_EQ(one.conflicts[i].base, two.conflicts[i].base);
            ASSERT_EQ(one.conflicts[i].mine, two.conflicts[i].theirs);
        }
    }
}

TEST(MergeProperty, UndoingAnAcceptedChangeKeepsLaterTypingElsewhere)
{
    for (unsigned seed = 1; seed <= 100; ++seed) {
        RandomText random(seed);
        const std::string before = random.text(30, 1000) + '\n';
        const std::string accepted = random.edited(before, 3, 1000);
        const std::string typed = "# typed later\nx = 1\n";
        if (accepted.empty() || accepted.back() != '\n')
            continue;
        // Undo is the merge with the roles turned round: the base is what landed.
        const std::string rest = "a\nb\nc\nd\n";
        const auto undone = mergeText(accepted + rest, accepted + rest + typed, before + rest);
        ASSERT_TRUE(undone.isClean()) << "seed " << seed;
        ASSERT_EQ(undone.text, before + rest + typed);
    }
}

} // namespace

} // namespace heddle::test
