// SPDX-License-Identifier: Apache-2.0
#include "heddle.cuh"

// One block a row; the dynamic shared memory holds one float for each warp.
extern "C" __global__ void row_softmax(const float *x, float *out, int cols, float scale)
{
    extern __shared__ float partial[];
    const float *from = x + static_cast<int64_t>(blockIdx.x) * cols;
    float *to = out + static_cast<int64_t>(blockIdx.x) * cols;
    float peak = heddle::Max::identity();
    for (int col = threadIdx.x; col < cols; col += blockDim.x)
        peak = heddle::Max()(from[col] * scale, peak);
    peak = heddle::block_reduce(peak, heddle::Max(), partial);
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x)
        sum += expf(from[col] * scale - peak);
    sum = heddle::block_reduce(sum, heddle::Sum(), partial);
    for (int col = threadIdx.x; col < cols; col += blockDim.x)
        to[col] = expf(from[col] * scale - peak) / sum;
}
