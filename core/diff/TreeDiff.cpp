// SPDX-License-Identifier: Apache-2.0
#include "core/diff/TreeDiff.h"

#include <map>
#include <set>

namespace heddle {

namespace {

const std::string *find(const FileTree &tree, const std::string &name)
{
    const auto found = tree.find(name);
    return found == tree.end() ? nullptr : &found->second;
}

std::set<std::string> changedNames(const FileTree &before, const FileTree &after)
{
    std::set<std::string> names;
    for (const auto &[name, bytes] : before) {
        const std::string *other = find(after, name);
        if (other == nullptr || *other != bytes)
            names.insert(name);
    }
    for (const auto &[name, bytes] : after)
        if (!before.contains(name))
            names.insert(name);
    return names;
}

void take(FileTree &tree, const std::string &name, const std::string *bytes)
{
    if (bytes == nullptr)
        tree.erase(name);
    else
        tree[name] = *bytes;
}

} // namespace

std::vector<FileDiff> diffTrees(const FileTree &before, const FileTree &after)
{
    std::vector<FileDiff> diffs;
    for (const std::string &name : changedNames(before, after)) {
        const std::string *left = find(before, name);
        const std::string *right = find(after, name);
        FileDiff diff;
        diff.name = name;
        diff.change = left == nullptr ? FileChange::Added
            : right == nullptr        ? FileChange::Removed
                                      : FileChange::Modified;
        const std::string &from = left != nullptr ? *left : std::string();
        const std::string &to = right != nullptr ? *right : std::string();
        diff.isBinary = from.find('\0') != std::string::npos || to.find('\0') != std::string::npos;
        diff.hunks = diffText(from, to);
        if (diff.hunks.empty())
            diff.hunks.emplace_back();
        diffs.push_back(std::move(diff));
    }
    return diffs;
}

Result<FileTree> applySelection(const FileTree &before, const FileTree &after, const TreeSelection &selection)
{
    if (selection.files.empty() && selection.hunks.empty())
        return after;
    const std::set<std::string> changed = changedNames(before, after);
    const auto requireChanged = [&](const std::string &name) -> Result<void> {
        if (changed.contains(name))
            return {};
        return Error(Code::InvalidInput, "this file is not part of the diff", name);
    };
    FileTree tree = before;
    std::map<std::string, std::vector<int>> hunks;
    for (const auto &[name, index] : selection.hunks)
        hunks[name].push_back(index);
    for (const auto &[name, indices] : hunks) {
        HEDDLE_CHECK_OK(requireChanged(name));
        const std::string *left = find(before, name);
        const std::string *right = find(after, name);
        if (left != nullptr && right != nullptr) {
            auto text = applyHunks(*left, *right, indices);
            if (!text)
                return text.error().wrapped("this selection of hunks doesn't fit the diff", name);
            tree[name] = *std::move(text);
            continue;
        }
        for (const int index : indices)
            if (index != 0)
                return Error(Code::InvalidInput, "a file that is added or removed has one hunk, number 0",
                             name);
        take(tree, name, right);
    }
    for (const std::string &name : selection.files) {
        HEDDLE_CHECK_OK(requireChanged(name));
        take(tree, name, find(after, name));
    }
    return tree;
}

} // namespace heddle
