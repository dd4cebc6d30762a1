// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/HeadFiles.h"

namespace heddle {

namespace fs = std::filesystem;

namespace {

Result<FileTree> filesIn(const fs::path &folder)
{
    std::error_code code;
    if (!fs::is_directory(folder, code))
        return FileTree();
    return readTree(folder);
}

} // namespace

Result<HeadFiles> HeadFiles::read(const fs::path &folder, const FileTree &openBuffers)
{
    HeadFiles head{folder, {}, {}};
    HEDDLE_TRY(head.onDisk, filesIn(folder));
    head.present = head.onDisk;
    for (const auto &[name, text] : openBuffers)
        head.present[name] = text;
    return head;
}

Result<void> HeadFiles::replaceBy(const FileTree &wanted) const
{
    HEDDLE_CHECK_OK(makeFolder(folder));
    HEDDLE_TRY(const FileTree now, filesIn(folder));
    if (now != onDisk)
        return Error(Code::Conflict, "these files were changed at the same moment", folder.string(),
                     "nothing was written over; do it again");
    FileTree changed;
    for (const auto &[name, text] : wanted) {
        const auto old = now.find(name);
        if (old == now.end() || old->second != text)
            changed[name] = text;
    }
    HEDDLE_CHECK_OK(writeTree(folder, changed));
    for (const auto &[name, text] : now) {
        std::error_code code;
        if (wanted.count(name) == 0 && !fs::remove(folder / name, code) && code)
            return Error(Code::Io, "cannot remove the file: " + code.message(), (folder / name).string());
    }
    return {};
}

} // namespace heddle
