// SPDX-License-Identifier: Apache-2.0
// A register tile is 6 rows by 64 filters. A step loads four vectors of filters, broadcasts six pairs and does 24 multiply-adds
// of pairs.
#include "runtime/cpu/product/rows.h"

#include "runtime/common/base/error.h"
#include "runtime/cpu/product/avx512.h"
#include "runtime/cpu/tiles/tiles.h"

#include <string.h>

#if defined __x86_64__

// m[ct][64] = v[ct][units] u[units][64]. Meanwhile the filters of the next position are fetched to the L2 cache, `step` bytes
// from `ahead` on for each unit.
static inline AVX512 ALWAYS void sum_tile(const int ct, const char *v, int64_t v_row, const char *u, int64_t units, float *m,
                                           const char *ahead, int64_t step)
{
    __m512 a[6][4];
#pragma GCC unroll 6
    for (int i = 0; i < ct; i++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) a[i][j] = _mm512_setzero_ps();
    const char *x[2] = {v, v + 3 * v_row};  // the addressing mode reaches the rows between
    for (int64_t c = 0; c < units; c++, u += ROWS_WIDE * ROWS_UNIT, ahead += step) {
        _mm_prefetch(ahead, _MM_HINT_T1);
        _mm_prefetch(ahead + 64, _MM_HINT_T1);
        __m512 f[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) f[j] = _mm512_loadu_ps(u + j * 64);
#pragma GCC unroll 6
        for (int i = 0; i < ct; i++) {
            float one;
            memcpy(&one, x[i / 3] + (i % 3) * v_row, sizeof one);
            __m512 o = _mm512_set1_ps(one);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) a[i][j] = _mm512_dpbf16_ps(a[i][j], (__m512bh)f[j], (__m512bh)o);
        }
        x[0] += 4, x[1] += 4;
    }
#pragma GCC unroll 6
    for (int i = 0; i < ct; i++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) _mm512_storeu_ps(m + i * ROWS_WIDE + j * 16, a[i][j]);
}

#define TILE(ct)                                                                                                       \
    static AVX512 void tile_##ct(const char *v, int64_t v_row, const char *u, int64_t units, float *m, const char *ahead, \
                                  int64_t step)                                                                        \
    {                                                                                                                  \
        sum_tile(ct, v, v_row, u, units, m, ahead, step);                                                              \
    }
TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6)
#undef TILE
static void (*const shapes[6])(const char *, int64_t, const char *, int64_t, float *, const char *, int64_t) = {
    tile_1, tile_2, tile_3, tile_4, tile_5, tile_6};

// The rows are cut evenly, because a narrow register tile is slow.
void rows_multiply(bool tiles, const char *v, size_t apart, int64_t count, const char *u, int64_t units, float *m)
{
    if (tiles) {
        tiles_product(&(struct product){.a = (const float *)v, .b = (const float *)u, .c = m, .rows = count, .columns = ROWS_WIDE,
                                        .depth = units, .a_row = (int64_t)apart / ROWS_UNIT, .a_unit = 1, .b_row = ROWS_WIDE,
                                        .c_row = ROWS_WIDE});
        return;
    }
    int64_t row = (int64_t)apart, pieces = (count + 5) / 6, step = pieces ? ROWS_WIDE * ROWS_UNIT / pieces : 0;
    for (const char *ahead = u + units * ROWS_WIDE * ROWS_UNIT; pieces > 0; pieces--, ahead += units * step) {
        int64_t wide = (count + pieces - 1) / pieces;
        shapes[wide - 1](v, row, u, units, m, ahead, step);
        v += wide * row, m += wide * ROWS_WIDE, count -= wide;
    }
}

#else

void rows_multiply(bool tiles, const char *v, size_t apart, int64_t count, const char *u, int64_t units, float *m)
{
    (void)tiles, (void)v, (void)apart, (void)count, (void)u, (void)units, (void)m;
    BUG("rows_multiply without AVX-512");
}

#endif
