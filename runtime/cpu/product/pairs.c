// SPDX-License-Identifier: Apache-2.0
// A tile is 6 rows by 64 columns or 12 by 32: 24 sums, 4 vectors of b and a broadcast of a in 32 registers. The instruction
// multiplies two pairs and adds both products to an f32 sum, so that the multipliers are the bottleneck.
#include "runtime/cpu/product/pairs.h"

#if defined __x86_64__ && !defined ISA_ONLY_BASE

#include "runtime/element.h"

#include <immintrin.h>
#include <math.h>

#define VECTORS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define ALWAYS __attribute__((always_inline))

bool pairs_fit(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bf16");
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

void pairs_product(const struct product *p)
{
    for (int64_t n = 0, wide; n < p->columns; n += wide) {
        int64_t left = p->columns - n, rows = left >= 64 ? 6 : 12;
        wide = left >= 64 ? 64 : left >= 32 ? 32 : 16;
        void (*tile)(const struct product *, const float *, const float *, float *) =
            wide == 64 ? sum_6x4 : wide == 32 ? sum_12x2 : sum_12x1;
        for (int64_t m = 0; m < p->rows; m += rows) tile(p, p->a + m * p->a_row, p->b + n, p->c + m * p->c_row + n);
    }
}

// ---- rows of scores

// e^x for x <= 0, as element_exp_near; NaN stays NaN.
static inline VECTORS ALWAYS __m512 raise(__m512 x)
{
    x = _mm512_max_ps(_mm512_set1_ps(-87.0f), x);
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 f = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
    f = _mm512_fmadd_ps(n, _mm512_set1_ps(2.12194440e-4f), f);
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(0.00138145499f), f, _mm512_set1_ps(0.00836874824f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.041668389f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.166665196f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.49999994f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, n);
}

// High and low halves of the 64-bit products of all lanes and m.
static inline VECTORS ALWAYS void multiply_lanes(__m512i x, uint32_t m, __m512i *high, __m512i *low)
{
    __m512i factor = _mm512_set1_epi64((int64_t)m);
    __m512i even = _mm512_mul_epu32(x, factor), odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), factor);
    *high = _mm512_mask_mov_epi32(_mm512_srli_epi64(even, 32), 0xaaaa, odd);
    *low = _mm512_mask_mov_epi32(even, 0xaaaa, _mm512_slli_epi64(odd, 32));
}

// element_attention_draw() for the draws of the SPAN keys from `first` on; word[w] holds word w of LANES draws.
enum { LANES = ATTENTION_LANES, SPAN = ATTENTION_LANES * ATTENTION_DRAW };
static inline VECTORS ALWAYS void draw_span(const struct attention_mask *m, uint32_t row, int64_t first, __m512i word[4])
{
    uint32_t k0 = (uint32_t)m->key[0], k1 = (uint32_t)m->key[1];
    __m512i c0 = _mm512_set1_epi32((int)row);
    __m512i c1 = _mm512_add_epi32(_mm512_set1_epi32((int)(first / ATTENTION_DRAW)),
                                  _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    __m512i c2 = _mm512_set1_epi32((int)(RNG_DROPOUT | m->site << 8)), c3 = _mm512_set1_epi32((int)m->step);
    for (int round = 0; round < 10; round++) {
        __m512i a_high, a_low, b_high, b_low;
        multiply_lanes(c0, 0xD2511F53u, &a_high, &a_low);
        multiply_lanes(c2, 0xCD9E8D57u, &b_high, &b_low);
        c0 = _mm512_ternarylogic_epi32(b_high, c1, _mm512_set1_epi32((int)k0), 0x96);  // exclusive or of all three
        c2 = _mm512_ternarylogic_epi32(a_high, c3, _mm512_set1_epi32((int)k1), 0x96);
        c1 = b_low, c3 = a_low;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    word[0] = c0, word[1] = c1, word[2] = c2, word[3] = c3;
}

// Which keys of piece j are kept.
static inline VECTORS ALWAYS __mmask16 kept_lanes(const __m512i word[4], int j, uint32_t least)
{
    __m512i piece = word[j >> 1];
    if (j & 1) return _mm512_cmpge_epu32_mask(_mm512_srli_epi32(piece, 16), _mm512_set1_epi32((int)least));
    return _mm512_cmpge_epu32_mask(_mm512_and_si512(piece, _mm512_set1_epi32(0xffff)), _mm512_set1_epi32((int)least));
}

static inline ALWAYS __mmask16 lanes_below(int64_t n, int64_t at)
{
    return n - at >= LANES ? 0xffff : n <= at ? 0 : (__mmask16)((1u << (n - at)) - 1);
}

VECTORS void pairs_attend(const float *s, int64_t n, int64_t room, float scale, const struct attention_mask *m, uint32_t row,
                          uint16_t *p, float *lse, float *weight)
{
    __m512 most = _mm512_set1_ps(s[0]), sum = _mm512_setzero_ps();
    for (int64_t i = 0; i < n; i += LANES) most = _mm512_max_ps(_mm512_mask_loadu_ps(most, lanes_below(n, i), s + i), most);
    float top = _mm512_reduce_max_ps(most);
    __m512 by = _mm512_set1_ps(scale), shift = _mm512_set1_ps(-top * scale);
    for (int64_t first = 0; first < n; first += SPAN) {
        __m512i word[4] = {_mm512_setzero_si512()};
        if (m->key) draw_span(m, row, first, word);
#pragma GCC unroll 8
        for (int j = 0; j < ATTENTION_DRAW; j++) {
            int64_t i = first + j * LANES;
            if (i >= n) break;
            __mmask16 in = lanes_below(n, i);
            __m512 e = _mm512_maskz_mov_ps(in, raise(_mm512_fmadd_ps(_mm512_loadu_ps(s + i), by, shift)));
            sum = _mm512_add_ps(sum, e);
            if (m->key) e = _mm512_maskz_mov_ps(kept_lanes(word, j, m->least), e);
            _mm256_storeu_si256((__m256i *)(p + i), (__m256i)_mm512_cvtneps_pbh(e));
        }
    }
    for (int64_t i = (n + LANES - 1) / LANES * LANES; i < room; i++) p[i] = 0;
    float total = _mm512_reduce_add_ps(sum);
    *lse = top * scale + logf(total);
    *weight = (m->key ? m->factor : 1.0f) / total;
}

VECTORS void pairs_attend_back(const struct pairs_rows *r, int64_t n, int64_t room, float scale, const struct attention_mask *m,
                               uint32_t row)
{
    static const uint16_t side_by_side[32] = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23,
                                              8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i order = _mm512_loadu_si512(side_by_side);
    const __m512 by = _mm512_set1_ps(scale), factor = _mm512_set1_ps(m->key ? m->factor : 1.0f);
    const __m512 back = _mm512_mul_ps(by, factor);
    for (int64_t first = 0; first < n; first += SPAN) {
        __m512i word[2][4] = {{_mm512_setzero_si512()}};
        for (int q = 0; q < 2 && m->key; q++) draw_span(m, row + (uint32_t)q, first, word[q]);
#pragma GCC unroll 8
        for (int j = 0; j < ATTENTION_DRAW; j++) {
            int64_t i = first + j * LANES;
            if (i >= n) break;
            __mmask16 in = lanes_below(n, i);
            __m512 p[2], ds[2];
#pragma GCC unroll 2
            for (int q = 0; q < 2; q++) {
                __mmask16 kept = m->key ? kept_lanes(word[q], j, m->least) : (__mmask16)0xffff;
                __m512 e = raise(_mm512_fmsub_ps(_mm512_loadu_ps(r->s[q] + i), by, _mm512_set1_ps(r->lse[q])));
                __m512 minus = _mm512_set1_ps(-r->delta[q] * scale);
                __m512 d = _mm512_mask3_fmadd_ps(_mm512_loadu_ps(r->dp[q] + i), back, minus, kept);
                e = _mm512_maskz_mov_ps(in, e);
                ds[q] = _mm512_maskz_mul_ps(in, e, d);
                p[q] = _mm512_maskz_mul_ps(kept, e, factor);
            }
            __m512i probabilities = (__m512i)_mm512_cvtne2ps_pbh(p[1], p[0]), scores = (__m512i)_mm512_cvtne2ps_pbh(ds[1], ds[0]);
            _mm512_storeu_si512(r->s_pairs + i, _mm512_permutexvar_epi16(order, probabilities));
            _mm512_storeu_si512(r->dp_pairs + i, _mm512_permutexvar_epi16(order, scores));
            _mm256_storeu_si256((__m256i *)(r->ds[0] + i), _mm512_castsi512_si256(scores));
            _mm256_storeu_si256((__m256i *)(r->ds[1] + i), _mm512_extracti64x4_epi64(scores, 1));
        }
    }
    for (int64_t i = (n + LANES - 1) / LANES * LANES; i < room; i++)
        r->s_pairs[i] = r->dp_pairs[i] = r->ds[0][i] = r->ds[1][i] = 0;
}

#else

#include "runtime/base/error.h"

bool pairs_fit(void) { return false; }
void pairs_product(const struct product *p)
{
    (void)p;
    BUG("this processor multiplies no pairs");
}
void pairs_attend(const float *s, int64_t n, int64_t room, float scale, const struct attention_mask *m, uint32_t row, uint16_t *p,
                  float *lse, float *weight)
{
    (void)s, (void)n, (void)room, (void)scale, (void)m, (void)row, (void)p, (void)lse, (void)weight;
    BUG("this processor multiplies no pairs");
}
void pairs_attend_back(const struct pairs_rows *r, int64_t n, int64_t room, float scale, const struct attention_mask *m,
                       uint32_t row)
{
    (void)r, (void)n, (void)room, (void)scale, (void)m, (void)row;
    BUG("this processor multiplies no pairs");
}

#endif
