// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Noise.h"

#include "core/runtime/Quiet.h"
#include "core/stats/Interval.h"
#include "core/verify/Words.h"

#include <sys/mman.h>

#include <algorithm>

namespace heddle {

namespace {

constexpr int processes = 6;
constexpr int calls = 41;

/// Compute bound and of a fixed length: what differs between two processes is the machine.
FileTree fixedKernel()
{
    return {{"kernel.cpp", R"(#include "heddle_cpu.h"
extern "C" void spin(float *out)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < 65536; ++i) {
        float v = static_cast<float>(i);
        for (int step = 0; step < 200; ++step)
            v = v * 0.999f + 1.0f;
        out[i] = v;
    }
}
)"},
            {"plan.json", R"({"heddle": 1, "target": "cpu",
 "steps": [{"kernel": "spin", "source": "kernel.cpp", "args": [{"ptr": "out:0"}]}],
 "outputs": [{"dtype": "float32", "shape": ["65536"]}]})"}};
}

/// An arena without inputs: the kernel needs none.
Result<Arena> emptyArena()
{
    Fd fd(::memfd_create("heddle-empty", MFD_CLOEXEC));
    if (!fd.isOpen() || ::ftruncate(fd.value(), 4096) != 0)
        return Error(Code::Io, "cannot make shared memory");
    return Arena::map(std::move(fd),
                      Json{{"bytes", 4096},
                           {"inputs", Json::array()},
                           {"input_slot_bytes", 256},
                           {"input_slots", 1},
                           {"input_base", 0},
                           {"state", Json::array()},
                           {"state_slot_bytes", 256},
                           {"state_slots", 1},
                           {"state_base", 256},
                           {"values", Json::array()},
                           {"outputs", {{{"dtype", "float32"}, {"shape", {65536}}, {"bytes", 262144}}}},
                           {"updates", Json::array()}});
}

Json row(std::string_view id, bool ok, const std::string &found, const std::string &next)
{
    return {{"id", id}, {"ok", ok}, {"found", found}, {"missing", ""}, {"next", ok ? "" : next}};
}

} // namespace

Result<Json> measureNoise(Builder &builder, Executors &executors, const CancelToken &cancel,
                          const ProgressSink &progress)
{
    if (progress)
        progress({"watching the machine", -1.0, {}});
    HEDDLE_TRY(const QuietReport quiet, measureQuiet(std::chrono::seconds(1)));
    HEDDLE_TRY(const BuildOutcome build, builder.build(fixedKernel(), Json::object(), nullptr, cancel));
    if (!build.ok)
        return Error(Code::Internal, "the fixed kernel does not compile: " + compactText(build.diagnostics));
    HEDDLE_TRY(const Arena arena, emptyArena());
    std::vector<double> medians;
    std::vector<double> empty;
    std::vector<double> spreads;
    for (int i = 0; i < processes; ++i) {
        HEDDLE_TRY(CandidateProcess process, executors.start(build, arena, cancel));
        std::vector<double> times;
        for (int call = 0; call < calls; ++call) {
            HEDDLE_TRY(const CallTiming none, process.subject.emptyCall());
            empty.push_back(std::chrono::duration<double>(none.wall).count());
            HEDDLE_CHECK_OK(process.subject.prepare(0, 0, 0, std::chrono::seconds(5)));
            HEDDLE_TRY(const CallTiming timing, process.subject.call(0, std::chrono::seconds(5)));
            times.push_back(std::chrono::duration<double>(timing.wall).count());
            HEDDLE_CHECK_OK(process.subject.release());
        }
        medians.push_back(median(times));
        spreads.push_back((quantile(times, 0.9) - quantile(times, 0.1)) / median(times));
        if (progress)
            progress({"timing one kernel in several processes", (i + 1.0) / processes, {}});
    }
    const double between = (*std::max_element(medians.begin(), medians.end())
                            - *std::min_element(medians.begin(), medians.end()))
        / median(medians);
    const auto percent = [](double share) { return std::to_string(share * 100.0).substr(0, 4) + " %"; };
    Json rows = Json::array();
    rows.push_back(row("machine_quiet", quiet.isQuiet, quiet.message,
                       "stop other programs, or measure on another machine"));
    rows.push_back(row("empty_call", true, timeText(median(empty)) + " for a call that does nothing", {}));
    rows.push_back(row("within_process", median(spreads) < 0.2,
                       percent(median(spreads)) + " from the fast tenth to the slow tenth of calls",
                       "expect wide intervals here"));
    rows.push_back(row("between_processes", between < 0.05,
                       percent(between) + " between the medians of " + std::to_string(processes)
                           + " processes with the same code",
                       "differences under this share can't be told from noise here"));
    return Json{{"rows", rows},
                {"figures",
                 {{"quiet", quiet.toJson()},
                  {"empty_call_us", median(empty) * 1e6},
                  {"within", median(spreads)},
                  {"between", between}}}};
}

} // namespace heddle
