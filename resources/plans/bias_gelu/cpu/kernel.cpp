// SPDX-License-Identifier: Apache-2.0
#include "heddle_cpu.h"

// One pass: a row is read, biased, activated and written; CHUNK elements are one thread's piece of work.
extern "C" void bias_gelu(const float *HEDDLE_RESTRICT x, const float *HEDDLE_RESTRICT bias,
                          float *HEDDLE_RESTRICT out, int64_t rows, int64_t cols)
{
    const int64_t chunk = heddle::max<int64_t>(1, CHUNK / cols);
    heddle::parallel_chunks(rows, chunk, [=](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float *from = x + row * cols;
            float *to = out + row * cols;
#pragma omp simd
            for (int64_t col = 0; col < cols; ++col)
                to[col] = heddle::gelu(from[col] + bias[col]);
        }
    });
}
