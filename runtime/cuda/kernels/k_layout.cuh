// SPDX-License-Identifier: Apache-2.0
// Layouts on the GPU: the vectors of an element-wise thread; the offset of an element among dimensions with strides; for column
// sums, where a thread of a block starts (k_reduce.h describes the blocks) and how a block's sums are combined, in an order that
// depends only on the layout.
#pragma once

#include "runtime/cuda/kernels/k_common.cuh"
#include "runtime/cuda/kernels/k_reduce.h"

// ---- element-wise: a thread takes vectors, a grid apart

static const unsigned MOST_BLOCKS = 132 * 32;  // more waves gain nothing; threads stride instead

static inline unsigned stride_blocks(int64_t count, int lanes)
{
    unsigned blocks = blocks_for(k_divide_up(count, lanes));
    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

__device__ static inline int64_t first_lane(int lanes) { return ((int64_t)blockIdx.x * K_BLOCK + threadIdx.x) * lanes; }
__device__ static inline int64_t next_lane(int lanes) { return (int64_t)gridDim.x * K_BLOCK * lanes; }

// ---- dimensions

__device__ static inline int64_t dims_offset(const struct k_dims &o, int64_t i)
{
    int64_t at = 0;
    for (int d = MAX_RANK - 1; d >= 0; d--) {  // unrolled, so that divisors and strides stay in the constant bank
        if (d < o.rank) at += k_split_any(&o.by[d], &i) * o.stride[d];
    }
    return at;
}

// Expands a statement with T as the type and N as the number of elements per load of a thread (k_lanes).
#define BY_LANES(dtype, lanes, T, N, ...)                                                                              \
    switch (dtype) {                                                                                                   \
    case F32: { typedef float T; EITHER_LANES(lanes, 4, N, __VA_ARGS__) } break;                                       \
    case BF16: { typedef __nv_bfloat16 T; EITHER_LANES(lanes, 8, N, __VA_ARGS__) } break;                              \
    case F16: { typedef __half T; EITHER_LANES(lanes, 8, N, __VA_ARGS__) } break;                                      \
    default: break;                                                                                                    \
    }
#define EITHER_LANES(lanes, most, N, ...)                                                                              \
    if ((lanes) > 1) { enum { N = most }; __VA_ARGS__; }                                                               \
    else { enum { N = 1 }; __VA_ARGS__; }

struct columns_spot {
    int64_t batch, row, end, column;  // this thread adds rows row, row + down, .. below end, from `column` on
    int chunk, below;                 // below: index among the `down` threads of its columns
};

static inline unsigned columns_grid(const struct k_columns &o) { return (unsigned)(o.batch * o.chunks * o.tiles); }

// A thread without work gets an empty range of rows.
__device__ static inline struct columns_spot columns_begin(const struct k_columns &o)
{
    struct columns_spot s;
    unsigned block = blockIdx.x, tile = block % (unsigned)o.tiles;
    block /= (unsigned)o.tiles;
    s.chunk = (int)(block % (unsigned)o.chunks);
    s.batch = block / (unsigned)o.chunks;
    s.below = (int)(threadIdx.x / (unsigned)o.across);
    s.column = ((int64_t)tile * o.across + threadIdx.x % (unsigned)o.across) * o.lanes;
    s.row = s.chunk * o.chunk_rows + s.below;
    s.end = (s.chunk + 1) * o.chunk_rows;
    if (s.end > o.rows) s.end = o.rows;
    if (s.below >= o.down || s.column >= o.columns) s.end = 0;
    return s;
}

// Adds the sums of the threads of one column. All threads call it; returns true in those that hold the result.
template <int N>
__device__ static inline bool columns_join(const struct k_columns &o, const struct columns_spot &s, float (&sum)[N],
                                           float (&scratch)[N * K_BLOCK])
{
    for (int i = 0; i < N; i++) scratch[i * K_BLOCK + threadIdx.x] = sum[i];
    int half = 1;
    while (half < o.down) half *= 2;
    for (half /= 2; half > 0; half /= 2) {
        __syncthreads();
        if (s.below >= half || s.below + half >= o.down) continue;
        for (int i = 0; i < N; i++) {
            sum[i] += scratch[i * K_BLOCK + threadIdx.x + half * o.across];
            scratch[i * K_BLOCK + threadIdx.x] = sum[i];
        }
    }
    return s.below == 0 && s.column < o.columns;
}

// Dropout of N elements from `at` on, 4 or 8 of the eight that draw r serves.
template <int N>
__device__ static inline void drop_adjacent(struct rng4 r, int64_t at, uint32_t least, float factor, float (&v)[N])
{
    static_assert(N == 4 || N == DROPOUT_DRAW, "elements of one draw");
    if (N == 4 && at & 4) r.v[0] = r.v[2], r.v[1] = r.v[3];
    for (int j = 0; j < N; j++) v[j] = (r.v[j >> 1] >> (16 * (j & 1)) & 0xffffu) >= least ? v[j] * factor : 0.0f;
}
