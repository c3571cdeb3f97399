// SPDX-License-Identifier: Apache-2.0
// A block of K_BLOCK threads selects the smallest of many 32-bit keys, or sorts. No atomics: a thread counts in a column of its
// own, so of equal keys always the first is selected. Cost: ten passes over the keys, which are computed again in each.
#pragma once

#include "runtime/cuda/kernels/k_common.cuh"

enum { K_DIGITS = 16 };
struct select_scratch {  // in shared memory
    int count[K_DIGITS][K_BLOCK], total[K_DIGITS];
};
// Selected are the keys below `key`, and the first `equal` of those equal to it.
struct select_cut {
    uint32_t key;
    int equal;
};

// The sum of a column's rows, to every thread. All threads call it.
__device__ static inline int select_sum(const int (&row)[K_BLOCK])
{
    int sum = 0;
    for (int i = threadIdx.x % K_WARP; i < K_BLOCK; i += K_WARP) sum += row[i];
    for (int apart = K_WARP / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    return sum;
}

// `keys(i, &key)` is false for an element that does not take part. Returns how many do.
template <typename F> __device__ static inline int select_count(const F &keys, int64_t n, struct select_scratch &scratch)
{
    int count = 0;
    uint32_t key;
    for (int64_t i = threadIdx.x; i < n; i += K_BLOCK) count += keys(i, &key);
    __syncthreads();
    scratch.count[0][threadIdx.x] = count;
    __syncthreads();
    count = select_sum(scratch.count[0]);
    __syncthreads();
    return count;
}

// The cut of the k largest of n elements; n is at least k.
template <typename F>
__device__ static inline struct select_cut select_cut_of(const F &keys, int64_t n, int k, struct select_scratch &scratch)
{
    struct select_cut cut = {0, k};
    uint32_t known = 0, key;
    const int warp = threadIdx.x / K_WARP;
    for (int shift = 28; shift >= 0; shift -= 4) {
        for (int d = 0; d < K_DIGITS; d++) scratch.count[d][threadIdx.x] = 0;
        for (int64_t i = threadIdx.x; i < n; i += K_BLOCK)
            if (keys(i, &key) && (key & known) == cut.key) scratch.count[key >> shift & 15u][threadIdx.x]++;
        __syncthreads();
        for (int d = warp; d < K_DIGITS; d += K_BLOCK / K_WARP) {
            const int total = select_sum(scratch.count[d]);
            if (threadIdx.x % K_WARP == 0) scratch.total[d] = total;
        }
        __syncthreads();
        uint32_t digit = 0;
        for (; digit < K_DIGITS - 1 && scratch.total[digit] < cut.equal; digit++) cut.equal -= scratch.total[digit];
        cut.key |= digit << shift, known |= 15u << shift;
    }
    __syncthreads();
    return cut;
}

// Calls take(rank, i, key) for each selected element, with ranks in the order of the elements.
template <typename F, typename G>
__device__ static inline void select_take(const F &keys, int64_t n, struct select_cut cut, struct select_scratch &scratch,
                                          const G &take)
{
    const int64_t part = k_divide_up(n, K_BLOCK), begin = threadIdx.x * part, end = begin + part < n ? begin + part : n;
    int below = 0, equal = 0;
    uint32_t key;
    for (int64_t i = begin; i < end; i++) {
        if (!keys(i, &key)) continue;
        below += key < cut.key, equal += key == cut.key;
    }
    scratch.count[0][threadIdx.x] = below, scratch.count[1][threadIdx.x] = equal;
    __syncthreads();
    below = equal = 0;
    for (unsigned t = 0; t < threadIdx.x; t++) below += scratch.count[0][t], equal += scratch.count[1][t];
    int rank = below + min(equal, cut.equal);
    for (int64_t i = begin; i < end; i++) {
        if (!keys(i, &key)) continue;
        if (key < cut.key || (key == cut.key && equal++ < cut.equal)) take(rank++, i, key);
    }
    __syncthreads();
}

// Sorts n numbers, a power of two of them, in any memory that the block alone uses (Batcher's bitonic sort).
__device__ static inline void block_sort(uint64_t *a, int n)
{
    for (int size = 2; size <= n; size *= 2)
        for (int apart = size / 2; apart > 0; apart /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < n / 2; i += K_BLOCK) {
                const int low = 2 * i - (i & (apart - 1)), high = low + apart;
                const uint64_t x = a[low], y = a[high];
                if ((x > y) == ((low & size) == 0)) a[low] = y, a[high] = x;
            }
        }
    __syncthreads();
}
