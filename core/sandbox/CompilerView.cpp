// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/CompilerView.h"

#include "core/base/Fd.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr auto answerLimit = std::chrono::seconds(10);

bool isWithin(const fs::path &path, const fs::path &folder)
{
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

fs::path real(const fs::path &path)
{
    std::error_code code;
    const fs::path found = fs::canonical(path, code);
    return code ? fs::path() : found;
}

/// Folders of which a compiler may be a part but which are no compiler's own.
bool isTooWide(const fs::path &folder)
{
    std::vector<fs::path> precious{"/etc",  "/var", "/opt", "/srv",  "/mnt", "/media", "/root",
                                   "/home", "/run", "/dev", "/proc", "/sys", "/boot",  "/tmp"};
    if (const char *home = std::getenv("HOME"); home != nullptr && home[0] == '/')
        precious.push_back(real(home));
    if (const passwd *entry = ::getpwuid(::getuid()); entry != nullptr && entry->pw_dir != nullptr)
        precious.push_back(real(entry->pw_dir));
    std::error_code code;
    precious.push_back(real(fs::temp_directory_path(code)));
    return std::any_of(precious.begin(), precious.end(), [&](const fs::path &path) {
        return path.is_absolute() && path != "/" && isWithin(path, folder);
    });
}

/// What the compiler says to `arguments`, with the environment that it has in the sandbox. Empty where it refuses.
Result<std::string> ask(const fs::path &program, std::vector<std::string> arguments)
{
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return Error(Code::Io, std::string("cannot make a pipe: ") + std::strerror(errno));
    const Fd out(ends[0]);
    Fd in(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, in.value(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, in.value(), STDERR_FILENO);
    arguments.insert(arguments.begin(), program.string());
    std::vector<char *> argv;
    for (std::string &argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::string environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    char *const envp[] = {environment[0].data(), environment[1].data(), nullptr};
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), envp);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    const std::string next = "set CXX to a compiler that works, such as /usr/bin/g++";
    if (failed != 0)
        return Error(Code::Environment,
                     std::string("the compiler cannot be started: ") + std::strerror(failed),
                     program.string(), next);
    in.reset();
    std::string text;
    const auto end = std::chrono::steady_clock::now() + answerLimit;
    bool isLate = false;
    for (char chunk[4096];;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        pollfd entry{out.value(), POLLIN, 0};
        const int ready = left.count() <= 0 ? 0 : ::poll(&entry, 1, static_cast<int>(left.count()));
        if (ready < 0 && errno == EINTR)
            continue;
        const ssize_t count = ready > 0 ? ::read(out.value(), chunk, sizeof chunk) : 0;
        isLate = ready <= 0 || text.size() > (1u << 20);
        if (count <= 0 || isLate)
            break;
        text.append(chunk, static_cast<std::size_t>(count));
    }
    if (isLate)
        ::kill(-pid, SIGKILL); // with whatever a script has started
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (isLate)
        return Error(Code::Environment, "the compiler does not say where its parts are", program.string(),
                     next);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : std::string();
}

std::vector<std::string> linesOf(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

std::vector<fs::path> splitAtColons(std::string_view list)
{
    std::vector<fs::path> paths;
    for (std::size_t start = 0; start <= list.size();) {
        const std::size_t end = std::min(list.find(':', start), list.size());
        if (end > start)
            paths.emplace_back(list.substr(start, end - start));
        start = end + 1;
    }
    return paths;
}

/// Where a part was installed to: what lies above its innermost bin, lib, lib64 or libexec.
fs::path prefixOf(const fs::path &part)
{
    for (fs::path folder = part.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
        const fs::path name = folder.filename();
        if (name == "bin" || name == "lib" || name == "lib64" || name == "libexec")
            return folder.parent_path();
    }
    return part.parent_path();
}

bool isScript(const fs::path &program)
{
    std::ifstream file(program, std::ios::binary);
    char start[2] = {0, 0};
    file.read(start, 2);
    return file.gcount() == 2 && start[0] == '#' && start[1] == '!';
}

class Viewer {
public:
    explicit Viewer(fs::path program) : m_program(std::move(program)) {}

    Result<CompilerView> look()
    {
        const fs::path target = real(m_program);
        const bool isWrapped = isScript(target);
        if (target.empty()
            || (isWithin(target, "/usr") && !isWrapped && isWithin(real(m_program.parent_path()), "/usr")))
            return m_view;
        if (!isWithin(target, "/usr") && !isWrapped)
            HEDDLE_CHECK_OK(addInstallation(target));
        HEDDLE_TRY(const std::string folders, ask(m_program, {"-print-search-dirs"}));
        for (const std::string &line : linesOf(folders)) {
            constexpr std::string_view install = "install: ";
            constexpr std::string_view libraries = "libraries: =";
            if (line.starts_with(install))
                HEDDLE_CHECK_OK(addInstallation(line.substr(install.size())));
            else if (line.starts_with(libraries))
                for (const fs::path &folder : splitAtColons(std::string_view(line).substr(libraries.size())))
                    add(folder);
        }
        for (const char *name : {"cc1plus", "collect2", "as", "ld"}) {
            HEDDLE_TRY(const std::string said, ask(m_program, {"-print-prog-name=" + std::string(name)}));
            HEDDLE_CHECK_OK(addTool(said.substr(0, said.find('\n'))));
        }
        HEDDLE_TRY(const std::string headers, ask(m_program, {"-E", "-v", "-x", "c++", "/dev/null"}));
        bool isList = false;
        for (const std::string &line : linesOf(headers)) {
            isList = line.starts_with("#include <") || (isList && line.starts_with(' '));
            if (isList && line.starts_with(' '))
                add(line.substr(1, line.find(" (") - 1));
        }
        addLinks();
        return m_view;
    }

private:
    bool isShown(const fs::path &path) const
    {
        return isWithin(path, "/usr")
            || std::any_of(m_view.readOnly.begin(), m_view.readOnly.end(),
                           [&](const fs::path &shown) { return isWithin(path, shown); });
    }

    /// Shows a folder by its real path, if it is there and no precious one.
    void add(const fs::path &path)
    {
        const fs::path folder = real(path);
        if (folder.empty() || isShown(folder) || isTooWide(folder))
            return;
        std::erase_if(m_view.readOnly, [&](const fs::path &shown) { return isWithin(shown, folder); });
        m_view.readOnly.push_back(folder);
    }

    Result<void> addInstallation(const fs::path &part)
    {
        const fs::path target = real(part);
        if (target.empty() || isWithin(target, "/usr"))
            return {};
        const fs::path prefix = prefixOf(target);
        if (isTooWide(prefix))
            return Error(
                Code::Environment,
                "the compiler is installed into " + prefix.string()
                    + " itself, and to show that to the sandbox would show your files",
                m_program.string(),
                "install it in a folder of its own, such as /opt/gcc, or set CXX to another compiler");
        add(prefix);
        return {};
    }

    Result<void> addTool(const std::string &name)
    {
        if (name.find('/') != std::string::npos)
            return addInstallation(name);
        // The bare name: the compiler looks on $PATH, which in the sandbox is the system's.
        if (name.empty() || ::access(("/usr/bin/" + name).c_str(), X_OK) == 0)
            return {};
        const char *path = std::getenv("PATH");
        for (const fs::path &folder : splitAtColons(path != nullptr ? path : "")) {
            if (!folder.is_absolute() || ::access((folder / name).c_str(), X_OK) != 0)
                continue;
            HEDDLE_CHECK_OK(addInstallation(folder / name));
            const fs::path bin = real(folder);
            if (isShown(bin))
                m_view.pathFolders.push_back(bin);
            break;
        }
        return {};
    }

    /// The way to the program as it was named: a compiler finds its parts from there.
    void addLinks()
    {
        const fs::path prefix = prefixOf(m_program);
        std::error_code code;
        if (m_program.parent_path() != prefix && prefix != real(prefix) && isShown(real(prefix))
            && !isTooWide(real(prefix)) && !isWithin(prefix, "/usr"))
            m_view.readOnly.push_back(prefix);
        fs::path hop = m_program;
        for (int count = 0; count < 40; ++count) {
            if (!isShown(hop))
                m_view.readOnly.push_back(hop);
            if (!fs::is_symlink(hop, code))
                break;
            const fs::path next = fs::read_symlink(hop, code);
            hop = (next.is_absolute() ? next : hop.parent_path() / next).lexically_normal();
        }
        if (const fs::path target = real(m_program); !isShown(target))
            m_view.readOnly.push_back(target);
    }

    fs::path m_program;
    CompilerView m_view;
};

} // namespace

void CompilerView::addTo(SandboxPolicy &policy) const
{
    policy.readOnly.insert(policy.readOnly.end(), readOnly.begin(), readOnly.end());
    std::string path = "PATH=/usr/bin:/bin";
    for (const fs::path &folder : pathFolders)
        path += ':' + folder.string();
    if (!pathFolders.empty())
        policy.environment.push_back(path);
}

Result<CompilerView> viewOfCompiler(const fs::path &program)
{
    return Viewer(program.lexically_normal()).look();
}

} // namespace heddle
