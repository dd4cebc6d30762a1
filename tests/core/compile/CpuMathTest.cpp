// SPDX-License-Identifier: Apache-2.0
#include "core/base/File.h"
#include "tests/support/PlainLauncher.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace heddle {
namespace {

/// Compiles loops over each function with the very flags of candidates, and opens the result.
class CpuMath : public ::testing::Test {
protected:
    using Loop = void (*)(const float *, float *, std::int64_t);

    static void SetUpTestSuite()
    {
        std::string source = "#include \"heddle_cpu.h\"\n";
        for (const char *name :
             {"exp", "exp_flush", "expm1", "log", "log1p", "log2", "tanh", "erf", "sigmoid", "sigmoid_flush",
              "normal_cdf", "rsqrt", "gelu", "gelu_tanh", "silu", "softplus"})
            source += std::string("extern \"C\" void loop_") + name
                + "(const float *HEDDLE_RESTRICT x, float *HEDDLE_RESTRICT y, int64_t n) {\n#pragma omp "
                  "simd\n"
                  "for (int64_t i = 0; i < n; ++i) y[i] = heddle::"
                + name + "(x[i]); }\n";
        source +=
            "extern \"C\" void loop_pow(const float *HEDDLE_RESTRICT x, float *HEDDLE_RESTRICT y, int64_t n) "
            "{\n"
            "#pragma omp simd\nfor (int64_t i = 0; i < n; ++i) y[i] = heddle::pow(x[i], y[i]); }\n"
            "extern \"C\" void loop_half(const float *HEDDLE_RESTRICT x, float *HEDDLE_RESTRICT y, int64_t "
            "n) {\n"
            "#pragma omp simd\nfor (int64_t i = 0; i < n; ++i) y[i] = float(heddle::float16(x[i])); }\n"
            "extern \"C\" void loop_brain(const float *HEDDLE_RESTRICT x, float *HEDDLE_RESTRICT y, int64_t "
            "n) {\n"
            "#pragma omp simd\nfor (int64_t i = 0; i < n; ++i) y[i] = float(heddle::bfloat16(x[i])); }\n"
            "extern \"C\" void loop_stream(const float *x, float *y, int64_t n)\n"
            "{ heddle::stream_copy(y, x, n); heddle::stream_fence(); }\n";
        const auto header = readFile(std::string(HEDDLE_SOURCE_DIR) + "/resources/include/heddle_cpu.h");
        ASSERT_TRUE(header);
        CompileCommand command{.program = "/usr/bin/g++",
                               .arguments = hostCompilerFlags(),
                               .environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}},
                               .files = {{"loops.cpp", source}, {"heddle_cpu.h", *header}},
                               .output = "loops.so"};
        command.arguments.insert(command.arguments.end(),
                                 {"loops.cpp", "-fopt-info-vec-optimized", "-o", "loops.so"});
        const auto built = testing::launchPlainly(command, {});
        ASSERT_TRUE(built) << built.error().text();
        ASSERT_EQ(built->exitCode, 0) << built->log;
        s_log = built->log;
        auto folder = TempFolder::create("heddle-math-");
        ASSERT_TRUE(folder);
        ASSERT_TRUE(writeFileAtomically(folder->path() / "loops.so", built->object));
        s_library = ::dlopen((folder->path() / "loops.so").c_str(), RTLD_NOW);
        ASSERT_NE(s_library, nullptr) << ::dlerror();
    }

    static Loop loop(const std::string &name)
    {
        void *symbol = ::dlsym(s_library, ("loop_" + name).c_str());
        EXPECT_NE(symbol, nullptr) << name;
        Loop function = nullptr;
        std::memcpy(&function, &symbol, sizeof function);
        return function;
    }

    static float fromBits(std::uint32_t bits)
    {
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    /// Every 1009th float of all 2^32, and the special ones.
    static std::vector<float> wholeRange()
    {
        std::vector<float> values = {0.0f,      -0.0f,    1.0f,      -1.0f,     INFINITY,
                                     -INFINITY, NAN,      88.72283f, 88.72284f, -87.33655f,
                                     -103.97f,  -103.98f, 1e-45f,    -1e-45f};
        for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1009)
            values.push_back(fromBits(static_cast<std::uint32_t>(bits)));
        return values;
    }

    static double ulpOf(double exact)
    {
        const float rounded = static_cast<float>(std::abs(exact));
        return static_cast<double>(std::nextafter(rounded, INFINITY)) - static_cast<double>(rounded);
    }

    static void *s_library;
    static std::string s_log;
};
void *CpuMath::s_library = nullptr;
std::string CpuMath::s_log;

TEST_F(CpuMath, everyFunctionStaysWithinItsErrorOverTheWholeRangeOfFloat)
{
    struct Row {
        const char *name;
        double (*exact)(double);
        double ulps;
    };
    const std::vector<Row> rows = {{"exp", [](double x) { return std::exp(x); }, 1.5},
                                   {"expm1", [](double x) { return std::expm1(x); }, 2.0},
                                   {"log", [](double x) { return std::log(x); }, 1.0},
                                   {"log1p", [](double x) { return std::log1p(x); }, 2.0},
                                   {"tanh", [](double x) { return std::tanh(x); }, 3.0},
                                   {"erf", [](double x) { return std::erf(x); }, 3.0},
                                   {"rsqrt", [](double x) { return 1.0 / std::sqrt(x); }, 1.5},
                                   {"sigmoid", [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, 3.0}};
    const std::vector<float> x = wholeRange();
    std::vector<float> y(x.size());
    for (const Row &row : rows) {
        loop(row.name)(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
        double worst = 0.0;
        float where = 0.0f;
        std::size_t wrongKind = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double exact = row.exact(static_cast<double>(x[i]));
            const float rounded = static_cast<float>(exact);
            if (std::isnan(rounded) != std::isnan(y[i]) || std::isinf(rounded) != std::isinf(y[i]))
                ++wrongKind;
            if (!std::isfinite(rounded) || !std::isfinite(y[i]))
                continue;
            const double error = std::abs(static_cast<double>(y[i]) - exact) / ulpOf(exact);
            if (error > worst) {
                worst = error;
                where = x[i];
            }
        }
        std::printf("%-8s %.3f ulp at %.9g\n", row.name, worst, static_cast<double>(where));
        EXPECT_LE(worst, row.ulps) << row.name << " at " << where;
        EXPECT_EQ(wrongKind, 0u) << row.name << ": NaN or infinity where the other side has none";
    }
}

TEST_F(CpuMath, theCheaperFormsStayWithinTheErrorsThatTheirCommentsPromise)
{
    struct Row {
        const char *name;
        double (*exact)(double);
        bool isRelative;
        float zeroBelow;
        float least; ///< from here to `most` the error is promised
        float most;
    };
    const std::vector<Row> rows = {
        {"exp_flush", [](double x) { return std::exp(x); }, true, -87.3f, -87.0f, 88.0f},
        {"sigmoid_flush", [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, false, -87.3f, -87.3f,
         INFINITY},
        {"normal_cdf", [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }, false, -14.0f, -14.0f,
         INFINITY}};
    const std::vector<float> x = wholeRange();
    std::vector<float> y(x.size());
    for (const Row &row : rows) {
        loop(row.name)(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
        double worst = 0.0;
        float where = 0.0f;
        std::size_t notZero = 0;
        std::size_t notNan = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            notNan += std::isnan(x[i]) && !std::isnan(y[i]) ? 1 : 0;
            notZero += x[i] < row.zeroBelow && y[i] != 0.0f ? 1 : 0;
            if (!(x[i] >= row.least && x[i] <= row.most))
                continue;
            const double exact = row.exact(static_cast<double>(x[i]));
            const double error = std::abs(static_cast<double>(y[i]) - exact) / (row.isRelative ? exact : 1.0);
            if (!(error <= worst)) {
                worst = error;
                where = x[i];
            }
        }
        std::printf("%-14s %.3g %s at %.9g\n", row.name, worst, row.isRelative ? "relative" : "absolute",
                    static_cast<double>(where));
        EXPECT_LE(worst, 1e-7) << row.name << " at " << where;
        EXPECT_EQ(notZero, 0u) << row.name << " below " << row.zeroBelow;
        EXPECT_EQ(notNan, 0u) << row.name;
    }
    // Between its last exact argument and 0 exp_flush stays where it is.
    for (const float value : {-87.0f, -87.1f, -87.29f}) {
        float out = 0.0f;
        loop("exp_flush")(&value, &out, 1);
        EXPECT_FLOAT_EQ(out, std::exp(-87.0f));
    }
}

TEST_F(CpuMath, powKeepsCsSpecialCasesAndSigns)
{
    const std::vector<float> special = {0.0f,      -0.0f, 1.0f,        -1.0f,   2.0f,   -2.0f,     0.5f,
                                        -0.5f,     3.0f,  -3.0f,       1e30f,   -1e30f, 1e-45f,    INFINITY,
                                        -INFINITY, NAN,   16777218.0f, 0.3333f, -7.25f, 1.0000001f};
    std::vector<float> x;
    std::vector<float> y;
    for (const float a : special)
        for (const float b : special) {
            x.push_back(a);
            y.push_back(b);
        }
    const std::vector<float> exponents = y;
    loop("pow")(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = std::pow(static_cast<double>(x[i]), static_cast<double>(exponents[i]));
        const float rounded = static_cast<float>(exact);
        if (std::isnan(rounded)) {
            EXPECT_TRUE(std::isnan(y[i])) << x[i] << " ^ " << exponents[i] << " gave " << y[i];
            continue;
        }
        EXPECT_EQ(std::signbit(rounded), std::signbit(y[i])) << x[i] << " ^ " << exponents[i];
        EXPECT_FLOAT_EQ(rounded, y[i]) << x[i] << " ^ " << exponents[i];
    }
}

TEST_F(CpuMath, halvesRoundToNearestEven)
{
    const std::vector<std::tuple<const char *, float, float>> rows = {
        {"half", 1.00048828125f, 1.0f}, // a tie goes to even
        {"half", 1.00146484375f, 1.001953125f}, {"half", 65519.0f, 65504.0f},
        {"half", 65520.0f, INFINITY},           {"half", 2.98e-8f, 0.0f},
        {"half", 2.9802325e-8f, 5.9604645e-8f}, {"half", -6.1e-5f, -6.097555e-5f},
        {"brain", 1.00390625f, 1.0f},           {"brain", 1.01171875f, 1.015625f},
        {"brain", 3.4e38f, INFINITY},           {"brain", -1e-45f, -0.0f},
        {"half", -INFINITY, -INFINITY}};
    for (const auto &[name, in, expected] : rows) {
        float out = 0.0f;
        loop(name)(&in, &out, 1);
        EXPECT_FLOAT_EQ(out, expected) << name << ' ' << in;
    }
    for (const char *name : {"half", "brain"}) {
        float out = 0.0f;
        const float nan = NAN;
        loop(name)(&nan, &out, 1);
        EXPECT_TRUE(std::isnan(out)) << name;
    }
}

TEST_F(CpuMath, activationsAgreeWithTheirDefinitions)
{
    std::vector<float> x;
    for (float value = -30.0f; value < 30.0f; value += 0.0107f)
        x.push_back(value);
    std::vector<float> y(x.size());
    const auto check = [&](const char *name, auto exact) {
        loop(name)(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
        for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_NEAR(y[i], exact(static_cast<double>(x[i])),
                        3e-7 * std::max(1.0, std::abs(static_cast<double>(x[i]))))
                << name << ' ' << x[i];
    };
    check("gelu", [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); });
    check("gelu_tanh", [](double v) {
        return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    });
    check("silu", [](double v) { return v / (1 + std::exp(-v)); });
    check("softplus", [](double v) { return v > 20 ? v : std::log1p(std::exp(v)); });
    std::erase_if(x, [](float value) { return value > 0.0f; });
    check("exp_flush", [](double v) { return std::exp(v); });
}

TEST_F(CpuMath, everyLoopIsVectorisedByTheCompiler)
{
    // One line for each loop "loops.cpp:LINE:…: optimized: loop vectorized using N byte vectors".
    std::set<std::string> lines;
    std::size_t at = 0;
    while ((at = s_log.find("optimized: loop vectorized", at)) != std::string::npos) {
        const std::size_t start = s_log.rfind('\n', at) + 1;
        const std::string line = s_log.substr(start, at - start);
        if (line.rfind("loops.cpp:", 0) == 0)
            lines.insert(line.substr(0, line.find(':', 10)));
        at += 1;
    }
    EXPECT_GE(lines.size(), 19u) << s_log;
}

TEST_F(CpuMath, aVectorisedExpIsMuchFasterThanTheLibrarys)
{
    std::vector<float> x(4096);
    std::vector<float> y(4096);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i) / 512.0f - 4.0f;
    const auto best = [](auto work) {
        double seconds = 1e9;
        for (int round = 0; round < 50; ++round) {
            const auto start = std::chrono::steady_clock::now();
            work();
            seconds = std::min(
                seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        return seconds;
    };
    const auto ours = loop("exp");
    const double vectorised = best([&] { ours(x.data(), y.data(), 4096); });
    volatile float sink = 0.0f;
    const double library = best([&] {
        for (const float value : x)
            sink = std::exp(value);
    });
    std::printf("exp: %.2f ns an element, the library's %.2f\n", vectorised / 4096 * 1e9,
                library / 4096 * 1e9);
    EXPECT_LT(vectorised * 2.0, library);
}

TEST_F(CpuMath, streamCopyWritesEveryElementAndNoOther)
{
    for (const std::int64_t count : {0, 1, 15, 16, 17, 100, 1000})
        for (std::size_t shift = 0; shift < 5; ++shift) {
            std::vector<float> from(1100, 3.0f);
            std::vector<float> to(1200, -1.0f);
            loop("stream")(from.data() + 1, to.data() + shift, count);
            for (std::size_t i = 0; i < to.size(); ++i)
                ASSERT_EQ(to[i], i >= shift && i < shift + static_cast<std::size_t>(count) ? 3.0f : -1.0f)
                    << i;
        }
}

} // namespace
} // namespace heddle
