// SPDX-License-Identifier: Apache-2.0
// Rows of attention scores, and products of blocks that fit in the cache. A row is read three times from the L1 cache. Rotary
// positions of a token's heads.
#include "runtime/cpu/loops/loops_inside.h"

#include <math.h>

enum { SPAN = DRAWS * ATTENTION_DRAW };
_Static_assert((int)ATTENTION_LANES == (int)LANE_GROUP, "draws are laid out in groups of lanes");

// Draws for the keys of `row` from `first` on, as element_attention_draw(), many at once: enough for `keys` and at most SPAN.
ALWAYS void draw_span(const struct attention_mask *m, uint32_t row, int64_t first, int64_t keys, uint32_t (*word)[DRAWS])
{
    uint64_t seed = (uint64_t)(uint32_t)m->key[0] | (uint64_t)(uint32_t)m->key[1] << 32;
    int64_t draws = (keys + LANE_GROUP * ATTENTION_DRAW - 1) / (LANE_GROUP * ATTENTION_DRAW) * LANE_GROUP;
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

ALWAYS float largest(const float *s, int64_t n)
{
    float top = s[0];
    int64_t whole = n / LANES * LANES;
    lanes most = (lanes){0} + top;
    for (int64_t i = 0; i < whole; i += LANES) most = CHOOSE(AT(s + i) > most, AT(s + i), most);
    for (int64_t i = whole; i < n; i++) top = s[i] > top ? s[i] : top;
    for (int j = 0; j < LANES; j++) top = most[j] > top ? most[j] : top;
    return top;
}

// Runs BODY for every vector of a row with dropout: `at` is its first key, `factors` are the factors of its keys. Keys past n
// are computed up to the vector's end.
#define EACH_DRAWN(mask, row, n, factor, BODY)                                                                         \
    do {                                                                                                               \
        uint32_t word_[4][DRAWS];                                                                                      \
        for (int64_t i_ = 0; i_ < (n); i_ += SPAN) {                                                                   \
            draw_span(mask, row, i_, (n) - i_, word_);                                                                 \
            for (int64_t b_ = 0; b_ < DRAWS && i_ + b_ * ATTENTION_DRAW < (n); b_ += LANE_GROUP)                       \
                _Pragma("GCC unroll 8") for (int j_ = 0; j_ < ATTENTION_DRAW; j_++)                                    \
                    _Pragma("GCC unroll 4") for (int l_ = 0; l_ < LANE_GROUP; l_ += LANES) {                           \
                        int64_t at = i_ + b_ * ATTENTION_DRAW + j_ * LANE_GROUP + l_;                                  \
                        if (at >= (n)) break;                                                                          \
                        lanes factors = MASK(mask, factor, &word_[j_ >> 1][b_ + l_], j_);                              \
                        BODY;                                                                                          \
                    }                                                                                                  \
        }                                                                                                              \
    } while (0)

void LOOPS_NAME(attend)(float *s, int64_t n, int64_t padded, float scale, const struct attention_mask *mask,
                        uint32_t row, float *lse)
{
    float part[LANE_GROUP] = {0}, top = largest(s, n);
    int64_t whole = n / LANE_GROUP * LANE_GROUP;
    for (int64_t i = 0; i < n; i++) s[i] = element_exp((s[i] - top) * scale);
    for (int64_t i = 0; i < whole; i += LANE_GROUP)
        for (int j = 0; j < LANE_GROUP; j++) part[j] += s[i + j];
    for (int64_t i = whole; i < n; i++) part[i - whole] += s[i];
    for (int64_t i = n; i < padded; i++) s[i] = 0.0f;
    const double sum = lanes_sum(part);
    *lse = top * scale + (float)log(sum);
    float inverse = (float)(1.0 / sum);
    if (!mask->key)
        for (int64_t i = 0; i < n; i++) s[i] *= inverse;
    else
        EACH_DRAWN(mask, row, n, inverse * mask->factor, AT(s + at) *= factors);
}

// One vector of a row of probabilities: masked, and the gradient of the score.
#define BACK_LANES(s, dp, scale, delta, factors)                                                                       \
    do {                                                                                                               \
        lanes p_ = AT(s);                                                                                              \
        AT(dp) = p_ * (AT(dp) * (factors) - (delta)) * (scale);                                                        \
        AT(s) = p_ * (factors);                                                                                        \
    } while (0)

void LOOPS_NAME(attend_back)(float *s, float *dp, int64_t n, int64_t padded, float scale, const struct attention_mask *mask,
                             uint32_t row, float lse, float delta)
{
    for (int64_t i = 0; i < (n + LANES - 1) / LANES * LANES; i++) s[i] = element_exp(s[i] * scale - lse);
    if (mask->key)
        EACH_DRAWN(mask, row, n, mask->factor, BACK_LANES(s + at, dp + at, scale, delta, factors));
    else
        for (int64_t i = 0; i < n; i += LANES) BACK_LANES(s + i, dp + i, scale, delta, (lanes){0} + 1.0f);
    for (int64_t i = n; i < padded; i++) s[i] = dp[i] = 0.0f;
}

void LOOPS_NAME(join_rows)(const uint16_t *a, const uint16_t *b, int64_t n, uint32_t *y)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = (uint32_t)a[i] | (uint32_t)b[i] << 16;
}

typedef float quad __attribute__((vector_size(16)));
typedef float quad_anywhere __attribute__((vector_size(16), aligned(4), may_alias));
#define TURN __builtin_shufflevector
#define QUAD(address) (*(quad_anywhere *)(address))

void LOOPS_NAME(turn)(const float *x, int64_t rows, int64_t columns, int64_t row, float *y, int64_t to)
{
    const int64_t high = rows / 4 * 4, wide = columns / 4 * 4;
    for (int64_t c = 0; c < wide; c += 4)
        for (int64_t r = 0; r < high; r += 4) {
            const float *from = x + r * row + c;
            quad a = QUAD(from), b = QUAD(from + row), d = QUAD(from + 2 * row), e = QUAD(from + 3 * row);
            quad ab = TURN(a, b, 0, 4, 1, 5), de = TURN(d, e, 0, 4, 1, 5);
            QUAD(y + c * to + r) = TURN(ab, de, 0, 1, 4, 5), QUAD(y + (c + 1) * to + r) = TURN(ab, de, 2, 3, 6, 7);
            ab = TURN(a, b, 2, 6, 3, 7), de = TURN(d, e, 2, 6, 3, 7);
            QUAD(y + (c + 2) * to + r) = TURN(ab, de, 0, 1, 4, 5), QUAD(y + (c + 3) * to + r) = TURN(ab, de, 2, 3, 6, 7);
        }
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = c < wide ? high : 0; r < rows; r++) y[c * to + r] = x[r * row + c];
}

// ---- products
// A tile of rows x vectors (constants) stays in registers. A tile of few rows is often the only one: b is then read once, from
// beyond L2, so it is fetched a panel of 256 rows ahead by AVX2 (docs/performance.md: Every instruction set).
enum { FEW_ROWS = 4, AHEAD = 4096, LINE = 16 };  // floats

ALWAYS void product_tile(const int rows, const int vectors, const struct product *p, const float *a, float *b, float *c)
{
    lanes sum[PRODUCT_ROWS][4];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++) sum[i][j] = (lanes){0};
    for (int64_t u = 0; u < p->depth; u++, a += p->a_unit, b += p->b_row) {
        lanes v[4];
        if (rows <= FEW_ROWS)
            for (int j = 0; j < vectors * LANES; j += LINE) __builtin_prefetch(b + AHEAD + j);
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++) v[j] = AT(b + j * LANES);
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
            if (p->adds) sum[i][j] += AT(c + i * p->c_row + j * LANES);
            AT(c + i * p->c_row + j * LANES) = sum[i][j];
        }
}

// Columns from n on: as many rows at a time as the registers hold sums of, then fewer.
ALWAYS void product_columns(const int most, const int vectors, const struct product *p, int64_t n)
{
    const float *a = p->a;
    float *b = (float *)p->b + n, *c = p->c + n;
    int64_t m = 0;
    for (; m + most <= p->rows; m += most) product_tile(most, vectors, p, a + m * p->a_row, b, c + m * p->c_row);
    if (most > 6 && m + 6 <= p->rows) product_tile(6, vectors, p, a + m * p->a_row, b, c + m * p->c_row), m += 6;
    if (m + 4 <= p->rows) product_tile(4, vectors, p, a + m * p->a_row, b, c + m * p->c_row), m += 4;
    if (m + 2 <= p->rows) product_tile(2, vectors, p, a + m * p->a_row, b, c + m * p->c_row);
}

// 24 sums in 32 registers, 12 in 16.
void LOOPS_NAME(product)(const struct product *p)
{
    enum { MANY = VECTOR_REGISTERS == 32, MOST = MANY ? 12 : 6 };
    for (int64_t n = 0, left = p->columns / LANES; left > 0;) {
        int vectors = MANY && left >= 4 ? 4 : left >= 2 ? 2 : 1;
        if (MANY && vectors == 4) product_columns(6, 4, p, n);
        else if (vectors == 2) product_columns(MOST, 2, p, n);
        else product_columns(MOST, 1, p, n);
        n += vectors * LANES, left -= vectors;
    }
}

void LOOPS_NAME(rotary_angles)(const uint64_t *turn, int64_t position, int64_t half, bool inverse, float *c, float *s)
{
    const float sign = inverse ? -1.0f : 1.0f;
    INDEPENDENT
    for (int64_t i = 0; i < half; i++) {
        float sine;
        element_rotary(turn[i], position, c + i, &sine);
        s[i] = sign * sine;
    }
}

ALWAYS void rotate_of(enum dtype t, const void *x, int64_t heads, int64_t half, const float *c, const float *s, void *y)
{
    for (int64_t h = 0; h < heads; h++) {
        const void *p = from(t, x, 2 * h * half), *q = from(t, p, half);
        void *to = into(t, y, 2 * h * half), *other = into(t, to, half);
        INDEPENDENT
        for (int64_t i = 0; i < half; i++) {
            float a = get(t, p, i), b = get(t, q, i);
            put(t, to, i, a * c[i] - b * s[i]);
            put(t, other, i, b * c[i] + a * s[i]);
        }
    }
}

void LOOPS_NAME(rotate)(enum dtype t, const void *x, int64_t heads, int64_t half, const float *c, const float *s, void *y)
{
    EACH_TYPE(t, rotate_of, x, heads, half, c, s, y);
}
