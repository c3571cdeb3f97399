// SPDX-License-Identifier: Apache-2.0
// Rows of attention scores, and products of blocks that lie in the cache. A row is read three times from the L1 cache.
#include "runtime/cpu/loops_inside.h"

#include <math.h>

enum { LANES = ATTENTION_LANES, SPAN = ATTENTION_LANES * ATTENTION_DRAW };

// The factors of SPAN adjacent probabilities: 0 or the mask's factor.
ALWAYS void mask_span(const struct attention_mask *m, uint32_t row, int64_t first, float *factor)
{
    uint32_t word[4][LANES];
    for (int i = 0; i < LANES; i++) {
        struct rng4 r = element_attention_draw(m->key, m->step, m->site, row, (uint32_t)(first / ATTENTION_DRAW) + (uint32_t)i);
        word[0][i] = r.v[0], word[1][i] = r.v[1], word[2][i] = r.v[2], word[3][i] = r.v[3];
    }
    for (int j = 0; j < ATTENTION_DRAW; j++)
        for (int i = 0; i < LANES; i++)
            factor[j * LANES + i] = (word[j >> 1][i] >> (16 * (j & 1)) & 0xffffu) >= m->least ? m->factor : 0.0f;
}

void LOOPS_NAME(attend)(float *s, int64_t n, int64_t room, float scale, const struct attention_mask *mask, uint32_t row, float *lse)
{
    float part[LANES], top = s[0];
    for (int j = 0; j < LANES; j++) part[j] = s[j < n ? j : 0];
    int64_t whole = n / LANES * LANES;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int j = 0; j < LANES; j++) part[j] = s[i + j] > part[j] ? s[i + j] : part[j];
    for (int64_t i = whole; i < n; i++) top = s[i] > top ? s[i] : top;
    for (int j = 0; j < LANES; j++) top = part[j] > top ? part[j] : top;
    for (int j = 0; j < LANES; j++) part[j] = 0.0f;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int j = 0; j < LANES; j++) part[j] += s[i + j] = element_exp((s[i + j] - top) * scale);
    for (int64_t i = whole; i < n; i++) part[i - whole] += s[i] = element_exp((s[i] - top) * scale);
    double sum = 0;
    for (int j = 0; j < LANES; j++) sum += (double)part[j];
    float factor = (float)(1.0 / sum), masks[SPAN];
    *lse = top * scale + (float)log(sum);
    for (int64_t i = n; i < room; i++) s[i] = 0.0f;
    if (!mask->key) {
        for (int64_t i = 0; i < n; i++) s[i] *= factor;
        return;
    }
    for (int64_t i = 0; i < n; i += SPAN) {
        mask_span(mask, row, i, masks);
        int64_t count = n - i < SPAN ? n - i : SPAN;
        for (int64_t j = 0; j < count; j++) s[i + j] *= factor * masks[j];
    }
}

void LOOPS_NAME(attend_back)(float *s, float *dp, int64_t n, int64_t room, float scale, const struct attention_mask *mask,
                             uint32_t row, float lse, float delta)
{
    float masks[SPAN];
    for (int i = 0; i < SPAN; i++) masks[i] = 1.0f;
    for (int64_t i = 0; i < n; i += SPAN) {
        if (mask->key) mask_span(mask, row, i, masks);
        int64_t count = n - i < SPAN ? n - i : SPAN;
        float *at = s + i, *d = dp + i;
        INDEPENDENT
        for (int64_t j = 0; j < count; j++) {
            float p = element_exp(at[j] * scale - lse);
            d[j] = p * (d[j] * masks[j] - delta) * scale;
            at[j] = p * masks[j];
        }
    }
    for (int64_t i = n; i < room; i++) s[i] = dp[i] = 0.0f;
}

ALWAYS void join_rows_of(enum dtype t, const void *a, const void *b, int64_t n, uint32_t *y)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = (uint32_t)f32_to_bf16(get(t, a, i)) | (uint32_t)f32_to_bf16(get(t, b, i)) << 16;
}

static void join_halves(const uint16_t *a, const uint16_t *b, int64_t n, uint32_t *y)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = (uint32_t)a[i] | (uint32_t)b[i] << 16;
}

void LOOPS_NAME(join_rows)(enum dtype t, const void *a, const void *b, int64_t n, uint32_t *y)
{
    if (t == BF16)
        join_halves(a, b, n, y);
    else
        join_rows_of(F32, a, b, n, y);
}

// ---- products
typedef float lanes __attribute__((vector_size(64)));
typedef float lanes_anywhere __attribute__((vector_size(64), aligned(4), may_alias));
#define AT(address) (*(lanes_anywhere *)(address))

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
