// SPDX-License-Identifier: Apache-2.0
// By vectors, scores of two queries and 128 keys, or of eight and 32, are 16 sums in registers; by tiles, the scores of all
// queries are computed at once. They pass through the first cache to the exponentials and become pairs there: 2 KB backward,
// eight rows forward. No block of f32 scores goes to the second cache. 128 keys are also what 16 draws of the mask serve.
//
// Cost for 16 scores, counted: 13 operations for the mask, 14 forward and 18 backward for the rest, without the products. Zen 5
// starts two to four of them a cycle.
#include "runtime/cpu/product/pairs_inside.h"
#include "runtime/cpu/tiles/tiles.h"

#if defined __x86_64__ && !defined ISA_ONLY_BASE

#include <math.h>

#define LOG2_E 1.44269504f

enum { PIECES = ATTENTION_DRAW, WORDS = 4, SUMS = 16, FEW_KEYS = 32 };

// ---- products
// s[rows][vectors * 16] = q b', of consecutive rows of q and columns of b `padded` apart. Few vectors need many rows, because an
// addition to a sum waits for the one before.
static inline AVX512 ALWAYS void score_tile(const int rows, const int vectors, const uint32_t *q, const uint32_t *b,
                                             int64_t units, int64_t padded, float *s, int64_t s_row)
{
    __m512 sum[SUMS];
#pragma GCC unroll 16
    for (int j = 0; j < rows * vectors; j++) sum[j] = _mm512_setzero_ps();
    for (int64_t u = 0; u < units; u++, b += padded) {
        __m512bh v[PIECES];
#pragma GCC unroll 8
        for (int j = 0; j < vectors; j++) v[j] = (__m512bh)_mm512_loadu_si512(b + j * PAIRS_LANES);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            __m512bh by = (__m512bh)_mm512_set1_epi32((int)q[i * units + u]);
#pragma GCC unroll 8
            for (int j = 0; j < vectors; j++) sum[i * vectors + j] = _mm512_dpbf16_ps(sum[i * vectors + j], v[j], by);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < vectors; j++) _mm512_storeu_ps(s + i * s_row + j * PAIRS_LANES, sum[i * vectors + j]);
}

// Of `queries` queries, an even number.
static inline AVX512 ALWAYS void score_tiles(const int rows, const int vectors, const uint32_t *q, const uint32_t *b,
                                              int64_t units, int64_t padded, int64_t queries, float *s, int64_t s_row)
{
    int64_t i = 0;
    for (; i + rows <= queries; i += rows) score_tile(rows, vectors, q + i * units, b, units, padded, s + i * s_row, s_row);
    for (; i < queries; i += 2) score_tile(2, vectors, q + i * units, b, units, padded, s + i * s_row, s_row);
}

// The scores of `queries` queries with n keys, at most PAIRS_KEYS, rounded up to whole vectors.
static AVX512 void score_keys(const uint32_t *q, const uint32_t *b, int64_t units, int64_t padded, int64_t queries, int64_t n,
                               float *s, int64_t s_row)
{
    int64_t vectors = (n + PAIRS_LANES - 1) / PAIRS_LANES;
#define SCORE(rows, by)                                                                                                \
    score_tiles(rows, by, q, b, units, padded, queries, s, s_row), b += (by) * PAIRS_LANES, s += (by) * PAIRS_LANES
    if (vectors >= PIECES) {
        SCORE(2, 8);
        return;
    }
    if (vectors & 4) SCORE(4, 4);
    if (vectors & 2) SCORE(8, 2);
    if (vectors & 1) SCORE(8, 1);
#undef SCORE
}

// Writes the scores of `queries` queries with n keys to s[queries][s_row], and of one more if the number is odd.
static void score_rows(const struct pairs_scores *o, const uint32_t *q, const uint32_t *b, int64_t queries, int64_t n, float *s,
                       int64_t s_row)
{
    if (o->tiles) {
        tiles_product(&(struct product){.a = (const float *)q, .b = (const float *)b, .c = s, .rows = queries,
                                        .columns = (n + PAIRS_LANES - 1) / PAIRS_LANES * PAIRS_LANES, .depth = o->units,
                                        .a_row = o->units, .a_unit = 1, .b_row = o->padded, .c_row = s_row});
        return;
    }
    for (int64_t first = 0; first < n; first += PAIRS_KEYS)
        score_keys(q, b + first, o->units, o->padded, queries + queries % 2, n - first, s + first, s_row);
}

// How many of the keys [first, first + n) the query `at` rows on sees.
static inline int64_t seen_of(const struct pairs_scores *o, int64_t at, int64_t first, int64_t n)
{
    int64_t seen = o->seen + at - first;
    return !o->causal || seen > n ? n : seen < 0 ? 0 : seen;
}

// ---- exponentials
// 2^x where `in`, 0 elsewhere, for x below 128; saturates at 2^-126; NaN stays NaN. Relative error below 3e-7, with the error of
// x itself next to it.
static inline AVX512 ALWAYS __m512 power_of_two(__mmask16 in, __m512 x)
{
    x = _mm512_max_ps(_mm512_set1_ps(-126.0f), x);
    __m512 n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), f = _mm512_sub_ps(x, n);
    // The series of 2^f; terms from f^6 on are replaced by their Chebyshev approximation on [-1/2, 1/2].
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(1.34003e-3f), f, _mm512_set1_ps(9.67604e-3f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.550328e-2f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.24022107f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.69314721f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0000001f));
    return _mm512_maskz_scalef_ps(in, p, n);
}

// ---- the mask
enum { LOW_WORD = 32, ROUNDS = 10 };
static const uint32_t PHILOX_A = 0xD2511F53u, PHILOX_B = 0xCD9E8D57u;

// The keys of all rounds in memory, from where an instruction spreads one over its lanes.
static void fill_round_keys(const int32_t *key, uint64_t k[2 * ROUNDS])
{
    uint32_t k0 = (uint32_t)key[0], k1 = (uint32_t)key[1];
    for (int i = 0; i < ROUNDS; i++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) k[2 * i] = k0, k[2 * i + 1] = k1;
}

static inline uint64_t high_word(uint64_t x) { return x >> LOW_WORD; }

// For the PAIRS_KEYS keys of `row` from `first` on: bit i of kept[w] is key 32 w + i. The rounds equal rng_philox()'s. Even
// and odd draws have vectors of their own, a draw in the low half of 64 bits: the multiplication reads nothing else, so that no
// lane is ever moved. In the first three rounds, words that are the same for all draws are scalars.
static inline AVX512 ALWAYS void keep_keys(const struct attention_mask *m, const uint64_t k[2 * ROUNDS], uint32_t row,
                                            int64_t first, __mmask32 kept[WORDS])
{
    static const uint16_t pieces[32] = {0, 32, 4, 36, 8, 40, 12, 44, 16, 48, 20, 52, 24, 56, 28, 60,   // low 16 bits of a word
                                        1, 33, 5, 37, 9, 41, 13, 45, 17, 49, 21, 53, 25, 57, 29, 61};  // high
    const __m512i by_a = _mm512_set1_epi64((int64_t)PHILOX_A), by_b = _mm512_set1_epi64((int64_t)PHILOX_B);
    __m512i c[WORDS][2];
    uint64_t a = (uint64_t)PHILOX_A * row, b = (uint64_t)PHILOX_B * (RNG_DROPOUT | m->site << 8);
    uint64_t zero = high_word(b) ^ k[0], one = (uint32_t)b, two = high_word(a) ^ m->step ^ k[1], three = (uint32_t)a;
    __m512i draw = _mm512_add_epi64(_mm512_set1_epi64(first / ATTENTION_DRAW), _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14));
    c[0][0] = _mm512_xor_si512(draw, _mm512_set1_epi64((int64_t)zero));
    c[0][1] = _mm512_xor_si512(_mm512_add_epi64(draw, _mm512_set1_epi64(1)), _mm512_set1_epi64((int64_t)zero));
    b = PHILOX_B * two;
    zero = high_word(b) ^ one ^ k[2], one = (uint32_t)b, two = three ^ k[3];
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        c[3][i] = _mm512_mul_epu32(c[0][i], by_a);
        c[2][i] = _mm512_xor_si512(_mm512_srli_epi64(c[3][i], LOW_WORD), _mm512_set1_epi64((int64_t)two));
    }
    a = PHILOX_A * zero;
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        c[1][i] = _mm512_mul_epu32(c[2][i], by_b);
        c[0][i] = _mm512_xor_si512(_mm512_srli_epi64(c[1][i], LOW_WORD), _mm512_set1_epi64((int64_t)(one ^ k[4])));
        c[2][i] = _mm512_xor_si512(c[3][i], _mm512_set1_epi64((int64_t)(high_word(a) ^ k[5])));
        c[3][i] = _mm512_set1_epi64((int64_t)(uint32_t)a);
    }
    for (int round = 3; round < ROUNDS; round++) {
        __m512i key_0 = _mm512_set1_epi64((int64_t)k[2 * round]), key_1 = _mm512_set1_epi64((int64_t)k[2 * round + 1]);
#pragma GCC unroll 2
        for (int i = 0; i < 2; i++) {
            __m512i x = _mm512_mul_epu32(c[0][i], by_a), y = _mm512_mul_epu32(c[2][i], by_b);
            c[0][i] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(y, LOW_WORD), c[1][i], key_0, 0x96);  // exclusive or of three
            c[2][i] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(x, LOW_WORD), c[3][i], key_1, 0x96);
            c[1][i] = y, c[3][i] = x;
        }
    }
    const __m512i order = _mm512_loadu_si512(pieces), least = _mm512_set1_epi16((short)m->least);
#pragma GCC unroll 4
    for (int w = 0; w < WORDS; w++)
        kept[w] = _mm512_cmpge_epu16_mask(_mm512_permutex2var_epi16(c[w][0], order, c[w][1]), least);
}

static inline AVX512 ALWAYS __mmask16 kept_piece(const __mmask32 kept[WORDS], int j)
{
    return (__mmask16)(kept[j / 2] >> (j % 2 * PAIRS_LANES));
}

static AVX512 void keep_rows(const struct attention_mask *m, uint32_t row, int64_t rows, int64_t first, __mmask32 (*kept)[WORDS])
{
    uint64_t k[2 * ROUNDS];
    if (!m->key) {
        memset(kept, 0xff, (size_t)rows * sizeof *kept);
        return;
    }
    fill_round_keys(m->key, k);
    for (int64_t i = 0; i < rows; i++) keep_keys(m, k, row + (uint32_t)i, first, kept[i]);
}

// ---- forward
static AVX512 float largest_score(const float *s, int64_t n)
{
    __m512 most = _mm512_set1_ps(s[0]);
    for (int64_t i = 0; i < n; i += PAIRS_LANES)
        most = _mm512_max_ps(_mm512_mask_loadu_ps(most, pairs_below(n, i), s + i), most);
    return _mm512_reduce_max_ps(most);
}

// The exponentials of n keys, at most PAIRS_KEYS, of which the first `seen` are unmasked. Adds their sums to the lanes of `sum`.
static AVX512 void raise_keys(float scale, int64_t n, int64_t seen, const float *s, float top, const __mmask32 kept[WORDS],
                               uint16_t *p, float *sum)
{
    __m512 all = _mm512_loadu_ps(sum), by = _mm512_set1_ps(scale * LOG2_E), shift = _mm512_set1_ps(-top * (scale * LOG2_E));
#pragma GCC unroll 8
    for (int j = 0; j < PIECES; j++) {
        int64_t i = j * PAIRS_LANES;
        if (i >= n) break;
        __m512 e = power_of_two(pairs_below(seen, i), _mm512_fmadd_ps(_mm512_loadu_ps(s + i), by, shift));
        all = _mm512_add_ps(all, e);
        _mm256_storeu_si256((__m256i *)(p + i), (__m256i)_mm512_maskz_cvtneps_pbh(kept_piece(kept, j), e));
    }
    _mm512_storeu_ps(sum, all);
}

static AVX512 float add_lanes(const float *sum) { return _mm512_reduce_add_ps(_mm512_loadu_ps(sum)); }

// By vectors, all queries meet 128 keys before the next keys come: 128 keys of 64 channels are a third of the first cache. Each
// pass goes over all rows, so that no row waits for the maximum, the draws or the sum of the row before.
void pairs_attend(const struct pairs_scores *o, int64_t queries, int64_t n, float *s, uint16_t *p, float *lse, float *weight)
{
    int64_t padded = o->padded;
    float top[PAIRS_QUERIES], lanes[PAIRS_QUERIES][PAIRS_LANES] = {{0}}, factor = o->mask->key ? o->mask->factor : 1.0f;
    __mmask32 kept[PAIRS_QUERIES][WORDS];
    score_rows(o, o->q, o->k_words, queries, n, s, padded);
    for (int64_t i = 0; i < queries; i++) top[i] = largest_score(s + i * padded, seen_of(o, i, 0, n));
    for (int64_t first = 0; first < n; first += PAIRS_KEYS) {
        keep_rows(o->mask, o->row, queries, first, kept);
        for (int64_t i = 0; i < queries; i++)
            raise_keys(o->scale, n - first, seen_of(o, i, first, n - first), s + i * padded + first, top[i], kept[i],
                       p + i * padded + first, lanes[i]);
    }
    for (int64_t i = 0; i < queries; i++) {
        float sum = add_lanes(lanes[i]);
        bool sees = seen_of(o, i, 0, n) > 0;
        lse[i] = sees ? top[i] * o->scale + logf(sum) : 0.0f, weight[i] = sees ? factor / sum : 0.0f;
    }
}

// ---- backward
// Exponentials and gradients of queries at and at + 1 for n keys from `first` on.
static AVX512 void soften_keys(const struct pairs_scores *o, int64_t at, int64_t first, int64_t n, const float *s,
                                const float *dp, __mmask32 kept[2][WORDS], const struct pairs_gradients *g)
{
    static const uint16_t side_by_side[32] = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23,
                                              8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i order = _mm512_loadu_si512(side_by_side);
    uint32_t *p_pairs = g->p_pairs + at / 2 * PAIRS_ROW, *ds_pairs = g->ds_pairs + at / 2 * PAIRS_ROW;
    uint16_t *rows = g->ds + at * PAIRS_ROW;
    const int64_t seen[2] = {seen_of(o, at, first, n), seen_of(o, at + 1, first, n)};
    const __m512 by = _mm512_set1_ps(o->scale * LOG2_E);
    const __m512 back = _mm512_set1_ps(o->scale * (o->mask->key ? o->mask->factor : 1.0f));
    const __m512 lse[2] = {_mm512_set1_ps(g->lse[at] * LOG2_E), _mm512_set1_ps(g->lse[at + 1] * LOG2_E)};
    const __m512 minus[2] = {_mm512_set1_ps(-g->delta[at] * o->scale), _mm512_set1_ps(-g->delta[at + 1] * o->scale)};
#pragma GCC unroll 8
    for (int j = 0; j < PIECES; j++) {
        int64_t i = j * PAIRS_LANES;
        if (i >= n) break;
        __mmask16 keep[2] = {kept_piece(kept[0], j), kept_piece(kept[1], j)};
        __m512 p[2], ds[2];
#pragma GCC unroll 2
        for (int q = 0; q < 2; q++) {
            p[q] = power_of_two(pairs_below(seen[q], i), _mm512_fmsub_ps(_mm512_loadu_ps(s + q * PAIRS_KEYS + i), by, lse[q]));
            __m512 d = _mm512_mask3_fmadd_ps(_mm512_loadu_ps(dp + q * PAIRS_KEYS + i), back, minus[q], keep[q]);
            ds[q] = _mm512_mul_ps(p[q], d);
        }
        __mmask32 both = (__mmask32)keep[1] << PAIRS_LANES | keep[0];
        __m512i chances = (__m512i)_mm512_maskz_cvtne2ps_pbh(both, p[1], p[0]);
        __m512i scores = (__m512i)_mm512_cvtne2ps_pbh(ds[1], ds[0]);
        _mm512_storeu_si512(p_pairs + i, _mm512_permutexvar_epi16(order, chances));
        _mm512_storeu_si512(ds_pairs + i, _mm512_permutexvar_epi16(order, scores));
        _mm256_storeu_si256((__m256i *)(rows + i), _mm512_castsi512_si256(scores));
        _mm256_storeu_si256((__m256i *)(rows + PAIRS_ROW + i), _mm512_extracti64x4_epi64(scores, 1));
    }
}

void pairs_attend_back(const struct pairs_scores *o, int64_t queries, int64_t first, int64_t n, const struct pairs_gradients *g)
{
    float s[PAIRS_QUERIES * PAIRS_KEYS], dp[PAIRS_QUERIES * PAIRS_KEYS];
    int64_t rows = o->tiles || n <= FEW_KEYS ? queries : 2;  // tiles are whole, a pair of rows stays in the first cache
    __mmask32 kept[PAIRS_QUERIES][WORDS];
    keep_rows(o->mask, o->row, queries, first, kept);
    for (int64_t i = 0; i < queries; i += rows) {
        score_rows(o, o->q + i * o->units, o->k_words + first, rows, n, s, PAIRS_KEYS);
        score_rows(o, o->dy + i * o->units, o->v_words + first, rows, n, dp, PAIRS_KEYS);
        for (int64_t j = 0; j < rows; j += 2)
            soften_keys(o, i + j, first, n, s + j * PAIRS_KEYS, dp + j * PAIRS_KEYS, kept + i + j, g);
    }
}

#endif
