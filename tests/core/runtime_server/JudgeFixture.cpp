// SPDX-License-Identifier: Apache-2.0
#include "tests/core/runtime_server/JudgeFixture.h"

#include "core/base/Places.h"

#include <cstdlib>

namespace heddle {

namespace {

const char *const taskSource = R"(
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(columns))
        self.bias = nn.Parameter(torch.zeros(columns))

    def forward(self, x):
        return x * self.weight + self.bias


def get_inputs():
    return [torch.rand(257, 1003)]


def get_init_inputs():
    return [1003]
)";

const char *const plan = R"({"heddle": 1, "target": "cpu",
 "symbols": {"rows": "input:x.shape[0]", "columns": "input:x.shape[1]"},
 "steps": [{"kernel": "affine", "source": "kernel.cpp",
            "args": [{"ptr": "input:x"}, {"ptr": "state:weight"}, {"ptr": "state:bias"}, {"ptr": "out:0"},
                     {"i64": "rows"}, {"i64": "columns"}]}],
 "outputs": [{"dtype": "float32", "shape": ["rows", "columns"]}]})";

const Json *rowOf(const Result<Json> &report, std::string_view id)
{
    if (!report)
        return nullptr;
    for (const Json &row : memberOr(memberOr(*report, "verdict"), "evidence")) {
        if (stringOr(row, "id") == id)
            return &row;
    }
    return nullptr;
}

} // namespace

const char *const rightBody = R"(
#pragma omp parallel for
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column)
            out[row * columns + column] = x[row * columns + column] * weight[column] + bias[column];
)";

std::unique_ptr<Worker> JudgeTest::s_worker;
std::string JudgeTest::s_handle;
std::string JudgeTest::s_skip;

void JudgeTest::SetUpTestSuite()
{
    const char *python = std::getenv("HEDDLE_PYTHON");
    if (python == nullptr) {
        s_skip = "HEDDLE_PYTHON names no interpreter with torch";
        return;
    }
    MachineOptions options;
    options.python = python;
    options.package = packageFolder().value();
    options.resources = resourcesFolder().value();
    auto worker = Worker::create(options);
    if (!worker) {
        s_skip = worker.error().text();
        return;
    }
    s_worker = std::move(*worker);
    auto opened = s_worker->handle("task.open", {{"path", "affine.py"}, {"source", taskSource}}, {}, {});
    if (!opened) {
        s_skip = opened.error().text();
        return;
    }
    s_handle = stringOr(*opened, "handle");
}

void JudgeTest::TearDownTestSuite() { s_worker.reset(); }

void JudgeTest::SetUp()
{
    // Without Python nothing can be judged; a worker that does not start is a failure, not a reason.
    if (std::getenv("HEDDLE_PYTHON") == nullptr)
        GTEST_SKIP() << s_skip;
    ASSERT_TRUE(s_skip.empty()) << s_skip;
}

Result<Json> JudgeTest::judgeFiles(const FileTree &files, const std::string &stage)
{
    return s_worker->handle("candidate.judge", {{"handle", s_handle}, {"files", files}, {"stage", stage}}, {},
                            {});
}

Result<Json> JudgeTest::judgeKernel(const std::string &prelude, const std::string &body,
                                    const std::string &stage)
{
    const std::string source = "#include <stdint.h>\n" + prelude
        + "\nextern \"C\" void affine(const float *x, const float *weight, const float *bias, float *out, "
          "int64_t rows, int64_t columns)\n{\n"
        + body + "\n}\n";
    return judgeFiles({{"plan.json", plan}, {"kernel.cpp", source}}, stage);
}

Result<Json> JudgeTest::judgePython(const std::string &source, const std::string &stage)
{
    return judgeFiles({{"model_new.py", source}}, stage);
}

std::string JudgeTest::classOf(const Result<Json> &report)
{
    return report ? stringOr(memberOr(*report, "verdict"), "class") : "error: " + report.error().text();
}

std::string JudgeTest::statusOf(const Result<Json> &report, std::string_view id)
{
    const Json *row = rowOf(report, id);
    return row == nullptr ? std::string() : stringOr(*row, "status");
}

std::string JudgeTest::messageOf(const Result<Json> &report, std::string_view id)
{
    const Json *row = rowOf(report, id);
    return row == nullptr ? std::string() : stringOr(*row, "message");
}

} // namespace heddle
