// SPDX-License-Identifier: Apache-2.0
// A tile is 6 rows by 64 columns or 12 by 32: 24 sums, 4 vectors of b and a broadcast of a in 32 registers. The instruction
// multiplies two pairs and adds both products to an f32 sum, so that the multipliers are the bottleneck.
#include "runtime/cpu/product.h"

#if defined __x86_64__ && !defined ISA_ONLY_BASE

#include <immintrin.h>

#define VECTORS __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define ALWAYS __attribute__((always_inline))

bool product_pairs_fit(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bf16");
}

static inline VECTORS ALWAYS void sum_tile(const int rows, const int vectors, const struct product *p, const float *a,
                                           const float *b, float *c)
{
    __m512 sum[PRODUCT_ROWS][4];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++) sum[i][j] = _mm512_setzero_ps();
    for (int64_t u = 0; u < p->depth; u++, a += p->a_unit, b += p->b_row) {
        __m512 v[4];
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++) v[j] = _mm512_loadu_ps(b + j * 16);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            __m512 one = _mm512_set1_ps(a[i * p->a_row]);
#pragma GCC unroll 4
            for (int j = 0; j < vectors; j++) sum[i][j] = _mm512_dpbf16_ps(sum[i][j], (__m512bh)v[j], (__m512bh)one);
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++) {
            if (p->adds) sum[i][j] = _mm512_add_ps(sum[i][j], _mm512_loadu_ps(c + i * p->c_row + j * 16));
            _mm512_storeu_ps(c + i * p->c_row + j * 16, sum[i][j]);
        }
}

static VECTORS void sum_6x4(const struct product *p, const float *a, const float *b, float *c) { sum_tile(6, 4, p, a, b, c); }
static VECTORS void sum_12x2(const struct product *p, const float *a, const float *b, float *c) { sum_tile(12, 2, p, a, b, c); }
static VECTORS void sum_12x1(const struct product *p, const float *a, const float *b, float *c) { sum_tile(12, 1, p, a, b, c); }

void product_pairs(const struct product *p)
{
    for (int64_t n = 0, wide; n < p->columns; n += wide) {
        int64_t left = p->columns - n, rows = left >= 64 ? 6 : 12;
        wide = left >= 64 ? 64 : left >= 32 ? 32 : 16;
        void (*tile)(const struct product *, const float *, const float *, float *) =
            wide == 64 ? sum_6x4 : wide == 32 ? sum_12x2 : sum_12x1;
        for (int64_t m = 0; m < p->rows; m += rows) tile(p, p->a + m * p->a_row, p->b + n, p->c + m * p->c_row + n);
    }
}

#else

#include "runtime/base/error.h"

bool product_pairs_fit(void) { return false; }
void product_pairs(const struct product *p)
{
    (void)p;
    BUG("this processor multiplies no pairs");
}

#endif
