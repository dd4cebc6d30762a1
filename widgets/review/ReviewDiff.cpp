// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/review/ReviewDiff.h"

#include "core/diff/TreeDiff.h"
#include "widgets/common/Text.h"

#include <string_view>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

/// As it is drawn: no line end, tabs as four blanks.
QString shown(std::string_view text)
{
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
        text.remove_suffix(1);
    return toText(text).replace(u'\t', u"    "_s);
}

ReviewLine lineOf(const DiffLine &source)
{
    ReviewLine line;
    line.kind = source.kind == DiffLineKind::Added ? ReviewLine::Kind::Added
        : source.kind == DiffLineKind::Removed     ? ReviewLine::Kind::Removed
                                                   : ReviewLine::Kind::Context;
    line.oldNumber = source.beforeLine + 1;
    line.newNumber = source.afterLine + 1;
    line.text = shown(source.text);
    for (const Range &mark : source.marks) {
        // Marks count bytes; the screen counts UTF-16 units of the text as shown.
        const std::string_view bytes = source.text;
        const auto start = static_cast<std::size_t>(mark.start);
        const int left = static_cast<int>(shown(bytes.substr(0, start)).size());
        const int width =
            static_cast<int>(shown(bytes.substr(start, static_cast<std::size_t>(mark.count))).size());
        line.changed.emplace_back(left, width);
    }
    return line;
}

} // namespace

std::vector<ReviewFile> reviewDiff(const FileTree &base, const FileTree &proposed)
{
    std::vector<ReviewFile> files;
    for (const FileDiff &diff : diffTrees(base, proposed)) {
        ReviewFile file{
            toText(diff.name), diff.change == FileChange::Added, diff.change == FileChange::Removed, {}};
        for (const Hunk &source : diff.hunks) {
            ReviewHunk hunk{file.name, source.index, {}, 0, 0};
            for (const DiffLine &line : source.lines) {
                if (diff.isBinary)
                    continue;
                hunk.lines.push_back(lineOf(line));
                hunk.added += line.kind == DiffLineKind::Added ? 1 : 0;
                hunk.removed += line.kind == DiffLineKind::Removed ? 1 : 0;
            }
            file.hunks.push_back(std::move(hunk));
        }
        files.push_back(std::move(file));
    }
    return files;
}

} // namespace heddle
