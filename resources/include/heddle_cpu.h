// SPDX-License-Identifier: Apache-2.0
//
// What CPU kernels of a native candidate may use: types, element-wise mathematics that g++ vectorises,
// 16-bit floats, streaming stores, and a parallel loop. Needs no other header of the C++ library, so
// that a kernel compiles in a fraction of a second.
//
// Every function is a straight line of selects over float: a loop over it vectorises with
// `#pragma omp simd` for whatever -march=native has. Written for -fno-math-errno -fno-trapping-math and
// NOT for -ffast-math (the argument reductions rely on IEEE rounding; infinities and NaN are kept).
// Methods: exp by Cody-Waite reduction and a polynomial (Cody & Waite, "Software Manual for the
// Elementary Functions", 1980); log by the atanh series as in FDLIBM's description; log1p by the
// correction term of Kahan; tanh and sigmoid from expm1 and exp; erf in two pieces, x P(x²) and
// 1 - exp(Q(|x|)). The coefficients are our own near-minimax fits (iteratively reweighted Chebyshev
// least squares in double). Largest errors over the float range, measured by the test beside this
// header's users: see docs/measurements/cpu-math.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef _OPENMP
extern "C" int omp_get_max_threads(void);
#endif

#define HEDDLE_RESTRICT __restrict__
#define HEDDLE_INLINE inline __attribute__((always_inline))

namespace heddle {

/// The pointer, promised to be aligned. Buffers of a plan start at 64-byte boundaries; a pointer with
/// an offset does not have to.
template<int bytes = 64, typename T>
HEDDLE_INLINE T *aligned(T *pointer)
{
    return static_cast<T *>(__builtin_assume_aligned(pointer, bytes));
}

HEDDLE_INLINE int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
template<typename T>
HEDDLE_INLINE T min(T a, T b)
{
    return b < a ? b : a;
}
template<typename T>
HEDDLE_INLINE T max(T a, T b)
{
    return a < b ? b : a;
}

// ---------------------------------------------------------------- bits and simple functions

HEDDLE_INLINE uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
HEDDLE_INLINE float from_bits(uint32_t x) { return __builtin_bit_cast(float, x); }
HEDDLE_INLINE float infinity() { return __builtin_inff(); }
HEDDLE_INLINE float nan() { return __builtin_nanf(""); }
HEDDLE_INLINE float abs(float x) { return __builtin_fabsf(x); }
HEDDLE_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
HEDDLE_INLINE float floor(float x) { return __builtin_floorf(x); }
HEDDLE_INLINE float ceil(float x) { return __builtin_ceilf(x); }
HEDDLE_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HEDDLE_INLINE float copysign(float x, float sign) { return __builtin_copysignf(x, sign); }
/// 1/sqrt(x) by division: 1 ulp, unlike the rsqrt instruction.
HEDDLE_INLINE float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
/// Rounds to an integer, ties to even, for |x| < 2^22.
HEDDLE_INLINE float round_small(float x) { return (x + 12582912.0f) - 12582912.0f; }

namespace detail {

constexpr float log2e = 0x1.715476p+0f;
constexpr float ln2_high = 0x1.62e400p-1f; // 15 bits: n * ln2_high is exact for |n| < 2^9
constexpr float ln2_low = 0x1.7f7d1cp-20f;
constexpr float magic = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
/// The same with the exponent's bias of 127 added, so that the sum's low bits are the exponent of 2^n.
constexpr float biased_magic = 12583039.0f;

/// 2^n for -126 <= n <= 127.
HEDDLE_INLINE float power_of_two(int32_t n) { return from_bits(static_cast<uint32_t>(n + 127) << 23); }

/// 2^n for shifted = biased_magic + n, -126 <= n <= 127; the bits of the magic number leave by the shift.
HEDDLE_INLINE float biased_power(float shifted) { return from_bits(bits(shifted) << 23); }

/// (exp(r) - 1 - r) / r² for |r| <= ln2 / 2.
HEDDLE_INLINE float exp_curvature(float r)
{
    float q = 0.0013941164361312985f;
    q = fma(q, r, 0.008363205008208752f);
    q = fma(q, r, 0.04166637361049652f);
    q = fma(q, r, 0.16666576266288757f);
    return fma(q, r, 0.5f);
}

/// exp(r) - 1 - r for |r| <= ln2 / 2.
HEDDLE_INLINE float exp_tail(float r) { return exp_curvature(r) * r * r; }

/// x = n ln2 + r; x within [-104, 89] or NaN.
HEDDLE_INLINE float reduce_exp(float x, int32_t &n)
{
    const float shifted = fma(x, log2e, magic);
    n = static_cast<int32_t>(bits(shifted)) - static_cast<int32_t>(bits(magic));
    const float whole = shifted - magic;
    return fma(whole, -ln2_low, fma(whole, -ln2_high, x));
}

} // namespace detail

/// x / c for a constant c that is no power of two: `high` is 1 / c rounded towards zero, `low` what is left
/// of it, of the same sign so that infinity stays infinity. Rounded as the division is but for rare last bits,
/// at a fifth of its time.
HEDDLE_INLINE float times_reciprocal(float x, float high, float low) { return fma(x, high, x * low); }

// ---------------------------------------------------------------- exponentials

/// e^x; overflows to infinity, underflows through the denormals to 0.
HEDDLE_INLINE float exp(float x)
{
    float c = x < -104.0f ? -104.0f : x;
    c = c > 89.0f ? 89.0f : c;
    int32_t n = 0;
    const float r = detail::reduce_exp(c, n);
    const float p = 1.0f + (r + detail::exp_tail(r));
    // Two factors reach denormal results and the overflow alike. A NaN's n is garbage: clamp it by mask.
    n = n > 256 || n < -256 ? 0 : n;
    const int32_t half = n >> 1;
    return p * detail::power_of_two(half) * detail::power_of_two(n - half);
}

/// e^x for arguments known to be within [-87, 88]: one multiplication less. Softmax with its maximum
/// subtracted needs exp(): its arguments reach far below.
HEDDLE_INLINE float exp_normal(float x)
{
    const float shifted = fma(x, detail::log2e, detail::biased_magic);
    const float whole = shifted - detail::biased_magic;
    const float r = fma(whole, -detail::ln2_low, fma(whole, -detail::ln2_high, x));
    const float p = fma(fma(detail::exp_curvature(r), r, 1.0f), r, 1.0f);
    // A product, so that a NaN stays one whatever its bits make of the power.
    return p * detail::biased_power(shifted);
}

/// e^x for x <= 88: from -87 down it is e^-87, below -87.3 it is 0, where the true one would be denormal. The
/// cheapest form for softmax (every argument <= 0); NaN stays NaN.
HEDDLE_INLINE float exp_flush(float x)
{
    const float c = x < -87.0f ? -87.0f : x;
    const float y = exp_normal(c);
    return x < -87.3f ? 0.0f : y;
}

/// e^x - 1 without cancellation near 0.
HEDDLE_INLINE float expm1(float x)
{
    float c = x < -18.0f ? -18.0f : x;
    c = c > 89.0f ? 89.0f : c;
    int32_t n = 0;
    const float r = detail::reduce_exp(c, n);
    const float p = r + detail::exp_tail(r);
    n = n > 256 || n < -256 ? 0 : n;
    // Half of 2^n, so that n = 128 does not overflow before the sum does.
    const float s = detail::power_of_two(n - 1);
    return 2.0f * (s * p + (s - 0.5f));
}

// ---------------------------------------------------------------- logarithms

/// Natural logarithm; -infinity at 0, NaN below.
HEDDLE_INLINE float log(float x)
{
    const bool is_denormal = x < 0x1p-126f;
    const float scaled = is_denormal ? x * 0x1p23f : x;
    const int32_t i = static_cast<int32_t>(bits(scaled));
    // m in [sqrt(1/2), sqrt(2)).
    const int32_t e = (i - 0x3f3504f3) >> 23;
    const float m =
        from_bits(static_cast<uint32_t>(i - static_cast<int32_t>(static_cast<uint32_t>(e) << 23)));
    const float exponent = static_cast<float>(e) - (is_denormal ? 23.0f : 0.0f);
    const float f = m - 1.0f;
    const float s = f / (2.0f + f);
    const float z = s * s;
    float q = 0.2958235442638397f;
    q = fma(q, z, 0.3998871147632599f);
    q = fma(q, z, 0.6666668653488159f);
    const float tail = q * z;
    // log(1 + f) = f - s (f - tail): f is exact, so only the small second term carries errors.
    const float low = fma(s, f - tail, -(exponent * detail::ln2_low));
    float y = fma(exponent, detail::ln2_high, f - low);
    y = x < infinity() ? y : x;
    y = x == 0.0f ? -infinity() : y;
    return x < 0.0f ? nan() : y;
}

/// log(1 + x) without cancellation near 0.
HEDDLE_INLINE float log1p(float x)
{
    const float u = 1.0f + x;
    const float correction = (x - (u - 1.0f)) / u;
    // 0/0 at u = 0 and inf - inf at u = inf are no corrections.
    const float below = u > 0.0f ? correction : 0.0f;
    const float y = log(u) + (u < infinity() ? below : 0.0f);
    return u == 1.0f ? x : y;
}

HEDDLE_INLINE float log2(float x) { return log(x) * detail::log2e; }

// ---------------------------------------------------------------- hyperbolic, logistic, error function

/// Hyperbolic tangent.
HEDDLE_INLINE float tanh(float x)
{
    const float a = abs(x);
    const float t = expm1(2.0f * (a < 10.0f ? a : 10.0f));
    const float y = t / (t + 2.0f);
    return x != x ? x : copysign(y, x);
}

/// 1 / (1 + e^-x), accurate at both ends.
HEDDLE_INLINE float sigmoid(float x)
{
    const float e = exp(-abs(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/// The same to an absolute error below 1e-7, at two thirds of the cost: results below 1e-38 are 0.
HEDDLE_INLINE float sigmoid_flush(float x)
{
    float c = -x;
    c = c < -87.0f ? -87.0f : c;
    c = c > 88.0f ? 88.0f : c;
    const float y = 1.0f / (1.0f + exp_normal(c));
    return x < -87.3f ? 0.0f : y;
}

/// The error function.
HEDDLE_INLINE float erf(float x)
{
    const float a = abs(x);
    const float z = a * a;
    float p = 8.215425623347983e-05f;
    p = fma(p, z, -0.000810596568044275f);
    p = fma(p, z, 0.0051977974362671375f);
    p = fma(p, z, -0.026858104392886162f);
    p = fma(p, z, 0.11283672600984573f);
    p = fma(p, z, -0.37612631916999817f);
    p = fma(p, z, 1.128379225730896f);
    const float near = p * a;
    const float b = a < 4.0f ? a : 4.0f;
    float q = 0.0001971819729078561f;
    q = fma(q, b, -0.0030556097626686096f);
    q = fma(q, b, 0.022277094423770905f);
    q = fma(q, b, -0.10403737425804138f);
    q = fma(q, b, -0.63705974817276f);
    q = fma(q, b, -1.1277495622634888f);
    q = fma(q, b, -0.00017749280959833413f);
    const float far = 1.0f - exp_normal(q);
    const float y = copysign(a < 0.93f ? near : far, x);
    return x != x ? x : y;
}

/// The distribution function of the standard normal distribution, (1 + erf(x / sqrt 2)) / 2, to an absolute
/// error below 1e-7 (at -5.5, where it is 2e-8, to 5 %; 1 + erf has no digit left there). 0 below -14.
HEDDLE_INLINE float normal_cdf(float x)
{
    const float magnitude = abs(x);
    const float a = magnitude > 14.0f ? 14.0f : magnitude;
    // log2 of the tail beyond |x|: fitted over [0, 6] with the tail as weight, falling steeply after that.
    float q = -2.7720569e-06f;
    q = fma(q, a, 3.8620814e-05f);
    q = fma(q, a, -0.00018254781f);
    q = fma(q, a, -0.00014586983f);
    q = fma(q, a, 0.0070754716f);
    q = fma(q, a, -0.052505029f);
    q = fma(q, a, -0.45920491f);
    q = fma(q, a, -1.1511057f);
    q = fma(q, a, -1.0f);
    q = q < -126.0f ? -126.0f : q;
    const float shifted = q + detail::biased_magic;
    const float r = q - (shifted - detail::biased_magic);
    // 2^r for |r| <= 1/2.
    float p = 0.00015345807f;
    p = fma(p, r, 0.0013399931f);
    p = fma(p, r, 0.009618489f);
    p = fma(p, r, 0.055503288f);
    p = fma(p, r, 0.24022647f);
    p = fma(p, r, 0.69314721f);
    p = fma(p, r, 1.0f);
    const float power = p * detail::biased_power(shifted);
    const float tail = magnitude > 14.0f ? 0.0f : power;
    return x < 0.0f ? tail : 1.0f - tail;
}

// ---------------------------------------------------------------- activations

HEDDLE_INLINE float relu(float x) { return x < 0.0f ? 0.0f : x; }
HEDDLE_INLINE float silu(float x) { return x * sigmoid(x); }
/// The erf form, PyTorch's default.
HEDDLE_INLINE float gelu(float x) { return 0.5f * x * (1.0f + erf(x * 0.70710678118654752f)); }
/// The tanh form, approximate="tanh".
HEDDLE_INLINE float gelu_tanh(float x)
{
    const float inner = 0.79788456080286536f * fma(0.044715f * x * x, x, x);
    return 0.5f * x * (1.0f + tanh(inner));
}
/// log(1 + e^(beta x)) / beta, and x itself where beta x > threshold, as PyTorch defines it.
HEDDLE_INLINE float softplus(float x, float beta = 1.0f, float threshold = 20.0f)
{
    const float t = beta * x;
    // max(t, 0) + log1p(e^-|t|): the same value, and nothing overflows.
    const float y = ((t > 0.0f ? t : 0.0f) + log1p(exp(-abs(t)))) / beta;
    return t > threshold ? x : y;
}

// ---------------------------------------------------------------- powers

/// x^y with the special cases of C's pow; computed in double, so within 1 ulp of float.
HEDDLE_INLINE float pow(float x, float y)
{
    const float a = abs(x);
    const bool is_denormal = a < 0x1p-126f;
    const int32_t i = static_cast<int32_t>(bits(is_denormal ? a * 0x1p23f : a));
    const int32_t e = (i - 0x3f3504f3) >> 23;
    const double m = static_cast<double>(
        from_bits(static_cast<uint32_t>(i - static_cast<int32_t>(static_cast<uint32_t>(e) << 23))));
    const double exponent = static_cast<double>(e - (is_denormal ? 23 : 0));
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double q = 2.0 / 15.0;
    q = q * z + 2.0 / 13.0;
    q = q * z + 2.0 / 11.0;
    q = q * z + 2.0 / 9.0;
    q = q * z + 2.0 / 7.0;
    q = q * z + 2.0 / 5.0;
    q = q * z + 2.0 / 3.0;
    q = q * z + 2.0;
    double logarithm = exponent * 0x1.62e42fefa39efp-1 + s * q;
    logarithm = a == 0.0f ? -__builtin_inf() : logarithm;
    logarithm = a < infinity() ? logarithm : static_cast<double>(a);
    double t = static_cast<double>(y) * logarithm;
    t = t < -110.0 ? -110.0 : t;
    t = t > 90.0 ? 90.0 : t;
    const double shifted = t * 0x1.71547652b82fep+0 + 0x1.8p52;
    const double whole = shifted - 0x1.8p52;
    const double r = t - whole * 0x1.62e42fefa39efp-1;
    double p = 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    // The low bits of `shifted` hold the integer; moved into the exponent they make 2^n.
    const uint64_t scale_bits = (__builtin_bit_cast(uint64_t, shifted) + 1023u) << 52;
    float result = static_cast<float>(p * __builtin_bit_cast(double, scale_bits));
    result = t != t ? nan() : result;
    // Conditions as integers: g++ 12 does not vectorise a select between two booleans.
    const uint32_t negative = bits(x) >> 31;
    const uint32_t integer = y == floor(y) ? 1u : 0u;
    const uint32_t odd = 0.5f * y != floor(0.5f * y) ? integer : 0u;
    result = a == 1.0f ? (y == y ? 1.0f : y) : result;
    result = from_bits(bits(result) ^ ((negative & odd) << 31));
    const uint32_t below_zero = x < 0.0f ? 1u : 0u;
    const uint32_t finite = a < infinity() ? 1u : 0u;
    const uint32_t invalid = below_zero & finite & (integer ^ 1u);
    result = invalid != 0u ? nan() : result;
    result = x == 1.0f ? 1.0f : result;
    return y == 0.0f ? 1.0f : result;
}

// ---------------------------------------------------------------- 16-bit floats

/// bfloat16 as PyTorch stores it. Arithmetic is done in float: `float(x)` and `bfloat16(y)`.
struct bfloat16 {
    uint16_t storage;
    bfloat16() = default;
    /// Rounds to nearest, ties to even; NaN stays NaN.
    HEDDLE_INLINE explicit bfloat16(float x)
    {
        const uint32_t b = bits(x);
        const uint32_t rounded = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
        storage = static_cast<uint16_t>(x != x ? 0x7fc0u : rounded);
    }
    HEDDLE_INLINE explicit operator float() const { return from_bits(static_cast<uint32_t>(storage) << 16); }
};

/// IEEE half precision as PyTorch stores it.
struct float16 {
    uint16_t storage;
    float16() = default;
    /// Rounds to nearest, ties to even; denormals, infinities and NaN kept.
    HEDDLE_INLINE explicit float16(float x)
    {
        const uint32_t sign = (bits(x) >> 16) & 0x8000u;
        const float a = abs(x);
        // Normal results: round the mantissa to 10 bits in integer arithmetic, re-bias by 112.
        const uint32_t b = bits(a);
        const uint32_t normal = (b - 0x38000000u + 0xfffu + ((b >> 13) & 1u)) >> 13;
        // Denormal results: adding 0.5 lines the mantissa up, and the addition itself rounds to even.
        const uint32_t denormal = bits(a + 0.5f) - 0x3f000000u;
        uint32_t h = a < 0x1p-14f ? denormal : normal;
        h = a >= 65520.0f ? 0x7c00u : h;
        h = x != x ? 0x7e00u : h;
        storage = static_cast<uint16_t>(sign | h);
    }
    HEDDLE_INLINE explicit operator float() const
    {
        const uint32_t h = storage;
        const uint32_t shifted = (h & 0x7fffu) << 13;
        // Multiplying by 2^112 re-biases normals and denormals alike, exactly.
        const float finite = from_bits(shifted) * 0x1p112f;
        const uint32_t special = shifted | 0x7f800000u;
        const uint32_t magnitude = (h & 0x7c00u) == 0x7c00u ? special : bits(finite);
        return from_bits(magnitude | ((h & 0x8000u) << 16));
    }
};

static_assert(sizeof(bfloat16) == 2 && sizeof(float16) == 2, "16-bit floats are two bytes");

// ---------------------------------------------------------------- memory

/// Copies `count` floats to `to` around the caches, for output that is not read again soon and is larger
/// than the last-level cache. `from` is a small block that was just computed. Ends without a fence: call
/// stream_fence() once before the kernel returns.
inline void stream_copy(float *HEDDLE_RESTRICT to, const float *HEDDLE_RESTRICT from, int64_t count)
{
#if defined(__AVX512F__)
    typedef float Vector __attribute__((vector_size(64)));
#elif defined(__AVX__)
    typedef float Vector __attribute__((vector_size(32)));
#else
    typedef float Vector __attribute__((vector_size(16)));
#endif
    constexpr int64_t width = static_cast<int64_t>(sizeof(Vector) / sizeof(float));
    int64_t i = 0;
    while (i < count && reinterpret_cast<uintptr_t>(to + i) % sizeof(Vector) != 0) {
        to[i] = from[i];
        ++i;
    }
    for (; i + width <= count; i += width) {
        Vector v;
        __builtin_memcpy(&v, from + i, sizeof v);
#if defined(__AVX512F__)
        __builtin_ia32_movntps512(to + i, v);
#elif defined(__AVX__)
        __builtin_ia32_movntps256(to + i, v);
#elif defined(__SSE__)
        __builtin_ia32_movntps(to + i, v);
#else
        __builtin_memcpy(to + i, &v, sizeof v);
#endif
    }
    for (; i < count; ++i)
        to[i] = from[i];
}

/// Makes streaming stores of this thread visible before what follows.
HEDDLE_INLINE void stream_fence()
{
#if defined(__SSE__)
    __builtin_ia32_sfence();
#endif
}

// ---------------------------------------------------------------- folds over rows

/// For the lambda of for_lanes(): its loop is vectorised only when the body stands in it.
#define HEDDLE_INLINE_BODY __attribute__((always_inline))

/// Partial results that a fold keeps: four vectors of sixteen floats hide the latency of an addition.
constexpr int64_t fold_lanes = 64;

/// Calls body(i, lane) for i in [begin, end), in vectors; the i of one lane are fold_lanes apart. The folds
/// below, given that lane, then stay in registers.
template<typename Body>
HEDDLE_INLINE void for_lanes(int64_t begin, int64_t end, const Body &body)
{
    int64_t at = begin;
    for (; at + fold_lanes <= end; at += fold_lanes) {
#pragma omp simd
        for (int64_t lane = 0; lane < fold_lanes; ++lane)
            body(at + lane, lane);
    }
#pragma omp simd
    for (int64_t lane = 0; lane < end - at; ++lane)
        body(at + lane, lane);
}

/// A sum of floats: in float over each lane, pairwise over lanes, in double at the end. Over n elements the
/// error grows as that of n / 64 additions, so call total() every some thousand elements.
struct SumLanes {
    alignas(64) float lanes[fold_lanes] = {};
    HEDDLE_INLINE void add(int64_t lane, float value) { lanes[lane] += value; }
    HEDDLE_INLINE double total() const
    {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (int64_t lane = 0; lane < 16; ++lane)
            sum +=
                static_cast<double>((lanes[lane] + lanes[lane + 16]) + (lanes[lane + 32] + lanes[lane + 48]));
        return sum;
    }
};

/// A sum of doubles, for long rows whose moments are taken in one pass.
struct WideSumLanes {
    alignas(64) double lanes[fold_lanes] = {};
    HEDDLE_INLINE void add(int64_t lane, double value) { lanes[lane] += value; }
    HEDDLE_INLINE double total() const
    {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (int64_t lane = 0; lane < fold_lanes; ++lane)
            sum += lanes[lane];
        return sum;
    }
};

/// The largest (or smallest) float; NaN is passed over.
template<bool isMax>
struct ExtremeLanes {
    alignas(64) float lanes[fold_lanes];
    HEDDLE_INLINE ExtremeLanes()
    {
        for (int64_t lane = 0; lane < fold_lanes; ++lane)
            lanes[lane] = isMax ? -infinity() : infinity();
    }
    HEDDLE_INLINE void add(int64_t lane, float value) { lanes[lane] = further(lanes[lane], value); }
    HEDDLE_INLINE float total() const
    {
        alignas(64) float part[16];
#pragma omp simd
        for (int64_t lane = 0; lane < 16; ++lane)
            part[lane] =
                further(further(lanes[lane], lanes[lane + 16]), further(lanes[lane + 32], lanes[lane + 48]));
        for (int64_t half = 8; half > 0; half /= 2) {
            for (int64_t lane = 0; lane < half; ++lane)
                part[lane] = further(part[lane], part[lane + half]);
        }
        return part[0];
    }

private:
    static HEDDLE_INLINE float further(float a, float b) { return (isMax ? a < b : a > b) ? b : a; }
};
using MaxLanes = ExtremeLanes<true>;
using MinLanes = ExtremeLanes<false>;

/// Whether a NaN came by, for folds that pass over it.
struct NaNLanes {
    alignas(64) int32_t lanes[fold_lanes] = {};
    HEDDLE_INLINE void add(int64_t lane, float value) { lanes[lane] |= value != value ? 1 : 0; }
    HEDDLE_INLINE int32_t any() const
    {
        int32_t found = 0;
#pragma omp simd reduction(| : found)
        for (int64_t lane = 0; lane < fold_lanes; ++lane)
            found |= lanes[lane];
        return found;
    }
};

// ---------------------------------------------------------------- threads

/// How many threads a parallel loop will use.
inline int threads()
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/// Calls body(begin, end) for consecutive pieces of [0, count), at most `chunk` long, spread statically
/// over the OpenMP threads; a single piece runs on the caller without waking anybody.
template<typename Body>
inline void parallel_chunks(int64_t count, int64_t chunk, const Body &body)
{
    if (count <= chunk) {
        if (count > 0)
            body(static_cast<int64_t>(0), count);
        return;
    }
    const int64_t pieces = ceil_div(count, chunk);
#pragma omp parallel for schedule(static)
    for (int64_t piece = 0; piece < pieces; ++piece)
        body(piece * chunk, min(count, (piece + 1) * chunk));
}

} // namespace heddle
