// SPDX-License-Identifier: Apache-2.0
// Rows of attention scores, and products of blocks that lie in the cache. A row is read three times from the L1 cache.
#include "runtime/cpu/loops/loops_inside.h"

#include <math.h>

enum { LANES = ATTENTION_LANES, SPAN = DRAWS * ATTENTION_DRAW };

// Vectors are written out where the compiler finds none. Macros, because the ABI of vector arguments differs between
// instruction sets.
typedef float lanes __attribute__((vector_size(64)));
typedef int32_t whole_lanes __attribute__((vector_size(64)));
typedef uint32_t bit_lanes __attribute__((vector_size(64)));
typedef float lanes_anywhere __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint32_t bits_anywhere __attribute__((vector_size(64), aligned(4), may_alias));
#define AT(address) (*(lanes_anywhere *)(address))
#define BITS_AT(address) (*(const bits_anywhere *)(address))
#define CHOOSE(condition, a, b) ((lanes)(((condition) & (whole_lanes)(a)) | (~(condition) & (whole_lanes)(b))))

// Draws for the keys of `row` from `first` on, as element_attention_draw(), many at once: enough for `keys` and at most SPAN.
ALWAYS void draw_span(const struct attention_mask *m, uint32_t row, int64_t first, int64_t keys, uint32_t (*word)[DRAWS])
{
    uint64_t seed = (uint64_t)(uint32_t)m->key[0] | (uint64_t)(uint32_t)m->key[1] << 32;
    int64_t draws = (keys + LANES * ATTENTION_DRAW - 1) / (LANES * ATTENTION_DRAW) * LANES;
    for (int i = 0; i < DRAWS; i++) {
        word[0][i] = row, word[1][i] = (uint32_t)(first / ATTENTION_DRAW) + (uint32_t)i;
        word[2][i] = RNG_DROPOUT | m->site << 8, word[3][i] = m->step;
    }
    philox_all(seed, word, draws < DRAWS ? (int)draws : DRAWS);
}

// The factors of the LANES keys of piece j of the draws at `word`: 0 or `factor`.
#define MASK(mask, factor, word, j)                                                                                    \
    ((lanes)((whole_lanes)((BITS_AT(word) >> (16 * ((j) & 1)) & 0xffffu) >= (mask)->least) &                           \
             (whole_lanes)((lanes){0} + (factor))))

// One vector of a row: e^x, the sum of which goes to `part`.
ALWAYS void raise_lanes(float *s, float top, float scale, float *part)
{
    for (int j = 0; j < LANES; j++) {
        s[j] = element_exp((s[j] - top) * scale);
        part[j] += s[j];
    }
}

void LOOPS_NAME(attend)(float *s, int64_t n, int64_t room, float scale, const struct attention_mask *mask,
                        uint32_t row, float *lse)
{
    float part[LANES] = {0}, top = s[0];
    int64_t whole = n / LANES * LANES;
    lanes most = (lanes){0} + top;
    for (int64_t i = 0; i < whole; i += LANES) most = CHOOSE(AT(s + i) > most, AT(s + i), most);
    for (int64_t i = whole; i < n; i++) top = s[i] > top ? s[i] : top;
    for (int j = 0; j < LANES; j++) top = most[j] > top ? most[j] : top;
    for (int64_t i = 0; i < whole; i += LANES) raise_lanes(s + i, top, scale, part);
    for (int64_t i = whole; i < n; i++) part[i - whole] += s[i] = element_exp((s[i] - top) * scale);
    for (int64_t i = n; i < room; i++) s[i] = 0.0f;
    double sum = 0;
    for (int j = 0; j < LANES; j++) sum += (double)part[j];
    *lse = top * scale + (float)log(sum);
    float inverse = (float)(1.0 / sum);
    if (!mask->key) {
        for (int64_t i = 0; i < n; i++) s[i] *= inverse;
        return;
    }
    uint32_t word[4][DRAWS];
    inverse *= mask->factor;
    for (int64_t i = 0; i < n; i += SPAN) {
        draw_span(mask, row, i, n - i, word);
        for (int64_t b = 0; b < DRAWS && i + b * ATTENTION_DRAW < n; b += LANES)
#pragma GCC unroll 8
            for (int j = 0; j < ATTENTION_DRAW; j++) {
                float *at = s + i + b * ATTENTION_DRAW + j * LANES;
                if (at - s >= n) break;
                AT(at) *= MASK(mask, inverse, &word[j >> 1][b], j);
            }
    }
}

// One vector of a row: p = e^x masked, and the gradient of the score.
#define BACK_LANES(s, dp, scale, lse, delta, factor)                                                                   \
    do {                                                                                                               \
        float p_[LANES];                                                                                               \
        for (int j_ = 0; j_ < LANES; j_++) p_[j_] = element_exp((s)[j_] * (scale) - (lse));                            \
        lanes v_ = AT(p_), factor_ = (factor);                                                                         \
        AT(dp) = v_ * (AT(dp) * factor_ - (delta)) * (scale);                                                          \
        AT(s) = v_ * factor_;                                                                                          \
    } while (0)

void LOOPS_NAME(attend_back)(float *s, float *dp, int64_t n, int64_t room, float scale, const struct attention_mask *mask,
                             uint32_t row, float lse, float delta)
{
    if (!mask->key)
        for (int64_t i = 0; i < n; i += LANES) BACK_LANES(s + i, dp + i, scale, lse, delta, (lanes){0} + 1.0f);
    uint32_t word[4][DRAWS];
    for (int64_t i = 0; i < n && mask->key; i += SPAN) {
        draw_span(mask, row, i, n - i, word);
        for (int64_t b = 0; b < DRAWS && i + b * ATTENTION_DRAW < n; b += LANES)
#pragma GCC unroll 8
            for (int j = 0; j < ATTENTION_DRAW; j++) {
                int64_t at = i + b * ATTENTION_DRAW + j * LANES;
                if (at >= n) break;
                BACK_LANES(s + at, dp + at, scale, lse, delta, MASK(mask, mask->factor, &word[j >> 1][b], j));
            }
    }
    for (int64_t i = n; i < room; i++) s[i] = dp[i] = 0.0f;
}

void LOOPS_NAME(join_rows)(const uint16_t *a, const uint16_t *b, int64_t n, uint32_t *y)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = (uint32_t)a[i] | (uint32_t)b[i] << 16;
}

// ---- products
// A tile of rows x vectors (constants) stays in registers where the instruction set has 32 of 64 bytes.
ALWAYS void product_tile(const int rows, const int vectors, const struct product *p, const float *a, float *b, float *c)
{
    lanes sum[PRODUCT_ROWS][4];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++) sum[i][j] = (lanes){0};
    for (int64_t u = 0; u < p->depth; u++, a += p->a_unit, b += p->b_row) {
        lanes v[4];
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++) v[j] = AT(b + j * 16);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            float one = a[i * p->a_row];
#pragma GCC unroll 4
            for (int j = 0; j < vectors; j++) sum[i][j] += one * v[j];
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++) {
            if (p->adds) sum[i][j] += AT(c + i * p->c_row + j * 16);
            AT(c + i * p->c_row + j * 16) = sum[i][j];
        }
}

void LOOPS_NAME(product)(const struct product *p)
{
    for (int64_t n = 0, left = p->columns; left > 0;) {
        int wide = left >= 64 ? 4 : left >= 32 ? 2 : 1, rows = wide == 4 ? 6 : 12;
        for (int64_t m = 0; m < p->rows; m += rows) {
            const float *a = p->a + m * p->a_row;
            float *b = (float *)p->b + n, *c = p->c + m * p->c_row + n;
            if (wide == 4)
                product_tile(6, 4, p, a, b, c);
            else if (wide == 2)
                product_tile(12, 2, p, a, b, c);
            else
                product_tile(12, 1, p, a, b, c);
        }
        n += 16 * wide, left -= 16 * wide;
    }
}
