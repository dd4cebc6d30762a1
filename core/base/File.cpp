// SPDX-License-Identifier: Apache-2.0
#include "core/base/File.h"

#include "core/base/Fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

Error systemError(const char *what, const fs::path &path)
{
    const int number = errno;
    return Error(number == ENOENT ? Code::NotFound : Code::Io,
                 std::string(what) + ": " + std::strerror(number), path.string());
}

Result<void> writeAll(int fd, std::string_view bytes, const fs::path &path)
{
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0) {
            if (errno == EINTR)
                continue;
            return systemError("cannot write the file", path);
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

fs::path xdgFolder(const char *variable, const char *fallback)
{
    if (const char *value = std::getenv(variable); value != nullptr && value[0] == '/')
        return fs::path(value) / "heddle";
    const char *home = std::getenv("HOME");
    return fs::path(home != nullptr ? home : "/tmp") / fallback / "heddle";
}

} // namespace

Result<std::string> readFile(const fs::path &path, std::uint64_t maxBytes)
{
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.isOpen())
        return systemError("cannot open the file", path);
    struct stat info{};
    if (::fstat(fd.value(), &info) != 0)
        return systemError("cannot read the file", path);
    if (S_ISDIR(info.st_mode))
        return Error(Code::InvalidInput, "this is a folder, a file was expected", path.string());
    std::string bytes;
    char chunk[65536];
    while (true) {
        const ssize_t count = ::read(fd.value(), chunk, sizeof chunk);
        if (count < 0) {
            if (errno == EINTR)
                continue;
            return systemError("cannot read the file", path);
        }
        if (count == 0)
            return bytes;
        bytes.append(chunk, static_cast<std::size_t>(count));
        if (bytes.size() > maxBytes)
            return Error(Code::InvalidInput, "the file is larger than " + std::to_string(maxBytes) + " bytes",
                         path.string());
    }
}

Result<void> writeFileAtomically(const fs::path &path, std::string_view bytes)
{
    // Hidden: if we are killed before the rename, readTree() must not take the half-written copy for somebody's file.
    std::string name = (path.parent_path() / ('.' + path.filename().string() + ".XXXXXX")).string();
    Fd fd(::mkostemp(name.data(), O_CLOEXEC));
    if (!fd.isOpen())
        return systemError("cannot create a file beside it", path);
    const auto fail = [&](Error error) -> Result<void> {
        ::unlink(name.c_str());
        return error;
    };
    struct stat old{};
    const mode_t mode = ::stat(path.c_str(), &old) == 0 ? (old.st_mode & 07777) : 0644;
    if (::fchmod(fd.value(), mode) != 0)
        return fail(systemError("cannot set its mode", path));
    if (auto written = writeAll(fd.value(), bytes, path); !written)
        return fail(std::move(written).error());
    if (::fsync(fd.value()) != 0)
        return fail(systemError("cannot flush the file", path));
    if (::rename(name.c_str(), path.c_str()) != 0)
        return fail(systemError("cannot replace the file", path));
    const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const Fd folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.isOpen())
        ::fsync(folder.value());
    return {};
}

Result<void> makeFolder(const fs::path &path)
{
    std::error_code code;
    fs::create_directories(path, code);
    if (code)
        return Error(Code::Io, "cannot create the folder: " + code.message(), path.string());
    return {};
}

bool isSafeRelativePath(std::string_view path)
{
    if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos)
        return false;
    while (true) {
        const std::size_t slash = path.find('/');
        const std::string_view part = path.substr(0, slash);
        if (part.empty() || part == "." || part == "..")
            return false;
        if (slash == std::string_view::npos)
            return true;
        path.remove_prefix(slash + 1);
    }
}

Result<FileTree> readTree(const fs::path &folder, std::uint64_t maxBytes)
{
    std::error_code code;
    if (!fs::is_directory(folder, code))
        return Error(Code::NotFound, "there is no such folder", folder.string());
    FileTree tree;
    std::uint64_t total = 0;
    fs::recursive_directory_iterator entry(folder, code);
    for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
        const std::string name = entry->path().filename().string();
        const bool isHidden = !name.empty() && name.front() == '.';
        if (isHidden || entry->is_symlink()) {
            if (entry->is_directory())
                entry.disable_recursion_pending();
            continue;
        }
        if (!entry->is_regular_file())
            continue;
        HEDDLE_TRY(std::string bytes, readFile(entry->path(), maxBytes));
        total += bytes.size();
        if (total > maxBytes)
            return Error(Code::InvalidInput,
                         "the folder holds more than " + std::to_string(maxBytes) + " bytes",
                         folder.string());
        tree.emplace(entry->path().lexically_relative(folder).generic_string(), std::move(bytes));
    }
    if (code)
        return Error(Code::Io, "cannot list the folder: " + code.message(), folder.string());
    return tree;
}

Result<void> writeTree(const fs::path &folder, const FileTree &tree)
{
    for (const auto &[name, bytes] : tree) {
        if (!isSafeRelativePath(name))
            return Error(Code::InvalidInput, "this file name would leave its folder", name);
        const fs::path path = folder / name;
        HEDDLE_CHECK_OK(makeFolder(path.parent_path()));
        HEDDLE_CHECK_OK(writeFileAtomically(path, bytes));
    }
    return {};
}

Result<TempFolder> TempFolder::create(std::string_view prefix)
{
    std::error_code code;
    const fs::path base = fs::temp_directory_path(code);
    std::string name = ((code ? fs::path("/tmp") : base) / (std::string(prefix) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
        return systemError("cannot create a temporary folder", name);
    return TempFolder(fs::path(name));
}

TempFolder::TempFolder(fs::path path) : m_path(std::move(path)) {}

TempFolder::TempFolder(TempFolder &&other) noexcept : m_path(std::exchange(other.m_path, {})) {}

TempFolder &TempFolder::operator=(TempFolder &&other) noexcept
{
    if (this != &other)
        std::swap(m_path, other.m_path);
    return *this;
}

TempFolder::~TempFolder()
{
    if (m_path.empty())
        return;
    std::error_code code;
    fs::remove_all(m_path, code);
}

fs::path cacheFolder() { return xdgFolder("XDG_CACHE_HOME", ".cache"); }
fs::path stateFolder() { return xdgFolder("XDG_STATE_HOME", ".local/state"); }
fs::path configFolder() { return xdgFolder("XDG_CONFIG_HOME", ".config"); }

fs::path runtimeFolder()
{
    if (const char *value = std::getenv("XDG_RUNTIME_DIR"); value != nullptr && value[0] == '/')
        return fs::path(value) / "heddle";
    return fs::path("/tmp") / ("heddle-" + std::to_string(::getuid()));
}

} // namespace heddle
