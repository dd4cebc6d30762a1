// SPDX-License-Identifier: Apache-2.0
#include "core/diff/TreeMerge.h"

#include <optional>
#include <set>

namespace heddle {

namespace {

using Content = std::optional<std::string>;

Content contentOf(const FileTree &tree, const std::string &name)
{
    const auto found = tree.find(name);
    return found == tree.end() ? Content() : Content(found->second);
}

void mergeFile(TreeMerge &merge, const std::string &name, const Content &base, const Content &mine,
               const Content &theirs)
{
    const auto keep = [&](const Content &content) {
        if (content)
            merge.tree[name] = *content;
    };
    if (mine == base || mine == theirs)
        return keep(theirs);
    if (theirs == base)
        return keep(mine);
    if (!base) {
        merge.conflicts.push_back({name, "both sides added this file, with different content", {}});
        return;
    }
    if (!mine || !theirs) {
        merge.conflicts.push_back({name,
                                   mine ? "the proposal removes this file, which was changed meanwhile"
                                        : "the proposal changes this file, which was removed meanwhile",
                                   {}});
        return;
    }
    MergeResult result = mergeText(*base, *mine, *theirs);
    if (result.isClean())
        merge.tree[name] = std::move(result.text);
    else
        merge.conflicts.push_back(
            {name, "both sides changed the same lines differently", std::move(result.conflicts)});
}

} // namespace

TreeMerge mergeTrees(const FileTree &base, const FileTree &mine, const FileTree &theirs)
{
    std::set<std::string> names;
    for (const FileTree *tree : {&base, &mine, &theirs})
        for (const auto &[name, bytes] : *tree)
            names.insert(name);
    TreeMerge merge;
    for (const std::string &name : names)
        mergeFile(merge, name, contentOf(base, name), contentOf(mine, name), contentOf(theirs, name));
    return merge;
}

} // namespace heddle
