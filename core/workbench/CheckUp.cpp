// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/LocalWorkbench.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace heddle {

namespace {

Json missing(std::string_view id, std::string_view what, std::string_view next)
{
    return {{"id", id}, {"ok", false}, {"found", ""}, {"missing", what}, {"next", next}};
}

bool isOnPath(const std::string &program)
{
    if (program.find('/') != std::string::npos)
        return ::access(program.c_str(), X_OK) == 0;
    const char *path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!folder.empty() && ::access((folder + '/' + program).c_str(), X_OK) == 0)
            return true;
    }
    return false;
}

/// The worker's last words are its error as it prints it: a sentence, then a line "next: …".
Json workerRow(const Error &error)
{
    constexpr std::string_view nextMark = "\n  next: ";
    const std::string &text = error.message();
    const std::size_t at = text.find(nextMark);
    if (at == std::string::npos)
        return missing("worker", text, error.next());
    const std::size_t start = at + nextMark.size();
    return missing("worker", text.substr(0, at), text.substr(start, text.find('\n', start) - start));
}

} // namespace

Result<Json> LocalWorkbench::doctor(const CancelToken &cancel, const ProgressSink &progress)
{
    auto answer = m_worker->call("doctor", Json::object(), cancel, progress);
    const bool isLocal = !m_worker->target().starts_with("ssh://");
    if (answer || answer.error().code() != Code::Environment || !isLocal)
        return answer;
    // Without a worker nobody compiles a kernel to see; that there is no compiler at all is seen from here.
    Json rows = Json::array({workerRow(answer.error())});
    const char *chosen = std::getenv("CXX");
    std::string compiler = m_environment.compiler.string();
    if (compiler.empty())
        compiler = chosen == nullptr || chosen[0] == '\0' ? "g++" : chosen;
    if (!isOnPath(compiler))
        rows.push_back(missing("compiler", "no C++ compiler was found: " + compiler,
                               "install g++ 12 or newer (Debian: apt install g++)"));
    return Json{{"rows", std::move(rows)}};
}

} // namespace heddle
