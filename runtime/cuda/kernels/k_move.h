// SPDX-License-Identifier: Apache-2.0
// Moving elements without looking at them: units of 1, 2, 4, 8 or 16 bytes, as wide as lengths and places allow.
#ifndef DAWN_K_MOVE_H
#define DAWN_K_MOVE_H

#include "runtime/cuda/kernels/k_reduce.h"

// Runs of the result, each made of parts that stand side by side: concat, slice (one part), the way back of a slice
// (zeros, the part, zeros), copies (one run). Lengths in units.
struct k_join {
    const void *from[MAX_IN];    // where the first run of a part begins; NULL: zeros
    int64_t pitch[MAX_IN];       // from one run of a part to the next
    int64_t begin[MAX_IN + 1];   // of each part in the result; behind the last, the length of a run
    int parts, width;            // bytes a unit
    struct k_divide_any by_run;  // the length of a run
    int64_t runs;
    void *to;
};
K_LAUNCHER(k_join);

struct k_transpose {             // y[i] = x[place of i]; dimensions of the result, strides in x, in units
    const void *x;
    void *y;
    int64_t count;
    int width;
    struct k_dims of;
};
K_LAUNCHER(k_transpose);

// The same through tiles in shared memory, where neighbours in x are not neighbours in y: `down` is the innermost
// dimension of y, `along` that of x. The other dimensions (`rest`, `to_rest`: strides in x and in y) are done tile by tile.
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

struct k_gather {                // rows of `units`; an index from outside the table reads the nearest row
    const void *x;
    const int32_t *index;
    void *y;
    int64_t rows, count, units;
    struct k_divide_any by_units;
    int width;
};
K_LAUNCHER(k_gather);

struct k_gather_grad {           // dx[row] = sum of the dy[i] with index[i] = row, in the order of i
    const int32_t *index;
    const void *dy;
    void *dx;
    enum dtype type;
    int64_t rows, count, each;
};
K_LAUNCHER(k_gather_grad);

#endif
