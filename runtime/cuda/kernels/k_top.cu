// SPDX-License-Identifier: Apache-2.0
// A warp, or for long rows a block, takes a row. It looks k times for the first element behind the one found before, in the order
// of the result, so there is no list to keep. Cost: k passes over a row, all but the first from the cache. Of many, a block
// selects them by their keys and sorts them.
#include "runtime/cuda/kernels/k_top.h"

#include "runtime/boxes.h"
#include "runtime/cuda/kernels/k_select.cuh"

struct top_spot {
    float x;
    int at;  // -1: none
};

// True if a comes before b: larger, or equal and earlier; any number comes before NaN.
__device__ static inline bool precedes(const top_spot &a, const top_spot &b)
{
    const bool same = a.x == b.x || (a.x != a.x && b.x != b.x);
    return same ? a.at < b.at : a.x > b.x || b.x != b.x;
}

__device__ static inline top_spot first_of(const top_spot &a, const top_spot &b)
{
    return b.at < 0 || (a.at >= 0 && precedes(a, b)) ? a : b;
}

__device__ static inline top_spot warp_first(top_spot best)
{
    for (int apart = K_WARP / 2; apart > 0; apart /= 2) {
        top_spot other;
        other.x = __shfl_xor_sync(0xffffffffu, best.x, apart);
        other.at = __shfl_xor_sync(0xffffffffu, best.at, apart);
        best = first_of(best, other);
    }
    return best;
}

template <typename T, int THREADS> __global__ void top_rows(const struct k_top k)
{
    __shared__ top_spot scratch[K_BLOCK / K_WARP];
    const int lane = (int)(threadIdx.x % THREADS);
    const int64_t row = (int64_t)blockIdx.x * (K_BLOCK / THREADS) + threadIdx.x / THREADS;
    if (row >= k.rows) return;  // a whole warp or block at once
    const T *x = (const T *)k.x + row * k.n;
    top_spot last = {0.0f, -1};
    for (int j = 0; j < k.k; j++) {
        top_spot best = {0.0f, -1};
        for (int64_t i = lane; i < k.n; i += THREADS) {
            const top_spot spot = {to_float(x[i]), (int)i};
            if (last.at < 0 || precedes(last, spot)) best = first_of(best, spot);
        }
        best = warp_first(best);
        if (THREADS > K_WARP) {
            if (threadIdx.x % K_WARP == 0) scratch[threadIdx.x / K_WARP] = best;
            __syncthreads();
            for (int w = 0; w < THREADS / K_WARP; w++) best = first_of(best, scratch[w]);
            __syncthreads();
        }
        if (lane == 0 && k.y) ((T *)k.y)[row * k.k + j] = x[best.at];
        if (lane == 0 && k.at) k.at[row * k.k + j] = best.at + (int)(k.flat ? row * k.n : 0);
        last = best;
    }
}

// A block writes a row: zeros, then the k gradients.
template <typename T> __global__ void top_back(const struct k_top k)
{
    T *dx = (T *)k.y + (int64_t)blockIdx.x * k.n;
    for (int64_t i = threadIdx.x; i < k.n; i += K_BLOCK) dx[i] = from_float<T>(0.0f);
    __syncthreads();
    for (int t = threadIdx.x; t < k.k; t += K_BLOCK) {
        const int64_t j = (int64_t)blockIdx.x * k.k + t, at = k.at_from[j] - (k.flat ? blockIdx.x * k.n : 0);
        if (at >= 0 && at < k.n) dx[at] = ((const T *)k.x)[j];
    }
}

template <typename T> struct top_keys {
    const T *x;
    __device__ bool operator()(int64_t i, uint32_t *key) const
    {
        *key = box_rank(to_float(x[i]));
        return true;
    }
};
struct top_take {
    uint64_t *sorted;
    __device__ void operator()(int rank, int64_t i, uint32_t key) const { sorted[rank] = (uint64_t)key << 32 | (uint32_t)i; }
};

// A block takes a row.
template <typename T> __global__ void top_sorted(const struct k_top k)
{
    __shared__ select_scratch scratch;
    const int64_t row = blockIdx.x;
    const int length = (int)k_sort_capacity(k.k);
    const struct top_keys<T> keys = {(const T *)k.x + row * k.n};
    const struct top_take take = {k.sorted + row * length};
    for (int j = k.k + threadIdx.x; j < length; j += K_BLOCK) take.sorted[j] = UINT64_MAX;
    select_take(keys, k.n, select_cut_of(keys, k.n, k.k, scratch), scratch, take);
    block_sort(take.sorted, length);
    for (int j = threadIdx.x; j < k.k; j += K_BLOCK) {
        const uint32_t at = (uint32_t)take.sorted[j];
        if (k.y) ((T *)k.y)[row * k.k + j] = keys.x[at];
        if (k.at) k.at[row * k.k + j] = (int32_t)at + (int32_t)(k.flat ? row * k.n : 0);
    }
}

template <typename T> static cudaError_t top_of(const struct k_top *k, cudaStream_t stream)
{
    if (k->at_from) return launch(top_back<T>, (unsigned)k->rows, K_BLOCK, stream, *k);
    if (k->k > K_TOP_SEARCHED) return launch(top_sorted<T>, (unsigned)k->rows, K_BLOCK, stream, *k);
    if (k->n > 1024) return launch(top_rows<T, K_BLOCK>, (unsigned)k->rows, K_BLOCK, stream, *k);
    return launch(top_rows<T, K_WARP>, blocks_for(k->rows, K_BLOCK / K_WARP), K_BLOCK, stream, *k);
}

K_LAUNCHER(k_top)
{
    const struct k_top *k = (const struct k_top *)args;
    BY_FLOAT(k->type, T, return top_of<T>(k, stream));
}
