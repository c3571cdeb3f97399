// SPDX-License-Identifier: Apache-2.0
// Tiles of a matrix product on the ordinary arithmetic units: a block of 256 threads computes TILE x TILE sums of f32 products,
// each thread a square of them in registers. A `source` defines the two operands: it fetches pieces of both into registers and
// puts them into shared memory. The next step is fetched while the current one is multiplied. k_matmul.cu and k_conv.cu define
// the sources.
//
// A source has   void fetch(int depth)                           sets its registers for the steps from `depth` on
//                void put(tile_side<TILE> &l, tile_side<TILE> &r)  writes the fetched values, as [depth][row or column]
#pragma once

#include "runtime/cuda/kernels/k_common.cuh"

// Both tiles move 1024 elements per operand and step, four per thread: 64 rows 16 deep, or 32 rows 32 deep.
template <int TILE> struct tile_of {
    enum { DEPTH = 1024 / TILE, EACH = TILE / 16, ROW = TILE + 4 };  // EACH x EACH sums per thread
};
template <int TILE> using tile_side = float[tile_of<TILE>::DEPTH][tile_of<TILE>::ROW];
template <int TILE> using tile_sums = float[tile_of<TILE>::EACH][tile_of<TILE>::EACH];

// The four adjacent elements that a thread moves per operand and step: of row `row` from `depth` on if deep, else of that depth
// from that row on, whichever is contiguous in memory.
struct tile_four {
    int row, depth;
    bool deep;
};
template <int TILE> __device__ static inline tile_four tile_four_of(bool deep)
{
    enum { DEPTH = tile_of<TILE>::DEPTH };
    int t = (int)threadIdx.x;
    if (deep) return {t / (DEPTH / 4), t % (DEPTH / 4) * 4, true};
    return {t % (TILE / 4) * 4, t / (TILE / 4), false};
}
// The values stay in their memory type until here, so that no wait for them stalls the multiplication of the previous step.
template <int TILE, typename T>
__device__ static inline void tile_put(tile_side<TILE> &side, const tile_four &f, const lanes<T, 4> &v)
{
    float x[4];
#pragma unroll
    for (int i = 0; i < 4; i++) x[i] = to_float(v.at[i]);
    if (!f.deep) return store<4>(&side[f.depth][f.row], x);
#pragma unroll
    for (int i = 0; i < 4; i++) side[f.depth + i][f.row] = x[i];
}

template <int TILE>
__device__ static inline void tile_step(const tile_side<TILE> &l, const tile_side<TILE> &r, tile_sums<TILE> &sum)
{
    enum { EACH = tile_of<TILE>::EACH };
    int row = (int)threadIdx.x / 16 * EACH, column = (int)threadIdx.x % 16 * EACH;
#pragma unroll 8
    for (int d = 0; d < tile_of<TILE>::DEPTH; d++) {
        float a[EACH], b[EACH];
        load<EACH>(&l[d][row], a);
        load<EACH>(&r[d][column], b);
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++) sum[i][j] += a[i] * b[j];
    }
}

// The sums over [begin, end) of the depth, for a block of K_BLOCK threads. Elements past `end` must be put as zero.
template <int TILE, typename SOURCE>
__device__ static inline void tile_product(SOURCE &source, int begin, int end, tile_sums<TILE> &sum)
{
    alignas(16) __shared__ tile_side<TILE> left[2], right[2];
    enum { DEPTH = tile_of<TILE>::DEPTH };
#pragma unroll
    for (int i = 0; i < tile_of<TILE>::EACH; i++)
#pragma unroll
        for (int j = 0; j < tile_of<TILE>::EACH; j++) sum[i][j] = 0.0f;
    source.fetch(begin);
    source.put(left[0], right[0]);
    __syncthreads();
    for (int d = begin, at = 0; d < end; d += DEPTH, at ^= 1) {
        bool more = d + DEPTH < end;
        if (more) source.fetch(d + DEPTH);
        tile_step<TILE>(left[at], right[at], sum);
        if (more) source.put(left[at ^ 1], right[at ^ 1]);  // the step before last read it, and a barrier has passed
        __syncthreads();
    }
}

// The position of this thread's sums in the result: row tile_row() + i, column tile_column() + j of the tile.
template <int TILE> __device__ static inline int tile_row() { return (int)threadIdx.x / 16 * tile_of<TILE>::EACH; }
template <int TILE> __device__ static inline int tile_column() { return (int)threadIdx.x % 16 * tile_of<TILE>::EACH; }
