// SPDX-License-Identifier: Apache-2.0
#include "core/workbench/LocalWorkbench.h"

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// Looked at before anything is measured or checked, and again before anything is written.
Result<void> requireEmpty(const fs::path &folder)
{
    std::error_code code;
    if (fs::exists(folder, code) && (!fs::is_directory(folder, code) || !fs::is_empty(folder, code)))
        return Error(Code::InvalidInput, "the export folder is not empty", folder.string(),
                     "give a new or empty folder");
    return {};
}

} // namespace

Result<Json> LocalWorkbench::previewExport(const std::string &id, const std::string &candidate,
                                           const std::string &as, const CancelToken &cancel,
                                           const ProgressSink &progress)
{
    HEDDLE_TRY(OpenSession * open, session(id));
    HEDDLE_TRY(const FileTree files, m_store->tree(candidate));
    tellStage(progress, "making the export and checking it");
    HEDDLE_TRY(const Json made,
               callTask(*open, "candidate.export", {{"files", files}, {"as", as}, {"source", open->source}},
                        cancel, progress));
    return Json{{"files", memberOr(made, "files")}, {"as", as}, {"checked", memberOr(made, "checked")}};
}

Result<Json> LocalWorkbench::writeExport(const std::string &id, const std::string &candidate,
                                         const Json &preview, const fs::path &folder)
{
    HEDDLE_CHECK_OK(requireEmpty(folder));
    HEDDLE_TRY(OpenSession * open, session(id));
    FileTree written;
    Json names = Json::array();
    for (const auto &[name, text] : memberOr(preview, "files").items()) {
        if (!text.is_string())
            return Error(Code::Protocol, "this file of the export has no text", name);
        written[name] = text.get<std::string>();
        names.push_back(name);
    }
    HEDDLE_CHECK_OK(makeFolder(folder));
    HEDDLE_CHECK_OK(writeTree(folder, written));
    const std::string as = stringOr(preview, "as");
    const std::string kind = open->policy == "person" ? "export" : "auto_export";
    std::error_code code;
    HEDDLE_CHECK_OK(m_store->append(id, open->policy, "exported",
                                    {{"candidate", candidate},
                                     {"folder", fs::absolute(folder, code).string()},
                                     {"as", as},
                                     {"kind", kind},
                                     {"files", names}}));
    return Json{
        {"files", names}, {"folder", folder.string()}, {"as", as}, {"checked", memberOr(preview, "checked")}};
}

Result<Json> LocalWorkbench::exportCandidate(const std::string &id, const std::string &candidate,
                                             const std::string &as, const fs::path &folder,
                                             const CancelToken &cancel, const ProgressSink &progress)
{
    HEDDLE_CHECK_OK(requireEmpty(folder));
    HEDDLE_TRY(const Json preview, previewExport(id, candidate, as, cancel, progress));
    return writeExport(id, candidate, preview, folder);
}

} // namespace heddle
