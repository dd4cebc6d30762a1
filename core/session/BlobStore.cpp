// SPDX-License-Identifier: Apache-2.0
#include "core/session/BlobStore.h"

#include "core/base/Digest.h"
#include "core/base/Fd.h"
#include "core/json/Json.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle {

namespace fs = std::filesystem;

namespace {

Error systemError(const char *what, const fs::path &path)
{
    return Error(Code::Io, std::string(what) + ": " + std::strerror(errno), path.string(),
                 errno == ENOSPC ? "free some disk space" : "");
}

bool isDigest(std::string_view text)
{
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

Result<fs::path> pathOf(const fs::path &folder, const std::string &digest)
{
    if (!isDigest(digest))
        return Error(Code::InvalidInput, "this is not a digest of 64 hexadecimal digits",
                     digest.substr(0, 80));
    return folder / digest.substr(0, 2) / digest.substr(2);
}

bool hasSize(const fs::path &path, std::size_t size)
{
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)
        && static_cast<std::size_t>(info.st_size) == size;
}

/// Writes a file that has no name until it is complete, so that a killed writer leaves nothing. File
/// systems without such files (NFS) get a named temporary and a rename.
Result<void> placeFile(const fs::path &path, std::string_view bytes)
{
    HEDDLE_CHECK_OK(makeFolder(path.parent_path()));
    const Fd file(::open(path.parent_path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644));
    if (!file.isOpen())
        return writeFileAtomically(path, bytes);
    std::string_view rest = bytes;
    while (!rest.empty()) {
        const ssize_t count = ::write(file.value(), rest.data(), rest.size());
        if (count < 0 && errno != EINTR)
            return systemError("cannot write the file", path);
        rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    if (::fsync(file.value()) != 0)
        return systemError("cannot flush the file", path);
    const std::string self = "/proc/self/fd/" + std::to_string(file.value());
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        // Either another process put the same content first, or what lies there is damaged.
        if (errno == EEXIST && hasSize(path, bytes.size()))
            return {};
        return writeFileAtomically(path, bytes);
    }
    const Fd folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.isOpen() || ::fsync(folder.value()) != 0)
        return systemError("cannot flush the folder", path.parent_path());
    return {};
}

bool isPlainUtf8(const std::string &name)
{
    const bool hasControl = std::any_of(
        name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (hasControl)
        return false;
    // compactText() replaces what is not UTF-8, so text that survives it is UTF-8.
    const auto back = parseJson(compactText(Json(name)), "name");
    return back && back->is_string() && back->get_ref<const std::string &>() == name;
}

} // namespace

Result<std::string> BlobStore::putBlob(std::string_view bytes) const
{
    const std::string digest = sha256Hex(bytes);
    HEDDLE_TRY(const fs::path path, pathOf(m_folder / "blobs", digest));
    if (!hasSize(path, bytes.size()))
        HEDDLE_CHECK_OK(placeFile(path, bytes));
    return digest;
}

Result<std::string> BlobStore::blob(const std::string &digest) const
{
    HEDDLE_TRY(const fs::path path, pathOf(m_folder / "blobs", digest));
    HEDDLE_TRY(std::string bytes, readFile(path));
    if (sha256Hex(bytes) != digest)
        return Error(Code::Io,
                     "this stored file was changed or damaged; its content no longer matches its name",
                     path.string(), "restore it from a backup");
    return bytes;
}

Result<std::string> BlobStore::putTree(const FileTree &tree) const
{
    Json names = Json::object();
    for (const auto &[name, bytes] : tree) {
        if (!isSafeRelativePath(name))
            return Error(Code::InvalidInput, "this file name would leave its folder", name);
        if (!isPlainUtf8(name))
            return Error(Code::InvalidInput, "this file name has control characters or is not UTF-8", name);
        HEDDLE_TRY(names[name], putBlob(bytes));
    }
    const std::string digest = treeDigest(tree);
    HEDDLE_TRY(const fs::path path, pathOf(m_folder / "trees", digest));
    const std::string text = prettyText(names) + '\n';
    if (!hasSize(path, text.size()))
        HEDDLE_CHECK_OK(placeFile(path, text));
    return digest;
}

Result<FileTree> BlobStore::tree(const std::string &digest) const
{
    HEDDLE_TRY(const fs::path path, pathOf(m_folder / "trees", digest));
    HEDDLE_TRY(const std::string text, readFile(path));
    HEDDLE_TRY(const Json names, parseJson(text, path.string()));
    const Error damaged(Code::Io, "this stored tree was changed or damaged", path.string(),
                        "restore it from a backup");
    if (!names.is_object())
        return damaged;
    FileTree tree;
    for (const auto &[name, value] : names.items()) {
        if (!value.is_string() || !isSafeRelativePath(name))
            return damaged;
        HEDDLE_TRY(tree[name], blob(value.get<std::string>()));
    }
    if (treeDigest(tree) != digest)
        return damaged;
    return tree;
}

} // namespace heddle
