// SPDX-License-Identifier: Apache-2.0
// What the scans of LSTM and GRU share. A task is one direction of up to `rows` samples, for all words: no thread waits for
// another within a sequence. The recurrent weights are packed once per run, for products that stay in the cache: f32, or pairs of
// bf16 where the processor multiplies them, with vectors or with tiles (loops.h, pairs_product.h, tiles.h). Gates are stored in
// parts of whole vectors, whose lanes past the last unit have weights of zero. Each row is computed alone, so that no result
// depends on the number of threads.
#pragma once

#include "runtime/cpu/cpu_work.h"
#include "runtime/cpu/past_cache.h"

enum { SCAN_ROWS = 16, SCAN_PARTS = 4, SCAN_AHEAD = 2 };  // samples of a task; parts of a row; words that are prefetched

struct task;
struct rows;
struct scan {
    const struct cpu_step *step;
    const struct loops *loops;
    enum dtype dtype;
    int gates;                        // parts of the product
    int64_t rows;                     // of a task: a multiple of 4, at most SCAN_ROWS
    bool back, pairs, tiles, recurs;  // recurs: some word reads the states of another, by the weights
    bool past_cache;                  // writes its results around the caches (past_cache.h)
    int64_t samples, t, d, h, lanes;  // lanes: h in whole vectors
    int64_t depth;                    // of the product, in units: of states forward, of gradients of gates backward
    int64_t wide;                     // columns of the product
    const int32_t *length;
    const void *h0, *dh;              // or NULL: zeros
    const float *c0, *bias;
    uint32_t *weights;                // [D][depth][wide]
    float *biases;                    // [D][gates][lanes]
    void (*each)(const struct scan *, const struct task *, const struct rows *);
    char *scratch;                    // of the threads
    size_t scratch_each;
};

struct rows {
    float *gates;      // [SCAN_PARTS][lanes] a row, as the loops take them
    uint32_t *units;   // [depth] a row: the input of the product
    float *product;    // gates forward; backward gradients of states, [lanes] a row
    float *reset;      // GRU, backward: as product
    float *c, *h;      // [lanes] a row: state, its gradient backward; h: of one row
    float *now, *before;  // [lanes]: of one row, backward
    void *narrow;      // [SCAN_PARTS * lanes]: of one row, in the type of the activations
};

struct task {
    int64_t d, first, rows, most;  // samples [first, first + rows); words of the longest
    int64_t n[SCAN_ROWS];
};

// Columns of a product: parts [first, first + count) of the gates, made forward and read backward.
struct scan_parts {
    int first, count;
};

// `parts`: of input 0.
void scan_size(struct scan *, const struct cpu_device *, const struct graph *, const struct node *, int parts);
size_t scan_carve(struct scan *, void *base, int threads);
// Carves the workspace of the step, packs the weights and the biases, and does all tasks.
void scan_run(struct scan *, void (*each)(const struct scan *, const struct task *, const struct rows *));
// The offset in [B,T,D,parts,H] of the units of word i of sample b, in the order of the direction.
int64_t scan_offset(const struct scan *, const struct task *, int64_t b, int64_t i, int64_t parts);
void scan_multiply(const struct scan *, const struct task *, const struct rows *, struct scan_parts, bool adds);
void scan_prefetch(const struct scan *, const struct task *, int64_t b, int64_t i, int parts);  // parts: of input 0
// Rounds n numbers to the type of the activations and writes them as row b of the product's input. Returns the rounded ones.
const void *scan_set_units(const struct scan *, const struct rows *, int64_t b, const float *from, int64_t n);

// ---- rows of units
static inline void scan_read(const struct scan *o, const void *from, int64_t at, float *to)  // from NULL: zeros
{
    if (from)
        o->loops->widen(o->dtype, cpu_at(o->dtype, from, at), to, o->h);
    else
        memset(to, 0, (size_t)o->h * sizeof *to);
}

// Parts in f32: where they are, if they can be read there as whole vectors, else copied to `to`. from NULL: zeros.
static inline const float *scan_view(const struct scan *o, const void *from, int64_t at, int parts, float *to)
{
    if (from && o->dtype == F32 && o->h == o->lanes) return (const float *)from + at;
    for (int j = 0; j < parts; j++) scan_read(o, from, at + j * o->h, to + j * o->lanes);
    return to;
}

static inline void scan_write(const struct scan *o, const float *from, void *to, int64_t at)  // to NULL: nothing
{
    enum { PIECE = 256 };
    uint16_t half[PIECE];
    if (!to) return;
    if (!o->past_cache) o->loops->narrow(o->dtype, from, cpu_at(o->dtype, to, at), o->h);
    else if (o->dtype == F32) past_cache_copy((float *)to + at, from, (size_t)o->h * sizeof *from);
    for (int64_t i = 0; i < o->h && o->past_cache && o->dtype != F32; i += PIECE) {
        const int64_t n = o->h - i < PIECE ? o->h - i : PIECE;
        o->loops->narrow(o->dtype, from + i, half, n);
        past_cache_copy((uint16_t *)to + at + i, half, (size_t)n * sizeof *half);
    }
}

static inline void scan_clear(const struct scan *o, void *to, int64_t at, int64_t n)
{
    if (to) memset(cpu_at(o->dtype, to, at), 0, (size_t)n * dtype_size(o->dtype));
}

static inline void scan_copy(const struct scan *o, const void *from, int64_t at, void *to, int64_t into)
{
    const size_t bytes = (size_t)o->h * dtype_size(o->dtype);
    if (from && o->past_cache)
        past_cache_copy(cpu_at(o->dtype, to, into), cpu_at(o->dtype, from, at), bytes);
    else if (from)
        memcpy(cpu_at(o->dtype, to, into), cpu_at(o->dtype, from, at), bytes);
    else
        scan_clear(o, to, into, o->h);
}
