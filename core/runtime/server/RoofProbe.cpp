// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/RoofProbe.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>

namespace heddle {

Result<std::reference_wrapper<const RoofReport>> machineRoofOnce(int threads, const CancelToken &cancel)
{
    static std::mutex mutex; // guards report
    static std::optional<RoofReport> report;
    const std::lock_guard lock(mutex);
    if (!report) {
        HEDDLE_TRY(report, measureRoof(threads, cancel));
    }
    return std::cref(*report);
}

Result<FileTree> memoryProbe(const Json &layout)
{
    std::string parameters;
    std::string reads;
    std::string writes;
    Json args = Json::array();
    Json outputs = Json::array();
    int count = 0;
    const auto add = [&](const std::string &buffer, const Json &tensor, bool isOutput) -> Result<void> {
        const auto dtype = dtypeFromName(stringOr(tensor, "dtype"));
        if (!dtype)
            return Error(Code::Protocol, "a tensor has an unknown dtype", buffer);
        const std::string name = "p" + std::to_string(count++);
        parameters += std::string(parameters.empty() ? "" : ", ") + (isOutput ? "" : "const ")
            + std::string(dtypeCppName(*dtype, PlanTarget::Cpu)) + " *" + name;
        const std::string bytes = std::to_string(integerOr(tensor, "bytes", 0));
        if (isOutput)
            writes += "            put(" + name + ", " + bytes + ", part, streams);\n";
        else
            reads += "            sum += take(" + name + ", " + bytes + ", part);\n";
        args.push_back({{"ptr", buffer}});
        return {};
    };
    for (const char *kind : {"inputs", "state"}) {
        for (const Json &tensor : memberOr(layout, kind))
            HEDDLE_CHECK_OK(add(stringOr(tensor, "name"), tensor, false));
    }
    int index = 0;
    for (const Json &tensor : memberOr(layout, "outputs")) {
        HEDDLE_CHECK_OK(add("out:" + std::to_string(index++), tensor, true));
        Json shape = Json::array();
        for (const Json &extent : memberOr(tensor, "shape"))
            shape.push_back(extent.dump());
        outputs.push_back({{"dtype", memberOr(tensor, "dtype")}, {"shape", shape}});
    }
    const Json plan{{"heddle", 1},
                    {"target", "cpu"},
                    {"updates", memberOr(layout, "updates")},
                    {"steps", {{{"kernel", "touch"}, {"source", "kernel.cpp"}, {"args", args}}}},
                    {"outputs", outputs}};
    // Reads and writes alternate in pieces of a cache's size, as a fused kernel's do.
    const std::string source =
        R"(// Reads every input once and writes every output once; computes nothing. Pairs of calls write through the cache and past
// it in turn: the fastest call counts, and which way is faster depends on the output's size.
#include "heddle_cpu.h"

#include <cstring>

namespace {

constexpr int64_t parts = 512;
constexpr int64_t blockFloats = 2048;
alignas(64) const float zeros[blockFloats] = {};

inline uint64_t take(const void *data, int64_t bytes, int64_t part)
{
    const auto *words = static_cast<const uint64_t *>(data);
    const int64_t count = bytes / 8;
    const int64_t from = count * part / parts, to = count * (part + 1) / parts;
    uint64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = from; i < to; ++i)
        sum += words[i];
    return sum;
}

inline void put(void *data, int64_t bytes, int64_t part, bool streams)
{
    auto *words = static_cast<long long *>(data);
    const int64_t count = bytes / 8;
    const int64_t from = count * part / parts, to = count * (part + 1) / parts;
    if (streams) {
        // The widest stores that there are, as a kernel would use: narrow ones reach less.
        auto *const floats = reinterpret_cast<float *>(words);
        for (int64_t i = 2 * from; i < 2 * to; i += blockFloats)
            heddle::stream_copy(floats + i, zeros, 2 * to - i < blockFloats ? 2 * to - i : blockFloats);
    } else {
        std::memset(words + from, 0, static_cast<std::size_t>(to - from) * 8);
    }
}

int calls = 0;

} // namespace

extern "C" void touch()"
        + parameters + R"()
{
    const bool streams = (calls++ >> 1 & 1) != 0;
    uint64_t total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (int64_t part = 0; part < parts; ++part) {
        uint64_t sum = 0;
)" + reads
        + writes + R"(        total += sum;
    }
    heddle::stream_fence();
    asm volatile("" : : "r"(total));
}
)";
    return FileTree{{"kernel.cpp", source}, {"plan.json", prettyText(plan)}};
}

Result<CandidateProcess> startMemoryProbe(Builder &builder, Executors &executors, Oracle &oracle,
                                          const CancelToken &cancel)
{
    HEDDLE_TRY(const FileTree files, memoryProbe(oracle.arena().layout()));
    HEDDLE_TRY(const TaskLayout layout, layoutFromJson(oracle.arena().layout()));
    HEDDLE_TRY(const BuildOutcome build, builder.build(files, Json::object(), &layout, cancel));
    if (!build.ok)
        return Error(Code::Internal, "the memory probe does not compile: " + compactText(build.diagnostics));
    return executors.start(build, oracle.arena(), cancel);
}

double fastestCall(const std::vector<RoundSamples> &samples)
{
    double fastest = undisturbedTime(samples);
    for (const RoundSamples &round : samples) {
        for (const double seconds : round)
            fastest = std::min(fastest, seconds);
    }
    return fastest;
}

Result<double> measureMemoryRoof(Builder &builder, Executors &executors, Oracle &oracle, InputSets &sets,
                                 const CancelToken &cancel)
{
    HEDDLE_TRY(CandidateProcess process, startMemoryProbe(builder, executors, oracle, cancel));
    RoundsOptions options;
    options.slots = sets.timingSlots();
    options.stateSlot = sets.timingStateSlot();
    options.callsPerBlock = static_cast<int>(std::min<std::size_t>(4, options.slots.size()));
    // Long enough to meet a moment in which nobody else uses the memory.
    options.budgetSeconds = 0.5;
    options.minRounds = 6;
    HEDDLE_TRY(const RoundsResult rounds,
               timeInRounds({{"touch", &process.subject, {}}}, oracle, options, cancel, {}));
    return fastestCall(rounds.samples.at("touch"));
}

} // namespace heddle
