// SPDX-License-Identifier: Apache-2.0
#include "heddle_cpu.h"

extern "C" void count_call(int64_t *calls) { *calls += 1; }

extern "C" void clear(float *hidden, int64_t n)
{
    for (int64_t i = 0; i < n; ++i)
        hidden[i] = 0.0f;
}

// One step in time over the whole batch: hidden = tanh(decay * hidden + x), also stored as this step's state.
extern "C" void scan_step(const float *HEDDLE_RESTRICT x, const float *HEDDLE_RESTRICT decay,
                          float *HEDDLE_RESTRICT hidden, float *HEDDLE_RESTRICT states, int64_t n,
                          int64_t features)
{
    const int64_t rows = n / features;
    heddle::parallel_chunks(rows, heddle::max<int64_t>(1, CHUNK / features), [=](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const int64_t base = row * features;
#pragma omp simd
            for (int64_t i = 0; i < features; ++i) {
                const float h = heddle::tanh(decay[i] * hidden[base + i] + x[base + i]);
                hidden[base + i] = h;
                states[base + i] = h;
            }
        }
    });
}
