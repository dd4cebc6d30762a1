// SPDX-License-Identifier: Apache-2.0
#include "heddle_cpu.h"

extern "C" void row_peak(const float *x, float *peak, int64_t rows, int32_t cols, float scale)
{
    heddle::parallel_chunks(rows, 16, [=](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float *from = x + row * cols;
            float best = -heddle::infinity();
#pragma omp simd reduction(max : best)
            for (int32_t col = 0; col < cols; ++col)
                best = heddle::max(best, from[col] * scale);
            peak[row] = best;
        }
    });
}

extern "C" void row_softmax(const float *x, const float *peak, float *out, int64_t rows, int32_t cols,
                            float scale)
{
    heddle::parallel_chunks(rows, 16, [=](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float *HEDDLE_RESTRICT from = x + row * cols;
            float *HEDDLE_RESTRICT to = out + row * cols;
            const float shift = peak[row];
            float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
            for (int32_t col = 0; col < cols; ++col) {
                const float e = heddle::exp(from[col] * scale - shift);
                to[col] = e;
                sum += e;
            }
            const float factor = 1.0f / sum;
#pragma omp simd
            for (int32_t col = 0; col < cols; ++col)
                to[col] *= factor;
        }
    });
}
