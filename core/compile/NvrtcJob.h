// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/compile/Nvrtc.h"
#include "core/json/Json.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// What the program heddle-nvrtc is asked to do: the file job.json in its working folder. The candidate's files lie there
/// below src/, ours below include/.
struct NvrtcJob {
    std::vector<std::string> libraries; ///< the first that works is used
    std::vector<std::string> sources;   ///< names below src/; empty: only say what the library is
    std::vector<std::string> options;

    static constexpr const char *fileName = "job.json";
    static constexpr const char *answerName = "answer.bin";
};

/// What it answers: the file answer.bin, which a compiler that a source has taken over may have written: it is checked.
struct NvrtcAnswer {
    std::string library;
    std::string version;
    std::vector<int> architectures;
    std::map<std::string, NvrtcProduct> products; ///< by source
};

std::string encodeJob(const NvrtcJob &job);
/// Errors: InvalidInput.
Result<NvrtcJob> decodeJob(std::string_view text);

/// One line of JSON with the sizes, then the bytes.
std::string encodeAnswer(const NvrtcAnswer &answer);
/// Errors: Protocol where sizes and bytes do not fit. Any bytes are safe to give.
Result<NvrtcAnswer> decodeAnswer(std::string_view bytes);

/// A job with its files in memory.
struct NvrtcWork {
    NvrtcJob job;
    FileTree files;   ///< of the candidate
    FileTree headers; ///< ours
};

/// Reads the job and the files that lie in `folder`. Errors: InvalidInput for a job that is none, those of reading.
Result<NvrtcWork> readNvrtcWork(const std::filesystem::path &folder);
/// Does it, in this process. Errors: Environment without a library, NotFound for a source that is not there.
Result<NvrtcAnswer> doNvrtcWork(const NvrtcWork &work);

} // namespace heddle
