// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/LocalWorkbench.h"

namespace heddle {

namespace fs = std::filesystem;

Result<Json> LocalWorkbench::exportCandidate(const std::string &id, const std::string &candidate,
                                             const std::string &as, const fs::path &folder,
                                             const CancelToken &cancel, const ProgressSink &progress)
{
    std::error_code code;
    if (fs::exists(folder, code) && (!fs::is_directory(folder, code) || !fs::is_empty(folder, code)))
        return Error(Code::InvalidInput, "the export folder is not empty", folder.string(),
                     "give a new or empty folder");
    HEDDLE_TRY(OpenSession * open, session(id));
    HEDDLE_TRY(const FileTree files, m_store->tree(candidate));
    HEDDLE_TRY(const Json made,
               callTask(*open, "candidate.export", {{"files", files}, {"as", as}, {"source", open->source}},
                        cancel, progress));
    FileTree written;
    Json names = Json::array();
    for (const auto &[name, text] : memberOr(made, "files").items()) {
        written[name] = text.get<std::string>();
        names.push_back(name);
    }
    HEDDLE_CHECK_OK(makeFolder(folder));
    HEDDLE_CHECK_OK(writeTree(folder, written));
    const std::string kind = open->policy == "person" ? "export" : "auto_export";
    HEDDLE_CHECK_OK(m_store->append(id, open->policy, "exported",
                                    {{"candidate", candidate},
                                     {"folder", fs::absolute(folder, code).string()},
                                     {"as", as},
                                     {"kind", kind},
                                     {"files", names}}));
    return Json{
        {"files", names}, {"folder", folder.string()}, {"as", as}, {"checked", memberOr(made, "checked")}};
}

} // namespace heddle
