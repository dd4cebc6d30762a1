// SPDX-License-Identifier: Apache-2.0
#include "core/compile/CudaPlaces.h"

#include "core/sandbox/Policy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

std::optional<fs::path> chosenBy(const char *variable)
{
    const char *value = std::getenv(variable);
    return value != nullptr && value[0] != '\0' ? std::optional(fs::absolute(value)) : std::nullopt;
}

/// The entries of a folder in a stable order; none where it can't be read.
std::vector<fs::path> entriesOf(const fs::path &folder)
{
    std::vector<fs::path> entries;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code))
        entries.push_back(entry->path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

/// Adds a file by its real path, once.
void add(std::vector<fs::path> &files, const fs::path &file)
{
    std::error_code code;
    const fs::path real = fs::canonical(file, code);
    if (!code && fs::is_regular_file(real, code)
        && std::find(files.begin(), files.end(), real) == files.end())
        files.push_back(real);
}

/// Adds "libnvrtc.so", "libnvrtc.so.13" and the like, the plain name first.
void addLibraries(std::vector<fs::path> &files, const fs::path &folder, const std::string &name)
{
    for (const fs::path &entry : entriesOf(folder))
        // Not libnvrtc-builtins.so and libnvrtc.alt.so, which begin otherwise.
        if (entry.filename().string().rfind(name, 0) == 0)
            add(files, entry);
}

std::vector<fs::path> toolkits()
{
    std::vector<fs::path> roots;
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const auto root = chosenBy(variable))
            roots.push_back(*root);
    roots.emplace_back("/usr/local/cuda");
    roots.emplace_back("/opt/cuda");
    return roots;
}

/// The folders of wheels that hold libraries and programs: nvidia/cu13, nvidia/cuda_nvrtc, …, and triton's.
std::vector<fs::path> wheels(const std::vector<fs::path> &sitePackages)
{
    std::vector<fs::path> roots;
    for (const fs::path &site : sitePackages) {
        for (const fs::path &entry : entriesOf(site / "nvidia"))
            roots.push_back(entry);
        roots.push_back(site / "triton" / "backends" / "nvidia");
    }
    return roots;
}

void addFromPath(std::vector<fs::path> &files, const std::string &program)
{
    const char *path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "";
    while (!rest.empty()) {
        const std::size_t colon = rest.find(':');
        const fs::path candidate = fs::path(rest.substr(0, colon)) / program;
        if (candidate.is_absolute() && ::access(candidate.c_str(), X_OK) == 0)
            add(files, candidate);
        rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    }
}

} // namespace

CudaPlaces findCudaPlaces(const std::vector<fs::path> &sitePackages)
{
    CudaPlaces places;
    std::vector<fs::path> roots = toolkits();
    const std::vector<fs::path> wheelRoots = wheels(sitePackages);
    const auto addEverywhere = [&](std::vector<fs::path> &files, const std::string &name) {
        for (const fs::path &root : roots)
            for (const char *lib : {"lib64", "lib", "extras/CUPTI/lib64"})
                addLibraries(files, root / lib, name);
        for (const char *folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64"})
            addLibraries(files, folder, name);
        for (const fs::path &root : wheelRoots)
            addLibraries(files, root / "lib", name);
    };
    if (const auto chosen = chosenBy("HEDDLE_NVRTC"))
        places.nvrtc = {*chosen};
    else
        addEverywhere(places.nvrtc, "libnvrtc.so");
    if (const auto chosen = chosenBy("HEDDLE_CUPTI"))
        places.cupti = {*chosen};
    else
        addEverywhere(places.cupti, "libcupti.so");
    if (const auto chosen = chosenBy("HEDDLE_NVDISASM")) {
        places.nvdisasm = {*chosen};
        return places;
    }
    for (const fs::path &root : roots)
        add(places.nvdisasm, root / "bin" / "nvdisasm");
    addFromPath(places.nvdisasm, "nvdisasm");
    for (const fs::path &root : wheelRoots)
        add(places.nvdisasm, root / "bin" / "nvdisasm");
    return places;
}

std::vector<fs::path> sitePackagesOf(const fs::path &python)
{
    std::vector<fs::path> prefixes;
    if (!python.empty())
        prefixes = pythonFolders(python);
    prefixes.emplace_back("/usr/local");
    prefixes.emplace_back("/usr");
    if (const char *home = std::getenv("HOME"); home != nullptr && home[0] == '/')
        prefixes.push_back(fs::path(home) / ".local");
    std::vector<fs::path> folders;
    std::error_code code;
    for (const fs::path &prefix : prefixes)
        for (const fs::path &lib : entriesOf(prefix / "lib")) {
            if (lib.filename().string().rfind("python3", 0) != 0)
                continue;
            for (const char *name : {"site-packages", "dist-packages"})
                if (fs::is_directory(lib / name, code))
                    folders.push_back(lib / name);
        }
    return folders;
}

std::vector<fs::path> cudaIncludeFolders(const fs::path &nvrtcLibrary)
{
    const fs::path folder = nvrtcLibrary.parent_path();
    // A toolkit or the wheels of CUDA 13 have include/ beside lib/; those of CUDA 12 one package for each library.
    std::vector<fs::path> candidates{folder.parent_path() / "include"};
    for (const fs::path &package : entriesOf(folder.parent_path().parent_path()))
        candidates.push_back(package / "include");
    std::vector<fs::path> found;
    std::error_code code;
    for (const fs::path &candidate : candidates) {
        // /usr/include is the host's: its headers do not compile for a device.
        if (candidate == "/usr/include" || !fs::is_regular_file(candidate / "cuda_fp16.h", code))
            continue;
        found.push_back(candidate);
        for (const char *cccl : {"cccl", "../../cuda_cccl/include"})
            if (const fs::path path = (candidate / cccl).lexically_normal(); fs::is_directory(path, code))
                found.push_back(path);
        break;
    }
    return found;
}

std::vector<fs::path> filesBeside(const fs::path &file, std::string_view start)
{
    std::vector<fs::path> files;
    std::error_code code;
    for (const fs::path &entry : entriesOf(file.parent_path())) {
        if (!entry.filename().string().starts_with(start) || !fs::is_regular_file(entry, code))
            continue;
        files.push_back(entry);
        if (const fs::path real = fs::canonical(entry, code); !code && real != entry)
            files.push_back(real);
    }
    return files;
}

std::string fileIdentity(const fs::path &file)
{
    std::error_code code;
    const fs::path real = fs::canonical(file, code);
    struct stat info{};
    if (code || ::stat(real.c_str(), &info) != 0)
        return {};
    return real.string() + ' ' + std::to_string(info.st_size) + ' ' + std::to_string(info.st_mtim.tv_sec)
        + '.' + std::to_string(info.st_mtim.tv_nsec);
}

} // namespace heddle
