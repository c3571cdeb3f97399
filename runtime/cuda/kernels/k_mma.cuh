// SPDX-License-Identifier: Apache-2.0
// Tensor cores: mma() multiplies a 16 x 16 piece of bf16 or f16 by a 16 x 8 piece and adds the product to 16 x 8 sums in f32
// (mma.sync.m16n8k16, from sm_80 on). All 32 lanes of a warp call it, and the three operands are spread over them. With g =
// lane / 4 and t = lane % 4, a register of a lane holds two adjacent elements, the lower index in its lower half:
//
//   left   a[row, depth]     at[0] row g,     depth 2t, 2t + 1        at[2] row g,     depth 2t + 8, 2t + 9
//                            at[1] row g + 8, depth 2t, 2t + 1        at[3] row g + 8, depth 2t + 8, 2t + 9
//   right  b[depth, column]  at[0] depth 2t, 2t + 1, column g         at[1] depth 2t + 8, 2t + 9, column g
//   sums   [row, column]     [0], [1] row g, column 2t, 2t + 1        [2], [3] row g + 8, column 2t, 2t + 1
//
// This is the only file with assembly. The emulator's version gathers the registers of a warp and computes the same sums.
#pragma once

#include "runtime/cuda/kernels/k_common.cuh"

struct mma_left {
    uint32_t at[4];
};
struct mma_right {
    uint32_t at[2];
};

#ifdef DAWN_EMULATE

template <typename T> static inline float mma_half(uint32_t pair, int which)
{
    uint16_t bits = (uint16_t)(pair >> 16 * which);
    T half;
    memcpy((void *)&half, &bits, sizeof half);
    return to_float(half);
}

template <typename T> static inline void mma(float (&sum)[4], const mma_left &a, const mma_right &b)
{
    struct held {
        mma_left a;
        mma_right b;
    } mine = {a, b}, all[K_WARP];
    emulate_warp_gather(&mine, sizeof mine, all);
    int lane = (int)threadIdx.x % K_WARP, g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; i++)
        for (int d = 0; d < 16; d++) {
            const mma_left &left = all[g * 4 + d % 8 / 2].a;
            const mma_right &right = all[(2 * t + i % 2) * 4 + d % 8 / 2].b;
            sum[i] += mma_half<T>(left.at[i / 2 + d / 8 * 2], d % 2) * mma_half<T>(right.at[d / 8], d % 2);
        }
}

#else

#define MMA_AS(type)                                                                                                   \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "    \
                 "{%8, %9}, {%0, %1, %2, %3};"                                                                         \
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                              \
                 : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b.at[0]), "r"(b.at[1]))

template <typename T> __device__ static inline void mma(float (&sum)[4], const mma_left &a, const mma_right &b);
template <> __device__ inline void mma<__half>(float (&sum)[4], const mma_left &a, const mma_right &b)
{
    MMA_AS("f16");
}
template <> __device__ inline void mma<__nv_bfloat16>(float (&sum)[4], const mma_left &a, const mma_right &b)
{
    MMA_AS("bf16");
}

#endif

// Loads a lane's registers from shared memory with contiguous depth: row or column `i` starts at from + i * pitch. The pitch
// must be even; 40 elements avoid bank conflicts.
template <typename T> __device__ static inline uint32_t mma_pair(const T *from)
{
    return *(const uint32_t *)from;
}
template <typename T> __device__ static inline mma_left mma_load_left(const T *from, int pitch)
{
    int lane = (int)threadIdx.x % K_WARP;
    const T *at = from + lane / 4 * pitch + lane % 4 * 2;
    return {{mma_pair(at), mma_pair(at + 8 * pitch), mma_pair(at + 8), mma_pair(at + 8 * pitch + 8)}};
}
template <typename T> __device__ static inline mma_right mma_load_right(const T *from, int pitch)
{
    int lane = (int)threadIdx.x % K_WARP;
    const T *at = from + lane / 4 * pitch + lane % 4 * 2;
    return {{mma_pair(at), mma_pair(at + 8)}};
}
