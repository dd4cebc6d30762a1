// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/Policy.h"

#include "core/base/File.h"

#include <algorithm>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

std::string_view roleName(Role role)
{
    switch (role) {
    case Role::Oracle: return "oracle";
    case Role::Candidate: return "candidate";
    case Role::Compiler: return "compiler";
    }
    return "candidate";
}

namespace {

/// The value of "home" in a venv's pyvenv.cfg: the folder of the interpreter that it was made from.
fs::path baseInterpreterFolder(const fs::path &prefix)
{
    const auto text = readFile(prefix / "pyvenv.cfg", 1u << 16);
    if (!text)
        return {};
    std::size_t start = 0;
    while (start < text->size()) {
        const std::size_t end = std::min(text->find('\n', start), text->size());
        const std::string line = text->substr(start, end - start);
        const std::size_t equals = line.find('=');
        const std::size_t name = line.find_last_not_of(" \t", equals == 0 ? 0 : equals - 1);
        if (equals != std::string::npos && name != std::string::npos && line.substr(0, name + 1) == "home") {
            const std::size_t value = line.find_first_not_of(" \t", equals + 1);
            const std::size_t last = line.find_last_not_of(" \t\r");
            if (value != std::string::npos && last >= value)
                return line.substr(value, last - value + 1);
        }
        start = end + 1;
    }
    return {};
}

void addPrefix(const fs::path &binFolder, std::vector<fs::path> &folders)
{
    const fs::path prefix = binFolder.parent_path();
    // The whole of /usr is always there, and "/" must never be.
    const bool isThere = prefix.empty() || prefix == prefix.root_path() || prefix == "/usr";
    if (!isThere && std::find(folders.begin(), folders.end(), prefix) == folders.end())
        folders.push_back(prefix);
}

} // namespace

std::vector<fs::path> pythonFolders(const fs::path &interpreter)
{
    std::vector<fs::path> folders;
    const fs::path absolute = fs::absolute(interpreter).lexically_normal();
    addPrefix(absolute.parent_path(), folders);
    std::error_code code;
    if (const fs::path base = baseInterpreterFolder(absolute.parent_path().parent_path()); !base.empty()) {
        addPrefix(base, folders);
        addPrefix(fs::canonical(base, code), folders);
    }
    if (const fs::path real = fs::canonical(absolute, code); !code)
        addPrefix(real.parent_path(), folders);
    return folders;
}

} // namespace heddle
