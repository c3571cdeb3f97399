// SPDX-License-Identifier: Apache-2.0
// Sums over dimensions, and their gradient. After merging dimensions a tensor is x[batch, rows, columns] summed over rows,
// x[batch, rows] summed over runs of rows, or anything else. The first two are cut into chunks if there are too few results to
// fill a GPU: chunks write partial sums, k_finish adds them in a fixed order.
#pragma once

#include "runtime/cuda/kernels/k_divide.h"
#include "runtime/cuda/kernel.h"

// The split of x[batch, rows, columns] over blocks of 256 threads: a thread takes `lanes` adjacent columns; a block is `across`
// threads wide and `down` threads high and sums chunk_rows rows of one tile of columns.
struct k_columns {
    int64_t batch, rows, columns, chunk_rows;
    int lanes, across, down, tiles, chunks;
};

enum { K_COLUMN_BLOCKS = 528, K_COLUMN_ROWS = 8 };  // 4 blocks per multiprocessor of an H100; minimum rows per thread

// Elements of a float type that one thread loads at a time from rows of this length. (dtype_size is available in C only.)
static inline int k_lanes(enum dtype type, int64_t length)
{
    int lanes = type == F32 ? 4 : 8;
    return length % lanes == 0 ? lanes : 1;
}

static inline int64_t k_chunks(int64_t blocks, int64_t most)
{
    int64_t chunks = k_divide_up(K_COLUMN_BLOCKS, blocks);
    chunks = chunks > most ? most : chunks;
    return chunks < 1 ? 1 : chunks;
}

static inline struct k_columns k_columns_of(enum dtype type, int64_t batch, int64_t rows, int64_t columns)
{
    struct k_columns o;
    o.batch = batch, o.rows = rows, o.columns = columns;
    o.lanes = k_lanes(type, columns);
    int64_t vectors = columns / o.lanes;
    o.across = (int)k_divide_up(vectors, k_divide_up(vectors, 256));
    o.tiles = (int)k_divide_up(vectors, o.across);
    o.down = 256 / o.across;
    int64_t chunks = k_chunks(batch * o.tiles, k_divide_up(rows, (int64_t)o.down * K_COLUMN_ROWS));
    o.chunk_rows = k_divide_up(rows, chunks);
    o.chunks = (int)k_divide_up(rows, o.chunk_rows);
    return o;
}

static inline size_t k_columns_bytes(struct k_columns o)
{
    return o.chunks > 1 ? (size_t)(o.batch * o.chunks * o.columns) * sizeof(float) : 0;
}

struct k_finish {          // partial[batch, chunks, columns] -> to[batch, columns], times factor
    const float *partial;
    void *to;
    enum dtype type;
    float factor;
    int64_t results, columns, chunks;
};
K_LAUNCHER(k_finish);

struct k_reduce_columns {  // y[batch, columns] = factor * sum over rows of x[batch, rows, columns]
    const void *x;
    void *y;
    float *partial;        // k_columns_bytes(of)
    enum dtype from, to;
    float factor;
    struct k_columns of;
};
K_LAUNCHER(k_reduce_columns);

struct k_reduce_runs {     // y[batch] = factor * sum of x[batch, length]; each run in `chunks` parts of chunk_length
    const void *x;
    void *y;
    float *partial;        // [batch, chunks] when chunks > 1
    enum dtype from, to;
    float factor;
    int64_t batch, length, chunk_length, chunks;
};
K_LAUNCHER(k_reduce_runs);

// Dimensions, outermost first, with their strides in x.
struct k_dims {
    int rank;
    int64_t dim[MAX_RANK], stride[MAX_RANK];
    struct k_divide_any by[MAX_RANK];  // the dimensions as divisors, set by k_dims_ready()
};

static inline struct k_dims k_dims_ready(struct k_dims o)
{
    for (int i = 0; i < o.rank; i++) o.by[i] = k_divide_any_by(o.dim[i]);
    return o;
}

struct k_reduce_any {      // y[results], the kept dimensions in order; each adds `terms` elements
    const void *x;
    void *y;
    enum dtype from, to;
    float factor;
    int64_t results, terms;
    struct k_dims kept, added;
};
K_LAUNCHER(k_reduce_any);

struct k_broadcast {       // y[i] = factor * x[offset of i]; stride 0 where x is repeated
    const void *x;
    void *y;
    enum dtype type;
    float factor;
    int64_t count, inner;  // inner: the innermost dimension, repeated or not
    int repeated;
    struct k_dims of;
};
K_LAUNCHER(k_broadcast);
