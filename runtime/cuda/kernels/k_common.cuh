// SPDX-License-Identifier: Apache-2.0
// Shared by all kernels: launching, element types, wide loads, sums over a block in a fixed order. This file and the k_*.cu
// files are compiled twice: by nvcc for the GPU, and by the host's C++ compiler with -include test/emulate/emulate.h, which
// runs the same lines thread by thread (docs/testing.md). So a kernel uses only this file, k_mma.cuh and element.h: no inline
// assembly and no intrinsics that emulate.h lacks.
//
// A kernel takes one struct by value (declared in its k_*.h). Sums never use atomics, so the same input gives the same bytes.
#pragma once

#ifndef DAWN_EMULATE
#include <cuda_runtime.h>
#endif
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "runtime/cuda/kernels/k_divide.h"
#include "runtime/element.h"
#include "runtime/graph.h"

// ---- launching

#ifndef DAWN_EMULATE
template <typename K>
static cudaError_t launch(void (*kernel)(const K), dim3 grid, dim3 block, cudaStream_t stream, const K &k)
{
    void *list[] = {const_cast<K *>(&k)};
    return cudaLaunchKernel((const void *)kernel, grid, block, list, 0, stream);
}
#endif  // the emulator defines its own

enum { K_WARP = 32, K_BLOCK = 256 };

// Blocks of K_BLOCK threads for `count` threads. The last block is not full, so kernels check their index.
static inline unsigned blocks_for(int64_t count, int per_block = K_BLOCK)
{
    int64_t blocks = k_divide_up(count, per_block);
    return (unsigned)(blocks < 1 ? 1 : blocks);  // at most 2^31 - 1 in x: 5e11 threads, more than any memory holds
}

#define TRY_CUDA(call)                                                                                                 \
    do {                                                                                                               \
        cudaError_t try_error_ = (call);                                                                               \
        if (try_error_ != cudaSuccess) return try_error_;                                                              \
    } while (0)

// ---- element types: f32, bf16 and f16 in memory, f32 in registers

__device__ static inline float to_float(float x) { return x; }
__device__ static inline float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ static inline float to_float(__half x) { return __half2float(x); }
__device__ static inline float to_float(uint8_t x) { return (float)x; }
__device__ static inline float to_float(int32_t x) { return (float)x; }

template <typename T> __device__ static inline T from_float(float x);
template <> __device__ inline float from_float<float>(float x) { return x; }
template <> __device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float x) { return __float2bfloat16_rn(x); }
template <> __device__ inline __half from_float<__half>(float x) { return __float2half_rn(x); }

// Expands a statement with T as the C type of a float dtype: BY_FLOAT(k->type, T, return launch(act<T>, ...));
#define BY_FLOAT(dtype, T, ...)                                                                                        \
    switch (dtype) {                                                                                                   \
    case F32: { typedef float T; __VA_ARGS__; } break;                                                                 \
    case BF16: { typedef __nv_bfloat16 T; __VA_ARGS__; } break;                                                        \
    case F16: { typedef __half T; __VA_ARGS__; } break;                                                                \
    default: break;                                                                                                    \
    }                                                                                                                  \
    return cudaErrorInvalidValue

// N adjacent elements moved at once; the address must be a multiple of their size (up to 16 bytes are one load).
template <typename T, int N> struct alignas(sizeof(T) * N <= 16 ? sizeof(T) * N : 16) lanes {
    T at[N];
};
// The number of T in 16 bytes.
template <typename T> struct wide { enum { N = 16 / (int)sizeof(T) }; };

template <int N, typename T> __device__ static inline void load(const T *from, float (&into)[N])
{
    lanes<T, N> v = *(const lanes<T, N> *)from;
    for (int i = 0; i < N; i++) into[i] = to_float(v.at[i]);
}
template <int N, typename T> __device__ static inline void store(T *to, const float (&from)[N])
{
    lanes<T, N> v;
    for (int i = 0; i < N; i++) v.at[i] = from_float<T>(from[i]);
    *(lanes<T, N> *)to = v;
}

// The activation of several elements with one branch for all.
template <int N> __device__ static inline void act_all(enum act act, float (&v)[N])
{
    switch (act) {
#define ACT(ID, name)                                                                                                  \
    case ACT_##ID:                                                                                                     \
        for (int i = 0; i < N; i++) v[i] = element_##name(v[i]);                                                       \
        break;
        ACT_LIST(ACT)
#undef ACT
    default: break;
    }
}
__device__ static inline float act_value(enum act act, float x)
{
    float v[1] = {x};
    act_all<1>(act, v);
    return v[0];
}

// Multiplies dy by the activation's slope at x.
template <int N> __device__ static inline void slope_all(enum act act, const float (&x)[N], float (&dy)[N])
{
    switch (act) {
#define ACT(ID, name)                                                                                                  \
    case ACT_##ID:                                                                                                     \
        for (int i = 0; i < N; i++) dy[i] *= element_##name##_slope(x[i]);                                             \
        break;
        ACT_LIST(ACT)
#undef ACT
    default: break;
    }
}

__device__ static inline float act_slope(enum act act, float x)
{
    float v[1] = {x}, d[1] = {1.0f};
    slope_all<1>(act, v, d);
    return d[0];
}

// ---- sums in a fixed order

__device__ static inline float warp_sum(float x)
{
    for (int apart = K_WARP / 2; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
    return x;
}
__device__ static inline float warp_most(float x)
{
    for (int apart = K_WARP / 2; apart > 0; apart /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, apart));
    return x;
}

// The sum over a block of BLOCK threads, returned to every thread. All threads call it. `scratch` is shared memory that no
// concurrent call uses.
template <int BLOCK> __device__ static inline float block_sum(float x, float (&scratch)[BLOCK / K_WARP])
{
    x = warp_sum(x);
    if (threadIdx.x % K_WARP == 0) scratch[threadIdx.x / K_WARP] = x;
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < BLOCK / K_WARP; i++) sum += scratch[i];
    __syncthreads();
    return sum;
}
