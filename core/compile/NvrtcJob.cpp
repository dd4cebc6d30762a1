// SPDX-License-Identifier: Apache-2.0
#include "core/compile/NvrtcJob.h"

#include <algorithm>

namespace heddle {

namespace {

Error brokenAnswer(const char *what)
{
    return Error(Code::Protocol, std::string("the CUDA compiler's answer can't be read: ") + what,
                 NvrtcJob::answerName);
}

std::vector<std::string> stringsOf(const Json &object, const char *key)
{
    std::vector<std::string> out;
    for (const Json &item : memberOr(object, key))
        if (item.is_string())
            out.push_back(item.get<std::string>());
    return out;
}

/// Takes `size` bytes from the front of `rest`.
bool take(std::string_view &rest, std::int64_t size, std::string &into)
{
    if (size < 0 || static_cast<std::uint64_t>(size) > rest.size())
        return false;
    into = std::string(rest.substr(0, static_cast<std::size_t>(size)));
    rest.remove_prefix(static_cast<std::size_t>(size));
    return true;
}

} // namespace

std::string encodeJob(const NvrtcJob &job)
{
    return prettyText({{"libraries", job.libraries}, {"sources", job.sources}, {"options", job.options}})
        + '\n';
}

Result<NvrtcJob> decodeJob(std::string_view text)
{
    HEDDLE_TRY(const Json value, parseJson(text, NvrtcJob::fileName));
    NvrtcJob job{stringsOf(value, "libraries"), stringsOf(value, "sources"), stringsOf(value, "options")};
    for (const std::string &source : job.sources)
        if (!isSafeRelativePath(source))
            return Error(Code::InvalidInput, "this source would lie outside its folder", source);
    return job;
}

std::string encodeAnswer(const NvrtcAnswer &answer)
{
    Json head{{"library", answer.library},
              {"version", answer.version},
              {"architectures", answer.architectures},
              {"products", Json::array()}};
    std::string bytes;
    for (const auto &[source, product] : answer.products) {
        head["products"].push_back({{"source", source},
                                    {"built", product.isBuilt},
                                    {"cubin", product.cubin.size()},
                                    {"ptx", product.ptx.size()},
                                    {"log", product.log.size()}});
        bytes += product.cubin + product.ptx + product.log;
    }
    return compactText(head) + '\n' + bytes;
}

Result<NvrtcAnswer> decodeAnswer(std::string_view bytes)
{
    const std::size_t line = bytes.find('\n');
    if (line == std::string_view::npos)
        return brokenAnswer("it has no first line");
    const auto head = parseJson(bytes.substr(0, line), NvrtcJob::answerName);
    if (!head || !head->is_object() || !memberOr(*head, "products").is_array())
        return brokenAnswer("its first line is not what was agreed");
    NvrtcAnswer answer;
    answer.library = stringOr(*head, "library");
    answer.version = stringOr(*head, "version");
    for (const Json &number : memberOr(*head, "architectures"))
        if (number.is_number_integer())
            answer.architectures.push_back(number.get<int>());
    std::string_view rest = bytes.substr(line + 1);
    for (const Json &row : memberOr(*head, "products")) {
        NvrtcProduct product;
        product.isBuilt = boolOr(row, "built", false);
        if (!take(rest, integerOr(row, "cubin", -1), product.cubin)
            || !take(rest, integerOr(row, "ptx", -1), product.ptx)
            || !take(rest, integerOr(row, "log", -1), product.log))
            return brokenAnswer("it is shorter than it says");
        if (product.isBuilt && product.cubin.empty())
            return brokenAnswer("what was built is empty");
        answer.products[stringOr(row, "source")] = std::move(product);
    }
    if (!rest.empty())
        return brokenAnswer("it is longer than it says");
    return answer;
}

Result<NvrtcWork> readNvrtcWork(const std::filesystem::path &folder)
{
    HEDDLE_TRY(const std::string text, readFile(folder / NvrtcJob::fileName, 16u << 20));
    NvrtcWork work;
    HEDDLE_TRY(work.job, decodeJob(text));
    if (work.job.sources.empty())
        return work;
    HEDDLE_TRY(work.files, readTree(folder / "src"));
    if (std::error_code code; std::filesystem::is_directory(folder / "include", code)) {
        HEDDLE_TRY(work.headers, readTree(folder / "include"));
    }
    return work;
}

Result<NvrtcAnswer> doNvrtcWork(const NvrtcWork &work)
{
    HEDDLE_TRY(const Nvrtc nvrtc, Nvrtc::open({work.job.libraries.begin(), work.job.libraries.end()}));
    NvrtcAnswer answer{nvrtc.library().string(), nvrtc.version(), nvrtc.architectures(), {}};
    for (const std::string &source : work.job.sources) {
        const auto found = work.files.find(source);
        if (found == work.files.end())
            return Error(Code::NotFound, "the candidate has no such file", source);
        NvrtcUnit unit{source, found->second, work.files, work.job.options};
        unit.headers.erase(source);
        // A header of the candidate's own hides ours of the same name.
        unit.headers.insert(work.headers.begin(), work.headers.end());
        HEDDLE_TRY(answer.products[source], nvrtc.compile(unit));
    }
    return answer;
}

} // namespace heddle
