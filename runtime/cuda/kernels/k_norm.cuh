// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of batch norm: the start of a thread, sums over the rows of a block and over blocks, the corner of a
// pooled pixel.
#pragma once

#include "runtime/cuda/kernels/k_common.cuh"
#include "runtime/cuda/kernels/k_norm.h"

static_assert((int)K_NORM_THREADS == (int)K_BLOCK, "walks are made for blocks of this size");

// Where this thread starts. A surplus thread is not live: it only takes part in barriers.
struct norm_spot {
    bool live;
    int slot, channel;
    uint32_t row, stride;
    int64_t at;  // index of the first element; the thread's next row is `step` further
    int64_t step;
};
enum norm_way { NORM_DOWN, NORM_UP };  // from the first row to the last, or reversed

// The second pass over a tensor goes up, because the rows that the first pass read last are still in the cache. Rows are
// counted in the direction of the walk.
__device__ static inline norm_spot norm_spot_of(const k_norm_walk &w, norm_way way)
{
    norm_spot s;
    s.slot = (int)threadIdx.x / w.tile;
    s.channel = ((int)blockIdx.y * w.tile + (int)threadIdx.x - s.slot * w.tile) * w.per;
    s.row = blockIdx.x * (uint32_t)w.slots + (uint32_t)s.slot;
    s.stride = (uint32_t)(w.blocks * w.slots);
    s.at = (way == NORM_DOWN ? (int64_t)s.row : (int64_t)w.rows - 1 - s.row) * w.c + s.channel;
    s.step = (way == NORM_DOWN ? (int64_t)s.stride : -(int64_t)s.stride) * w.c;
    s.live = s.slot < w.slots && s.channel < w.c;
    return s;
}

__device__ static inline uint32_t norm_length(const k_norm_frames &f, uint32_t sample)
{
    const int32_t n = f.length[sample];
    return n < 0 ? 0 : (uint32_t)n > f.frames ? f.frames : (uint32_t)n;
}

__device__ static inline bool norm_counts(const k_norm_frames &f, uint32_t row)
{
    if (!f.length) return true;
    const uint32_t frame = row / f.frame, sample = frame / f.frames;
    return frame - sample * f.frames < norm_length(f, sample);
}

// The number of rows that count, at least 1.
__device__ static inline float norm_count(const k_norm_frames &f, const k_norm_walk &w)
{
    if (!f.length) return (float)w.rows;
    uint32_t count = 0;
    for (uint32_t i = 0; i < f.samples; i++) count += norm_length(f, i) * f.frame;
    return count > 0 ? (float)count : 1.0f;
}

static inline dim3 norm_grid(const k_norm_walk &w) { return dim3((unsigned)w.blocks, (unsigned)w.tiles); }

// Adds the slots of a block for the same channels in a tree of fixed shape; slot 0 gets the sums. All threads of the block call
// it; threads that are not live pass zeros.
template <int N>
__device__ static inline void norm_slots_sum(float (&sum)[N], float (&scratch)[N][K_BLOCK], int slot, int slots, int tile)
{
    int half = 1;
    while (half * 2 < slots) half *= 2;
    for (; half > 0 && slots > 1; half /= 2) {
        if (slot >= half && slot < slots)
            for (int i = 0; i < N; i++) scratch[i][threadIdx.x] = sum[i];
        __syncthreads();
        if (slot < half && slot + half < slots)
            for (int i = 0; i < N; i++) sum[i] += scratch[i][(int)threadIdx.x + half * tile];
        __syncthreads();
        slots = half;
    }
}

// Writes a block's two sums of each of its channels into its row of `partial`.
template <int N>
__device__ static inline void norm_block_sums(const k_norm_walk &w, const norm_spot &s, float (&first)[N],
                                              float (&second)[N], float *partial)
{
    __shared__ float scratch[2 * N][K_BLOCK];
    float sum[2 * N];
    for (int i = 0; i < N; i++) sum[i] = first[i], sum[N + i] = second[i];
    norm_slots_sum<2 * N>(sum, scratch, s.slot, w.slots, w.tile);
    if (!s.live || s.slot > 0) return;
    float *to = partial + (int64_t)blockIdx.x * 2 * w.c + s.channel;
    for (int i = 0; i < N; i++) first[i] = sum[i], second[i] = sum[N + i];
    store<N>(to, first);
    store<N>(to + w.c, second);
}

// The sums over all blocks. A block adds NORM_COLUMNS channels, 32 bytes of a row of `partial` at a time. Returns true in the
// thread that holds a channel's sums, in sum[0] and sum[1].
enum { NORM_COLUMNS = 8 };
__device__ static inline bool norm_total(const k_norm_walk &w, const float *partial, int *channel, float (&sum)[2])
{
    __shared__ float scratch[2][K_BLOCK];
    const int slots = K_BLOCK / NORM_COLUMNS, slot = (int)threadIdx.x / NORM_COLUMNS;
    *channel = (int)(blockIdx.x * NORM_COLUMNS + threadIdx.x % NORM_COLUMNS);
    sum[0] = sum[1] = 0.0f;
    if (*channel < w.c)
        for (int b = slot; b < w.blocks; b += slots) {
            const float *row = partial + (int64_t)b * 2 * w.c + *channel;
            sum[0] += row[0], sum[1] += row[w.c];
        }
    norm_slots_sum<2>(sum, scratch, slot, slots, NORM_COLUMNS);
    return slot == 0 && *channel < w.c;
}

static inline unsigned norm_total_grid(const k_norm_walk &w) { return blocks_for(w.c, NORM_COLUMNS); }

// The first of the four pixels of x for pooled pixel r, as a pixel index; line and column count pooled pixels.
__device__ static inline int64_t norm_corner(const k_norm_pool &o, uint32_t r, uint32_t *line, uint32_t *column)
{
    *column = k_split(o.q, &r);
    *line = k_split(o.p, &r);
    return ((int64_t)r * o.h + 2 * *line) * o.w + 2 * *column;
}

// Optional coefficients of N channels.
template <int N>
__device__ static inline void norm_load_or(const float *from, int channel, float otherwise, float (&into)[N])
{
    if (from)
        load<N>(from + channel, into);
    else
        for (int i = 0; i < N; i++) into[i] = otherwise;
}
