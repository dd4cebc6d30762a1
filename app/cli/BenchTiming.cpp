// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/Commands.h"

#include "core/stats/Interval.h"
#include "core/workbench/LocalWorkbench.h"

#include <array>
#include <cstdio>
#include <vector>

namespace heddle::cli {

namespace {

/// A task of about a millisecond whose work can be lengthened by exactly a tenth, natively and in Python.
constexpr const char *task = R"(# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        for _ in range(10):
            x = x * 0.999 + 0.001
        return x


def get_inputs():
    return [torch.rand(262144)]


def get_init_inputs():
    return []
)";

FileTree pythonCandidate(int passes)
{
    return {{"model_new.py",
             "import torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        for "
             "_ in range("
                 + std::to_string(passes) + "):\n            x = x * 0.999 + 0.001\n        return x\n"}};
}

FileTree nativeCandidate()
{
    return {{"kernel.cpp", R"(#include "heddle_cpu.h"
extern "C" void work(const float *x, float *out, int64_t count)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) {
        float v = x[i];
        for (int step = 0; step < STEPS; ++step)
            v = v * 0.999f + 0.001f;
        out[i] = v;
    }
}
)"},
            {"plan.json", R"({"heddle": 1, "target": "cpu",
 "tunables": {"STEPS": {"default": 200, "choices": [200, 220]}},
 "steps": [{"kernel": "work", "source": "kernel.cpp",
            "args": [{"ptr": "input:x"}, {"ptr": "out:0"}, {"i64": "input:x.shape[0]"}]}],
 "outputs": [{"dtype": "float32", "shape": ["input:x.shape[0]"]}]})"}};
}

struct Tally {
    int judgements = 0;
    int excludesOne = 0;
    int isSlower = 0;
    std::vector<double> ratios;
    std::vector<double> halfWidths;
    Json toJson() const
    {
        const auto share = [&](int part) { return static_cast<double>(part) / judgements; };
        return {
            {"judgements", judgements},
            {"excludes_1", share(excludesOne)},
            {"slower", share(isSlower)},
            {"ratio",
             {{"median", median(ratios)}, {"q05", quantile(ratios, 0.05)}, {"q95", quantile(ratios, 0.95)}}},
            {"half_width", {{"median", median(halfWidths)}, {"q95", quantile(halfWidths, 0.95)}}}};
    }
};

Tally count(const Json &ratios)
{
    Tally tally;
    for (const Json &ratio : ratios) {
        const Json &interval = memberOr(ratio, "ci");
        const double low = interval.at(0).get<double>();
        const double high = interval.at(1).is_number() ? interval.at(1).get<double>() : 1e300;
        ++tally.judgements;
        tally.ratios.push_back(numberOr(ratio, "value", 0.0));
        tally.halfWidths.push_back((high - low) / 2);
        tally.excludesOne += low > 1.0 || high < 1.0 ? 1 : 0;
        tally.isSlower += high < 1.0 ? 1 : 0;
    }
    return tally;
}

Result<Json> prove(Context &context, int judgements)
{
    HEDDLE_CHECK_OK(context.loadSettings({}));
    HEDDLE_TRY(const TempFolder folder, TempFolder::create("heddle-bench-"));
    HEDDLE_CHECK_OK(writeFileAtomically(folder.path() / "passes.py", task));
    HEDDLE_TRY(std::unique_ptr<WorkerConnection> worker,
               WorkerConnection::create(context.environment(), context.target()));
    HEDDLE_TRY(const Json opened,
               worker->call("task.open", {{"path", "passes.py"}, {"source", task}}, context.cancel(), {}));
    const auto compare = [&](const Json &subject, const Json &other) -> Result<Tally> {
        HEDDLE_TRY(const Json said,
                   worker->call("candidate.compare",
                                {{"handle", memberOr(opened, "handle")},
                                 {"subject", subject},
                                 {"other", other},
                                 {"judgements", judgements}},
                                context.cancel(), context.progress()));
        return count(memberOr(said, "ratios"));
    };
    const auto kernel = [](int steps) {
        return Json{{"files", nativeCandidate()}, {"tunables", {{"STEPS", steps}}}};
    };
    const auto module = [](int passes) { return Json{{"files", pythonCandidate(passes)}}; };
    HEDDLE_TRY(const Tally sameNative, compare(kernel(200), kernel(200)));
    HEDDLE_TRY(const Tally slowNative, compare(kernel(220), kernel(200)));
    HEDDLE_TRY(const Tally samePython, compare(module(10), {{"baseline", "eager"}}));
    HEDDLE_TRY(const Tally slowPython, compare(module(11), {{"baseline", "eager"}}));
    const Json native{{"a_a", sameNative.toJson()}, {"slowdown", slowNative.toJson()}};
    const Json pytorch{{"a_a", samePython.toJson()}, {"slowdown", slowPython.toJson()}};
    const auto holds = [](const Json &kind) {
        return numberOr(kind["a_a"], "excludes_1", 1.0) <= 0.05
            && numberOr(kind["slowdown"], "slower", 0.0) >= 0.95;
    };
    return Json{{"judgements", judgements},
                {"native", native},
                {"pytorch", pytorch},
                {"holds", holds(native) && holds(pytorch)}};
}

} // namespace

int benchTiming(Context &context, int judgements)
{
    auto proved = prove(context, judgements);
    context.clearProgress();
    if (!proved)
        return context.fail(proved.error(), "bench timing");
    for (const char *kind : {"native", "pytorch"}) {
        const Json &row = (*proved)[kind];
        std::array<char, 200> line{};
        std::snprintf(
            line.data(), line.size(),
            "%-8s same code called different: %4.1f %% (at most 5)   a tenth slower found: %5.1f %% "
            "(at least 95)\n",
            kind, numberOr(row["a_a"], "excludes_1", 1.0) * 100.0,
            numberOr(row["slowdown"], "slower", 0.0) * 100.0);
        context.say(line.data());
    }
    const bool holds = boolOr(*proved, "holds", false);
    context.say(std::string(holds ? "the proof holds" : "the proof does NOT hold") + " over "
                + std::to_string(judgements) + " judgements each\n");
    const int written = context.writeJson(std::move(*proved), "bench timing");
    return written != Done ? written : holds ? Done : NotClean;
}

} // namespace heddle::cli
