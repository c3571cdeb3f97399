// SPDX-License-Identifier: Apache-2.0
// Moving elements without interpreting them: units of 1, 2, 4, 8 or 16 bytes, as wide as lengths and offsets allow.
#pragma once

#include "runtime/cuda/kernels/k_reduce.h"

// Runs of the result, each a concatenation of parts: concat, slice (one part), the gradient of a slice (zeros, the part,
// zeros), copies (one run). Lengths are in units.
struct k_join {
    const void *from[MAX_IN];    // address of a part's first run; NULL: zeros
    int64_t pitch[MAX_IN];       // distance between a part's runs
    int64_t begin[MAX_IN + 1];   // offset of each part in the result; the last entry is the length of a run
    int parts, width;            // bytes per unit
    struct k_divide_any by_run;  // the length of a run
    int64_t runs;
    void *to;
};
K_LAUNCHER(k_join);

struct k_transpose {             // y[i] = x[offset of i]; dimensions of the result, strides in x, in units
    const void *x;
    void *y;
    int64_t count;
    int width;
    struct k_dims of;
};
K_LAUNCHER(k_transpose);

// The same through tiles in shared memory, for elements adjacent in x but not in y: `down` is the innermost dimension of y,
// `along` that of x. The other dimensions (`rest`, `to_rest`: strides in x and in y) are looped over tile by tile.
enum { K_TILE = 32 };
struct k_transpose_tiles {
    const void *x;
    void *y;
    int width;                   // 1, 2 or 4
    int64_t down, along, x_stride, y_stride;  // x[.., down * x_stride + along], y[.., along * y_stride + down]
    int64_t tiles_down, tiles_along, tiles;
    struct k_dims rest;
    int64_t to_stride[MAX_RANK];
};
K_LAUNCHER(k_transpose_tiles);

struct k_gather {                // rows of `units`; an index from outside the table gives bytes of ones
    const void *x;
    const int32_t *index;
    void *y;
    int64_t rows, count, units;
    struct k_divide_any by_units;
    int width;
};
K_LAUNCHER(k_gather);

// dx[row] = sum of the dy[i] with index[i] = row, without atomics. The positions i are sorted by (row, i): chunks by a block
// each, then each is searched for in all chunks, 11 steps each (132 for 12,288 tokens; all pairs would be 12,288 comparisons).
// A warp adds a piece of the sorted positions, so a row that half of all tokens have takes no longer than others; then the pieces
// of every run longer than one are added, in order.
enum { K_GRAD_CHUNK = 1024, K_GRAD_PIECE = 32 };
struct k_gather_grad {
    const int32_t *index;
    const void *dy;
    void *dx;
    uint64_t *sorted, *ranked;   // scratch: whole chunks; count
    float *sums;                 // scratch: two rows per piece
    enum dtype type;
    int64_t rows, count, each;
};
static inline size_t k_gather_grad_chunks(int64_t count)  // keys
{
    return (size_t)(k_divide_up(count, K_GRAD_CHUNK) * K_GRAD_CHUNK);
}
static inline size_t k_gather_grad_bytes(int64_t count, int64_t each)
{
    return 2 * k_gather_grad_chunks(count) * sizeof(uint64_t) +
           (size_t)(k_divide_up(count, K_GRAD_PIECE) * 2 * each) * sizeof(float);
}
K_LAUNCHER(k_gather_grad);

// Rows of x[B,N,..] over those of cache[B,T,..] from a position on; in units of `width` bytes.
struct k_append {
    const void *x;
    const int32_t *at;     // one position, or one per sample
    void *cache;
    int64_t rows, units;   // rows of all samples; units per row
    int each, most, width; // rows per sample; positions of the cache
    bool shared;           // one position
};
K_LAUNCHER(k_append);

// Rows of x move within their groups, in units of `width` bytes.
struct k_reorder {
    void *x;
    const int32_t *from;
    const int32_t *at;     // only positions up to it move; NULL: all
    int64_t groups, positions, units;  // units per position
    int group, width;
};
K_LAUNCHER(k_reorder);
