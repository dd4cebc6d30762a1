// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/server/Worker.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heddle {

/// One real worker for the whole program, on a small task `y = x * weight + bias`; candidates are kernels with the
/// signature `affine(const float *x, const float *weight, const float *bias, float *out, int64_t rows, int64_t columns)`.
class JudgeTest : public testing::Test {
protected:
    static void SetUpTestSuite();
    static void TearDownTestSuite();
    void SetUp() override;

    /// Judges a kernel's source. `prelude` goes before the function, `body` inside it.
    static Result<Json> judgeKernel(const std::string &prelude, const std::string &body,
                                    const std::string &stage = "quick");
    static Result<Json> judgePython(const std::string &source, const std::string &stage = "quick");
    static Result<Json> judgeFiles(const FileTree &files, const std::string &stage);
    static std::string classOf(const Result<Json> &report);
    /// "passed", "failed", "not run", or "" where the sheet lacks the row.
    static std::string statusOf(const Result<Json> &report, std::string_view row);
    /// False where the machine was busy: then there are no times to look at, and the verdict says so.
    static bool wasTimed(const Result<Json> &report) { return statusOf(report, "timing") == "passed"; }
    static std::string messageOf(const Result<Json> &report, std::string_view row);

    static std::unique_ptr<Worker> s_worker;
    static std::string s_handle;
    static std::string s_skip; ///< why nothing can be judged here
};

/// The body of a kernel that is right.
extern const char *const rightBody;

} // namespace heddle
