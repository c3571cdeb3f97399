// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set (-DISA=base, avx2, avx512). An output row takes three sweeps that stay in the L1 cache:
// input rows to f32 with their padding, sums of four pixels by 32 k in registers, activation and rounding of the finished row.
// y is written once: 92 MB at batch 2000, which is the cost of the first layer of the CIFAR networks.
#include "runtime/cpu/loops/loops_stem.h"

#include "runtime/cpu/loops/loops_inside.h"

enum { CHUNK = 4096, TAPS = STEM_SIDE * STEM_SIDE * STEM_CHANNELS };  // CHUNK: numbers of y in progress
enum { WHOLE = STEM_LANES / LANES, MOST = WHOLE * 3 / 4 };             // vectors of a block of k, and of a shorter one

static void activate_row(float *v, int64_t count, enum act act)
{
    switch (act) {
#define ACT(ID, name)                                                                                                  \
    case ACT_##ID:                                                                                                     \
        for (int64_t i = 0; i < count; i++) v[i] = element_##name(v[i]);                                               \
        break;
        ACT_LIST(ACT)
#undef ACT
    default: break;
    }
}

// Converts input row `row` (zeros if outside), columns [left, left + columns), to f32.
static void read_row(const struct stem *g, int64_t image, int64_t row, int64_t left, int64_t columns, float *to)
{
    int64_t from = left < 0 ? 0 : left, end = left + columns < g->w ? left + columns : g->w;
    if (row < 0 || row >= g->h || end <= from) {
        memset(to, 0, (size_t)(columns * g->c) * sizeof *to);
        return;
    }
    int64_t before = (from - left) * g->c, count = (end - from) * g->c, after = (left + columns - end) * g->c;
    int64_t at = ((image * g->h + row) * g->w + from) * g->c;
    memset(to, 0, (size_t)before * sizeof *to);
    if (g->bf16) {
        const uint16_t *x = (const uint16_t *)g->x + at;
        for (int64_t i = 0; i < count; i++) to[before + i] = bf16_to_f32(x[i]);
    } else {
        memcpy(to + before, (const float *)g->x + at, (size_t)count * sizeof *to);
    }
    memset(to + before + count, 0, (size_t)after * sizeof *to);
}

struct taps {
    int64_t count, offset[TAPS];  // offset: from the first number that a pixel reads
    int64_t step;                 // between pixels
    int64_t wide;                 // k rounded up
};

// Computes sum[pixel][32 k] for `pixels` pixels in `vectors` vectors (constants at every call) and stores it to `to`, whose rows
// are k long: what a pixel has too much, the next one overwrites. Plain arrays of vectors and full unrolling keep the sums in
// registers.
ALWAYS void sum_pixels(const int pixels, const int vectors, const struct taps *t, const float *x, float *f, float *bias,
                       float *to, int64_t k)
{
    lanes sum[4][WHOLE];
#pragma GCC unroll 4
    for (int i = 0; i < pixels; i++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) sum[i][v] = AT(bias + v * LANES);
    for (int64_t j = 0; j < t->count; j++, f += t->wide) {
        const float *at = x + t->offset[j];
        lanes u[WHOLE];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) u[v] = AT(f + v * LANES);
#pragma GCC unroll 4
        for (int i = 0; i < pixels; i++) {
            float one = at[i * t->step];
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++) sum[i][v] += one * u[v];
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < pixels; i++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) AT(to + i * k + v * LANES) = sum[i][v];
}

// At most 12 sums, of 4 pixels where possible: their filters are loaded once.
#define SUM_ROW(pixels, vectors)                                                                                       \
    do {                                                                                                               \
        int64_t i_ = 0;                                                                                                \
        for (; i_ + (pixels) <= count; i_ += (pixels))                                                                 \
            sum_pixels(pixels, vectors, t, x + i_ * t->step, f, bias, to + i_ * k, k);                                 \
        for (; i_ < count; i_++) sum_pixels(1, vectors, t, x + i_ * t->step, f, bias, to + i_ * k, k);                 \
    } while (0)

static void sum_row(const struct taps *t, const float *x, float *f, float *bias, float *to, int64_t k, int64_t count)
{
    if (MOST * LANES >= k) SUM_ROW(MOST <= 3 ? 4 : 2, MOST);
    else SUM_ROW(WHOLE <= 2 ? 4 : WHOLE <= 4 ? 2 : 1, WHOLE);
}

static void write_row(const struct stem *g, int64_t at, const float *from, int64_t count)
{
    if (g->bf16) {
        uint16_t *y = (uint16_t *)g->y + at;
        for (int64_t i = 0; i < count; i++) y[i] = f32_to_bf16(from[i]);
    } else {
        memcpy((float *)g->y + at, from, (size_t)count * sizeof *from);
    }
}

// Output pixels [q, q + count) of one row.
static void run_piece(const struct stem *g, const struct taps *t, int64_t image, int64_t p, int64_t q, int64_t count,
                      float *x, float *y)
{
    int64_t columns = (count - 1) * g->stride[1] + g->s;
    for (int64_t r = 0; r < g->r; r++)
        read_row(g, image, p * g->stride[0] + r - g->before[0], q * g->stride[1] - g->before[1], columns,
                 x + r * CHUNK);
    for (int64_t first = 0; first < g->k; first += STEM_LANES) {
        float *f = g->filters + first, *bias = g->bias + first;
        sum_row(t, x, f, bias, y + first, g->k, count);
    }
    activate_row(y, count * g->k, g->act);
    write_row(g, ((image * g->p + p) * g->q + q) * g->k, y, count * g->k);
}

static void run_rows(const struct stem *g, int64_t begin, int64_t end)
{
    float x[STEM_SIDE * CHUNK] __attribute__((aligned(64))), y[CHUNK + STEM_LANES] __attribute__((aligned(64)));
    struct taps t = {.step = g->stride[1] * g->c, .wide = (g->k + STEM_LANES - 1) / STEM_LANES * STEM_LANES};
    for (int64_t r = 0; r < g->r; r++)
        for (int64_t s = 0; s < g->s; s++)
            for (int64_t c = 0; c < g->c; c++) t.offset[t.count++] = r * CHUNK + s * g->c + c;
    int64_t most = CHUNK / t.wide;  // pixels at a time; their input fits too, for strides up to STEM_SIDE
    for (int64_t i = begin; i < end; i++)
        for (int64_t q = 0; q < g->q; q += most)
            run_piece(g, &t, i / g->p, i % g->p, q, g->q - q < most ? g->q - q : most, x, y);
}

const struct stem_loops LOOPS_PASTE(stem, _loops, ISA);
const struct stem_loops LOOPS_PASTE(stem, _loops, ISA) = {run_rows, activate_row};
