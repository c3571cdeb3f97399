// SPDX-License-Identifier: Apache-2.0
// A tile is 6 rows by 64 columns or 12 by 32: 24 sums, 4 vectors of b and a broadcast of a in 32 registers. The instruction
// multiplies two pairs and adds both products to an f32 sum, so that the multipliers are the bottleneck. Smaller tiles finish the
// rows; every sum has the same order in each of them.
#include "runtime/cpu/product/pairs_inside.h"

#if defined __x86_64__ && !defined ISA_ONLY_BASE

#include "runtime/cpu/product/transpose16.h"

bool pairs_fit(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bf16");
}

static inline AVX512 ALWAYS void sum_tile(const int rows, const int vectors, const struct product *p, const float *a,
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

typedef void (*tile)(const struct product *, const float *a, const float *b, float *c);
#define TILE(rows, vectors)                                                                                            \
    static AVX512 void sum_##rows##x##vectors(const struct product *p, const float *a, const float *b, float *c)      \
    {                                                                                                                  \
        sum_tile(rows, vectors, p, a, b, c);                                                                           \
    }
TILE(6, 4)
TILE(4, 4)
TILE(12, 2)
TILE(8, 2)
TILE(4, 2)
TILE(12, 1)
TILE(8, 1)
TILE(4, 1)

// Of `left` rows, a multiple of 4 less the 6s already taken: nothing smaller than 4 is ever left, and of 16 two 8s are faster
// than 12 and 4, which has too few sums to hide the latency of an addition.
static int64_t tile_rows(int64_t left, bool wide)
{
    if (wide) return left == 8 || left < 6 ? 4 : 6;
    return left >= 12 && left != 16 ? 12 : left >= 8 ? 8 : 4;
}

static tile choose_tile(int64_t rows, int64_t columns)
{
    if (columns == 64) return rows == 6 ? sum_6x4 : sum_4x4;
    if (columns == 32) return rows == 12 ? sum_12x2 : rows == 8 ? sum_8x2 : sum_4x2;
    return rows == 12 ? sum_12x1 : rows == 8 ? sum_8x1 : sum_4x1;
}

void pairs_product(const struct product *p)
{
    for (int64_t n = 0, wide; n < p->columns; n += wide) {
        int64_t left = p->columns - n;
        wide = left >= 64 ? 64 : left >= 32 ? 32 : 16;
        for (int64_t m = 0, rows; m < p->rows; m += rows) {
            rows = tile_rows(p->rows - m, wide == 64);
            choose_tile(rows, wide)(p, p->a + m * p->a_row, p->b + n, p->c + m * p->c_row + n);
        }
    }
}

// ---- packing
enum { PAIR = 2, HALVES = 2 * PAIRS_LANES };

AVX512 void pairs_pack_rows(const struct pairs_matrix *m, int64_t units, uint32_t *to)
{
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t c = 0; c < m->d; c += HALVES) {
            __m512i v = _mm512_maskz_loadu_epi16(pairs_halves_below(m->d, c), m->at + i * m->pitch + c);
            _mm512_mask_storeu_epi32(to + i * units + c / PAIR, pairs_below(units, c / PAIR), v);
        }
    if (m->n % 2) memset(to + m->n * units, 0, (size_t)units * sizeof *to);
}

AVX512 void pairs_pack_words(const struct pairs_matrix *m, int64_t padded, uint32_t *to)
{
    for (int64_t k = 0; k < m->n; k += PAIRS_LANES)
        for (int64_t c = 0; c < m->d; c += HALVES) {
            __m512i v[PAIRS_LANES];
            __mmask32 in = pairs_halves_below(m->d, c);
            const uint16_t *from = m->at + k * m->pitch + c;
            for (int64_t i = 0; i < PAIRS_LANES; i++)
                v[i] = k + i < m->n ? _mm512_maskz_loadu_epi16(in, from + i * m->pitch) : _mm512_setzero_si512();
            transpose16(v);
            for (int64_t i = 0; i < PAIRS_LANES && c + PAIR * i < m->d; i++)
                _mm512_storeu_si512(to + (c / PAIR + i) * padded + k, v[i]);
        }
}

AVX512 void pairs_pack_pairs(const struct pairs_matrix *m, int64_t wide, uint32_t *to)
{
    for (int64_t i = 0; i < m->n; i += PAIR)
        for (int64_t c = 0; c < wide; c += PAIRS_LANES) {
            const uint16_t *from = m->at + i * m->pitch + c;
            __mmask16 in = pairs_below(m->d, c), second = i + 1 < m->n ? in : 0;
            __m512i a = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(in, from));
            __m512i b = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(second, from + m->pitch));
            _mm512_storeu_si512(to + i / PAIR * wide + c, _mm512_or_si512(a, _mm512_slli_epi32(b, 16)));
        }
}

AVX512 void pairs_narrow(const struct pairs_matrix *to, const float *x, int64_t wide, const float *weight, int64_t step)
{
    for (int64_t i = 0; i < to->n; i++) {
        __m512 by = _mm512_set1_ps(weight[i * step]);
        for (int64_t c = 0; c < to->d; c += PAIRS_LANES) {
            __m256bh y = _mm512_cvtneps_pbh(_mm512_mul_ps(_mm512_loadu_ps(x + i * wide + c), by));
            _mm256_mask_storeu_epi16(to->at + i * to->pitch + c, pairs_below(to->d, c), (__m256i)y);
        }
    }
}

AVX512 void pairs_dots(const struct pairs_matrix *a, const struct pairs_matrix *b, float *sum)
{
    for (int64_t i = 0; i < a->n; i++) {
        __m512 all = _mm512_setzero_ps();
        for (int64_t c = 0; c < a->d; c += HALVES) {
            __mmask32 in = pairs_halves_below(a->d, c);
            __m512i x = _mm512_maskz_loadu_epi16(in, a->at + i * a->pitch + c);
            __m512i y = _mm512_maskz_loadu_epi16(in, b->at + i * b->pitch + c);
            all = _mm512_dpbf16_ps(all, (__m512bh)x, (__m512bh)y);
        }
        sum[i] = _mm512_reduce_add_ps(all);
    }
}

#else

#include "runtime/common/base/error.h"

bool pairs_fit(void) { return false; }

#define LACKING(name, ...)                                                                                             \
    void name(__VA_ARGS__) { BUG("this processor multiplies no pairs"); }
#pragma GCC diagnostic ignored "-Wunused-parameter"
LACKING(pairs_product, const struct product *p)
LACKING(pairs_pack_rows, const struct pairs_matrix *m, int64_t units, uint32_t *to)
LACKING(pairs_pack_words, const struct pairs_matrix *m, int64_t padded, uint32_t *to)
LACKING(pairs_pack_pairs, const struct pairs_matrix *m, int64_t wide, uint32_t *to)
LACKING(pairs_narrow, const struct pairs_matrix *to, const float *x, int64_t wide, const float *weight, int64_t step)
LACKING(pairs_dots, const struct pairs_matrix *a, const struct pairs_matrix *b, float *sum)
LACKING(pairs_attend, const struct pairs_scores *o, int64_t queries, int64_t n, float *s, uint16_t *p, float *lse, float *weight)
LACKING(pairs_attend_back, const struct pairs_scores *o, int64_t queries, int64_t first, int64_t n,
        const struct pairs_gradients *g)

#endif
