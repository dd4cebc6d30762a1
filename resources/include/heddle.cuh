// SPDX-License-Identifier: Apache-2.0
//
// What CUDA kernels of a native candidate may use under NVRTC, where no host header exists: integers,
// vector loads, reductions over warps and blocks.
#pragma once

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

namespace heddle {

__host__ __device__ __forceinline__ constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// `Count` neighbouring elements as one load or store; the address must be aligned to the whole.
template<typename T, int Count>
struct alignas(sizeof(T) * Count) Vector {
    T values[Count];
    __device__ __forceinline__ T &operator[](int i) { return values[i]; }
    __device__ __forceinline__ const T &operator[](int i) const { return values[i]; }
};

template<int Count, typename T>
__device__ __forceinline__ Vector<T, Count> load(const T *address)
{
    return *reinterpret_cast<const Vector<T, Count> *>(address);
}

template<int Count, typename T>
__device__ __forceinline__ void store(T *address, const Vector<T, Count> &value)
{
    *reinterpret_cast<Vector<T, Count> *>(address) = value;
}

/// Index of this thread in a one-dimensional grid.
__device__ __forceinline__ int64_t global_index()
{
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

struct Sum {
    __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
    static __device__ __forceinline__ float identity() { return 0.0f; }
};
/// Keeps NaN, unlike fmaxf.
struct Max {
    __device__ __forceinline__ float operator()(float a, float b) const { return a != a || a > b ? a : b; }
    static __device__ __forceinline__ float identity() { return __int_as_float(0xff800000); }
};

/// The reduction over a warp, in every lane.
template<typename Op>
__device__ __forceinline__ float warp_reduce(float value, Op op)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value = op(value, __shfl_xor_sync(0xffffffffu, value, offset));
    return value;
}

/// The reduction over a one-dimensional block of whole warps, in every thread. `shared` has 32 floats and
/// may be reused at once: the function ends with a barrier.
template<typename Op>
__device__ __forceinline__ float block_reduce(float value, Op op, float *shared)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    value = warp_reduce(value, op);
    if (lane == 0)
        shared[warp] = value;
    __syncthreads();
    const int warps = (blockDim.x + 31) / 32;
    value = warp_reduce(lane < warps ? shared[lane] : Op::identity(), op);
    __syncthreads();
    return value;
}

} // namespace heddle
