// SPDX-License-Identifier: Apache-2.0
// Element-wise loops besides formulas: casts, dropout, random numbers, pixels to floats, bilinear blending, optimisers. Each is
// one pass: every argument is read once or written once.
#include "runtime/cpu/loops/loops_inside.h"

#include <math.h>

ALWAYS void widen_of(enum dtype t, const void *x, float *y, int64_t n)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = get(t, x, i);
}

void LOOPS_NAME(widen)(enum dtype t, const void *x, float *y, int64_t n)
{
    EACH_TYPE(t, widen_of, x, y, n);
}

ALWAYS void narrow_of(enum dtype t, const float *x, void *y, int64_t n)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) put(t, y, i, x[i]);
}

void LOOPS_NAME(narrow)(enum dtype t, const float *x, void *y, int64_t n)
{
    EACH_TYPE(t, narrow_of, x, y, n);
}

ALWAYS void scale_of(enum dtype t, const void *x, float factor, void *y, int64_t n)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) put(t, y, i, factor * get(t, x, i));
}

void LOOPS_NAME(scale)(enum dtype t, const void *x, float factor, void *y, int64_t n)
{
    EACH_TYPE(t, scale_of, x, factor, y, n);
}

typedef uint16_t __attribute__((may_alias)) piece;
ALWAYS void drop_run(enum dtype t, const void *x, const piece *drawn, int64_t n, float p, void *y)
{
    const float factor = element_factor(p);
    const uint32_t least = element_least(p);
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        float kept = get(t, x, i) * factor;
        put(t, y, i, drawn[i] >= least ? kept : 0.0f);
    }
}

// The draws that serve elements i .. end, `each` a draw, at most DRAWS, and whole groups: a row may need fewer.
enum { SERVED = 4 };
ALWAYS int64_t draw_blocks(int64_t i, int64_t end, const int each, const int32_t *key, uint32_t purpose, uint32_t step,
                           uint32_t (*v)[DRAWS])
{
    uint64_t seed = (uint64_t)(uint32_t)key[0] | (uint64_t)(uint32_t)key[1] << 32;
    int64_t draws = (end - i + each * LANE_GROUP - 1) / each & -LANE_GROUP;
    if (draws > DRAWS) draws = DRAWS;
    for (int64_t j = 0; j < DRAWS; j++) {
        uint64_t block = (uint64_t)(i / each + j);
        v[0][j] = (uint32_t)block, v[1][j] = (uint32_t)(block >> 32), v[2][j] = purpose, v[3][j] = step;
    }
    philox_all(seed, v, (int)draws);
    return draws;
}

// element_keeps(): the words of a draw in turn, each with two pieces, the lower one first.
void LOOPS_NAME(dropout)(enum dtype t, const void *x, int64_t first, int64_t n, const int32_t *key, uint32_t step,
                         int site, float p, void *y)
{
    enum { MOST = DROPOUT_DRAW * DRAWS };
    uint32_t v[4][DRAWS], word[4 * DRAWS];
    for (int64_t i = first / DROPOUT_DRAW * DROPOUT_DRAW; i < first + n; i += MOST) {
        int64_t draws = draw_blocks(i, first + n, DROPOUT_DRAW, key, RNG_DROPOUT | (uint32_t)site << 8, step, v);
        for (int64_t j = 0; j < (draws & -LANE_GROUP); j++)
            for (int64_t w = 0; w < 4; w++) word[4 * j + w] = v[w][j];
        const int64_t low = i < first ? first : i, high = i + MOST < first + n ? i + MOST : first + n;
        const piece *drawn = (const piece *)word + (low - i);
        EACH_TYPE(t, drop_run, from(t, x, low - first), drawn, high - low, p, into(t, y, low - first));
    }
}

void LOOPS_NAME(random)(const struct random_attr *a, int64_t first, int64_t n, const int32_t *key, uint32_t step, void *y)
{
    uint32_t v[4][DRAWS];
    float x[SERVED * DRAWS], scale = a->normal ? a->b : a->b - a->a;
    for (int64_t i = first & ~INT64_C(3); i < first + n; i += SERVED * DRAWS) {
        int64_t draws = draw_blocks(i, first + n, SERVED, key, RNG_RANDOM | (uint32_t)a->site << 8, step, v);
        for (int64_t j = 0; j < (draws & -LANE_GROUP) && a->normal; j++)
            for (int64_t w = 0; w < 4; w += 2) element_normals(v[w][j], v[w + 1][j], &x[4 * j + w], &x[4 * j + w + 1]);
        for (int64_t j = 0; j < (draws & -LANE_GROUP) && !a->normal; j++)
            for (int64_t w = 0; w < 4; w++) x[4 * j + w] = rng_unit(v[w][j]);
        for (int64_t j = 0; j < SERVED * draws; j++) x[j] = a->a + scale * x[j];
        int64_t low = i < first ? first : i, high = i + SERVED * DRAWS < first + n ? i + SERVED * DRAWS : first + n;
        EACH_TYPE(a->to, narrow_of, x + (low - i), into(a->to, y, low - first), high - low);
    }
}

void LOOPS_NAME(any_above)(const float *x, int64_t n, float least, bool *any)
{
    int above = 0;
    for (int64_t i = 0; i < n; i++) above |= !(x[i] <= least);
    *any = above;
}

void LOOPS_NAME(exp_shifted)(float *x, int64_t n, float shift)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) x[i] = element_exp(x[i] - shift);
}

enum { SHORT_ROW = 64 };  // few classes: nothing to fill

ALWAYS void top_sum_short(enum dtype t, const void *x, int64_t n, float *top, double *sum)
{
    for (int64_t i = 0; i < n; i++) {
        float v = get(t, x, i);
        *top = v > *top ? v : *top;
        *sum += (double)v;
    }
}

// Sums of long rows: of each SUM_BLOCK numbers, LANE_GROUP parts are added in f32 with every instruction set, then in double.
enum { SUM_BLOCK = 256 };

// The group at i, of which `left` elements exist; the others are `other`.
ALWAYS void get_some(enum dtype t, const void *x, int64_t i, int64_t left, float other, lanes into[PARTS])
{
    float v[LANE_GROUP];
    for (int j = 0; j < LANE_GROUP; j++) v[j] = j < left ? get(t, x, i + j) : other;
    memcpy(into, v, sizeof v);
}

ALWAYS void top_sum_of(enum dtype t, const void *x, int64_t n, float *top, double *sum)
{
    float all[LANE_GROUP];
    lanes most[PARTS], part[PARTS], v[PARTS];
    for (int k = 0; k < PARTS; k++) most[k] = (lanes){0} + *top;
    for (int64_t at = 0; at < n; at += SUM_BLOCK) {
        const int64_t end = n - at < SUM_BLOCK ? n : at + SUM_BLOCK, whole = at + (end - at) / LANE_GROUP * LANE_GROUP;
        memset(part, 0, sizeof part);
        for (int64_t i = at; i < whole; i += LANE_GROUP) {
            get_group(t, x, i, v);
#pragma GCC unroll 4
            for (int k = 0; k < PARTS; k++) part[k] += v[k], most[k] = LARGER(v[k], most[k]);
        }
        if (whole < end) {
            get_some(t, x, whole, end - whole, 0, v);
            for (int k = 0; k < PARTS; k++) part[k] += v[k];
            get_some(t, x, whole, end - whole, *top, v);
            for (int k = 0; k < PARTS; k++) most[k] = LARGER(v[k], most[k]);
        }
        memcpy(all, part, sizeof all);
        *sum += lanes_sum(all);
    }
    memcpy(all, most, sizeof all);
    for (int j = 0; j < LANE_GROUP; j++) *top = all[j] > *top ? all[j] : *top;
}

void LOOPS_NAME(top_sum)(enum dtype t, const void *x, int64_t n, float *top, double *sum)
{
    if (n < SHORT_ROW) EACH_TYPE(t, top_sum_short, x, n, top, sum);
    else EACH_TYPE(t, top_sum_of, x, n, top, sum);
}

ALWAYS void exp_sum_short(enum dtype t, const void *x, int64_t n, float shift, float *e, double *sum)
{
    float v[SHORT_ROW], *to = e ? e : v;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) to[i] = element_exp(get(t, x, i) - shift);
    for (int64_t i = 0; i < n; i++) *sum += (double)to[i];
}

// e^x for x <= 0 or NaN, with the polynomial of element_exp_part: at least e^-87, and its relative error is below 1.5e-7.
ALWAYS lanes exp_of(lanes x)
{
    x = LARGER((lanes){0} - 87.0f, x);
    lanes n = x * 1.44269504f + 12582912.0f, whole = n - 12582912.0f;  // the low bits of n hold round(x / ln 2)
    lanes f = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    lanes p = f * 0.00138145499f + 0.00836874824f;
    p = p * f + 0.041668389f;
    p = p * f + 0.166665196f;
    p = p * f + 0.49999994f;
    p = p * f + 1.0f;
    p = p * f + 1.0f;
    return p * (lanes)(((whole_lanes)n + 127) << 23);
}

ALWAYS void exp_sum_of(enum dtype t, const void *x, int64_t n, float shift, float *e, double *sum)
{
    float all[LANE_GROUP];
    lanes part[PARTS], v[PARTS];
    for (int64_t at = 0; at < n; at += SUM_BLOCK) {
        const int64_t end = n - at < SUM_BLOCK ? n : at + SUM_BLOCK;
        memset(part, 0, sizeof part);
        for (int64_t i = at; i < end; i += LANE_GROUP) {
            if (end - i < LANE_GROUP) get_some(t, x, i, end - i, -INFINITY, v);
            else get_group(t, x, i, v);
#pragma GCC unroll 4
            for (int k = 0; k < PARTS; k++) {
                v[k] = exp_of(v[k] - shift);
                if (e) AT(e + i + k * LANES) = v[k];
            }
            if (end - i < LANE_GROUP) {
                memcpy(all, v, sizeof all);
                for (int64_t j = end - i; j < LANE_GROUP; j++) all[j] = 0;
                memcpy(v, all, sizeof v);
            }
#pragma GCC unroll 4
            for (int k = 0; k < PARTS; k++) part[k] += v[k];
        }
        memcpy(all, part, sizeof all);
        *sum += lanes_sum(all);
    }
}

void LOOPS_NAME(exp_sum)(enum dtype t, const void *x, int64_t n, float shift, float *e, double *sum)
{
    if (n < SHORT_ROW) EACH_TYPE(t, exp_sum_short, x, n, shift, e, sum);
    else EACH_TYPE(t, exp_sum_of, x, n, shift, e, sum);
}

ALWAYS void xent_back_of(enum dtype t, const void *x, int64_t n, const struct xent_rates *r, void *dx)
{
    const struct xent_rates k = *r;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) put(t, dx, i, (element_exp(get(t, x, i) - k.shift) * k.share - k.even) * k.factor);
}

void LOOPS_NAME(xent_back)(enum dtype t, const void *x, int64_t n, const struct xent_rates *r, void *dx)
{
    EACH_TYPE(t, xent_back_of, x, n, r, dx);
}

ALWAYS void xent_slopes_of(enum dtype t, const float *e, int64_t n, const struct xent_rates *r, void *dx)
{
    const struct xent_rates k = *r;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) put(t, dx, i, (e[i] * k.share - k.even) * k.factor);
}

void LOOPS_NAME(xent_slopes)(enum dtype t, const float *e, int64_t n, const struct xent_rates *r, void *dx)
{
    EACH_TYPE(t, xent_slopes_of, e, n, r, dx);
}

ALWAYS void logits_of(enum dtype t, void *z, int64_t n, const float *bias, float cap)
{
    const float inverse = cap > 0 ? 1 / cap : 0;
    INDEPENDENT
    for (int64_t i = 0; i < n && bias; i++) put(t, z, i, get(t, z, i) + bias[i]);
    INDEPENDENT
    for (int64_t i = 0; i < n && cap > 0; i++) put(t, z, i, cap * element_tanh(get(t, z, i) * inverse));
}

void LOOPS_NAME(logits)(enum dtype t, void *z, int64_t n, const float *bias, float cap)
{
    EACH_TYPE(t, logits_of, z, n, bias, cap);
}

ALWAYS void cap_back_of(enum dtype t, const float *d, int64_t n, float cap, void *z)
{
    const float inverse = 1 / cap;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        float y = get(t, z, i) * inverse;
        put(t, z, i, d[i] * (1 - y * y));
    }
}

void LOOPS_NAME(cap_back)(enum dtype t, const float *d, int64_t n, float cap, void *z)
{
    EACH_TYPE(t, cap_back_of, d, n, cap, z);
}

// ---- images
ALWAYS void pixels_of(enum dtype t, const uint8_t *x, const float *a, const float *b, int64_t n, void *y)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) put(t, y, i, (float)x[i] * a[i] + b[i]);
}

void LOOPS_NAME(pixels)(enum dtype t, const uint8_t *x, const float *a, const float *b, int64_t n, void *y)
{
    EACH_TYPE(t, pixels_of, x, a, b, n, y);
}

ALWAYS void blend_of(enum dtype t, const void *x0, const void *x1, float w1, int64_t n, float *y)
{
    float w0 = 1.0f - w1;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = w0 * get(t, x0, i) + w1 * get(t, x1, i);
}

void LOOPS_NAME(blend)(enum dtype t, const void *x0, const void *x1, float w1, int64_t n, float *y)
{
    EACH_TYPE(t, blend_of, x0, x1, w1, n, y);
}

ALWAYS void taps_of(enum dtype t, const float *x, const int32_t *i0, const int32_t *i1, const float *w1, int64_t n,
                    void *y)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) put(t, y, i, (1.0f - w1[i]) * x[i0[i]] + w1[i] * x[i1[i]]);
}

void LOOPS_NAME(taps)(enum dtype t, const float *x, const int32_t *i0, const int32_t *i1, const float *w1, int64_t n,
                      void *y)
{
    EACH_TYPE(t, taps_of, x, i0, i1, w1, n, y);
}

// ---- optimisers
ALWAYS void momentum_of(bool decays, bool nesterov, bool gives, const float *g, const float *m, const float *p,
                        float mu, float decay, int64_t n, float *u, float *m_out)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        float d = decays ? g[i] + decay * p[i] : g[i];
        float next = mu * m[i] + d;
        m_out[i] = next;
        if (gives) u[i] = nesterov ? d + mu * next : next;
    }
}

void LOOPS_NAME(momentum)(const float *g, const float *m, const float *p, float mu, float decay, bool nesterov,
                          int64_t n, float *u, float *m_out)
{
    if (!u)
        p ? momentum_of(true, false, false, g, m, p, mu, decay, n, u, m_out)
          : momentum_of(false, false, false, g, m, p, mu, decay, n, u, m_out);
    else if (nesterov)
        p ? momentum_of(true, true, true, g, m, p, mu, decay, n, u, m_out)
          : momentum_of(false, true, true, g, m, p, mu, decay, n, u, m_out);
    else
        p ? momentum_of(true, false, true, g, m, p, mu, decay, n, u, m_out)
          : momentum_of(false, false, true, g, m, p, mu, decay, n, u, m_out);
}

ALWAYS void adam_of(bool gives, bool infinity, const float *g, const float *m, const float *v, const struct adam_rates *r,
                    int64_t n, float *u, float *m_out, float *v_out)
{
    float beta1 = r->beta1, beta2 = r->beta2, eps = r->eps, scale_m = r->scale_m, scale_v = r->scale_v, root_eps = r->root_eps;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        float m1 = beta1 * m[i] + (1.0f - beta1) * g[i], size = fabsf(g[i]), old = beta2 * v[i];
        float v1 = infinity ? (size <= old ? old : size) : beta2 * v[i] + (1.0f - beta2) * g[i] * g[i];  // NaN stays
        m_out[i] = m1, v_out[i] = v1;
        if (gives) u[i] = m1 * scale_m / ((infinity ? v1 : sqrtf(v1 * scale_v + root_eps)) + eps);
    }
}

void LOOPS_NAME(adam)(const float *g, const float *m, const float *v, const struct adam_rates *r, int64_t n, float *u,
                      float *m_out, float *v_out)
{
    if (r->infinity)
        u ? adam_of(true, true, g, m, v, r, n, u, m_out, v_out) : adam_of(false, true, g, m, v, r, n, u, m_out, v_out);
    else
        u ? adam_of(true, false, g, m, v, r, n, u, m_out, v_out) : adam_of(false, false, g, m, v, r, n, u, m_out, v_out);
}

void LOOPS_NAME(square_sum)(const float *x, int64_t n, double *sum)
{
    enum { BLOCK = 1024 };
    double total = 0;
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t end = begin + BLOCK < n ? begin + BLOCK : n, i = begin;
        double part[LANE_GROUP] = {0};
        for (; i + LANE_GROUP <= end; i += LANE_GROUP)
            for (int64_t j = 0; j < LANE_GROUP; j++) part[j] += (double)x[i + j] * (double)x[i + j];
        for (; i < end; i++) part[i % LANE_GROUP] += (double)x[i] * (double)x[i];
        for (int j = 0; j < LANE_GROUP; j++) total += part[j];
    }
    *sum += total;
}

void LOOPS_NAME(descend)(const float *p, const float *u, float rate, float decay, int64_t n, float *out)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) out[i] = p[i] - rate * (u[i] + decay * p[i]);
}

void LOOPS_NAME(lerp)(const float *e, const float *p, float t, int64_t n, float *out)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) out[i] = e[i] + t * (p[i] - e[i]);
}
