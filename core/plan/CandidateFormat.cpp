// SPDX-License-Identifier: Apache-2.0
#include "core/plan/CandidateFormat.h"

namespace heddle {

Result<std::string> candidateFormat(const FileTree &files)
{
    if (files.count("plan.json") != 0)
        return std::string("native");
    if (files.count("model_new.py") == 0)
        return Error(Code::InvalidInput, "the candidate holds neither plan.json nor model_new.py", {},
                     "give a native folder, a work folder, or a ModelNew file");
    return std::string(files.size() > 1 ? "work_folder" : "modelnew");
}

} // namespace heddle
