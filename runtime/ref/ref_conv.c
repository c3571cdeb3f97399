// SPDX-License-Identifier: Apache-2.0
// Convolution x[N,H,W,C] * w[K,R,S,C/groups] -> y[N,P,Q,K] and its two gradients. One walk over the pairs (pixel of the result,
// tap of the filter) serves all three; the innermost loop always runs over contiguous channels. If the result is pooled, P and Q
// are sizes before the pool, and each value of dy is the gradient of the one result that won.
#include "runtime/ref/ref.h"

#include <math.h>

struct geometry {
    int64_t n, h, w, c, p, q, k, r, s;
    int groups;
    int64_t cg, kg;  // channels of one group
    int stride[2], before[2];
};

static struct geometry geometry_of(const struct ref_step *s, const struct shape *x, const struct shape *y, int64_t r,
                                   int64_t t)
{
    const struct conv_attr *a = &s->node->attr.conv;
    struct geometry g = {.n = x->dim[0], .h = x->dim[1], .w = x->dim[2], .c = x->dim[3], .p = y->dim[1],
                         .q = y->dim[2], .k = y->dim[3], .r = r, .s = t, .groups = a->groups};
    g.cg = g.c / g.groups, g.kg = g.k / g.groups;
    if (a->pool) g.p *= 2, g.q *= 2;
    for (int i = 0; i < 2; i++) g.stride[i] = a->stride[i], g.before[i] = a->before[i];
    return g;
}

// Calls pixel() for every tap inside the image; x_at and y_at are the first channel of their pixels.
struct tap {
    const struct geometry *g;
    double *x, *y, *w;  // one of them is the result
};
typedef void (*tap_fn)(const struct tap *, int64_t x_at, int64_t y_at, int64_t r, int64_t s);

static void each_tap(const struct tap *t, tap_fn fn)
{
    const struct geometry *g = t->g;
    for (int64_t n = 0; n < g->n; n++)
        for (int64_t p = 0; p < g->p; p++)
            for (int64_t q = 0; q < g->q; q++)
                for (int64_t r = 0; r < g->r; r++)
                    for (int64_t s = 0; s < g->s; s++) {
                        int64_t h = p * g->stride[0] - g->before[0] + r, w = q * g->stride[1] - g->before[1] + s;
                        if (h < 0 || h >= g->h || w < 0 || w >= g->w) continue;
                        fn(t, ((n * g->h + h) * g->w + w) * g->c, ((n * g->p + p) * g->q + q) * g->k, r, s);
                    }
}

// The weights are [group, R, S, C/groups, K/groups] here, so that the innermost loop runs over outputs.
static void tap_forward(const struct tap *t, int64_t x_at, int64_t y_at, int64_t r, int64_t s)
{
    const struct geometry *g = t->g;
    for (int64_t group = 0; group < g->groups; group++) {
        const double *x = t->x + x_at + group * g->cg;
        double *y = t->y + y_at + group * g->kg;
        const double *w = t->w + ((group * g->r + r) * g->s + s) * g->cg * g->kg;
        for (int64_t c = 0; c < g->cg; c++, w += g->kg)
            for (int64_t k = 0; k < g->kg; k++) y[k] += x[c] * w[k];
    }
}

static void tap_data(const struct tap *t, int64_t x_at, int64_t y_at, int64_t r, int64_t s)
{
    const struct geometry *g = t->g;
    for (int64_t k = 0; k < g->k; k++) {
        double *x = t->x + x_at + k / g->kg * g->cg;
        const double *w = t->w + ((k * g->r + r) * g->s + s) * g->cg, dy = t->y[y_at + k];
        for (int64_t c = 0; c < g->cg; c++) x[c] += dy * w[c];
    }
}

static void tap_weights(const struct tap *t, int64_t x_at, int64_t y_at, int64_t r, int64_t s)
{
    const struct geometry *g = t->g;
    for (int64_t k = 0; k < g->k; k++) {
        const double *x = t->x + x_at + k / g->kg * g->cg, dy = t->y[y_at + k];
        double *w = t->w + ((k * g->r + r) * g->s + s) * g->cg;
        for (int64_t c = 0; c < g->cg; c++) w[c] += dy * x[c];
    }
}

// Reads f32 masters at the precision of the activations.
static double *weights_as(const struct ref_step *s, int input, enum dtype type)
{
    double *w = ref_read(s, input);
    ref_round_all(type, w, shape_count(&ref_in(s, input)->shape));
    return w;
}

static double *weights_transposed(const struct ref_step *s, const struct geometry *g, const double *w)
{
    double *to = ref_zeros(s, g->k * g->r * g->s * g->cg);
    int64_t taps = g->r * g->s;
    for (int64_t k = 0; k < g->k; k++)
        for (int64_t tap = 0; tap < taps; tap++)
            for (int64_t c = 0; c < g->cg; c++)
                to[((k / g->kg * taps + tap) * g->cg + c) * g->kg + k % g->kg] = w[(k * taps + tap) * g->cg + c];
    return to;
}

// Where result `tap` of the window of pooled value i lies.
static int64_t tap_of_window(const struct geometry *g, int64_t i, int64_t tap)
{
    int64_t k = i % g->k, pixel = i / g->k, q = pixel % (g->q / 2), row = pixel / (g->q / 2);
    return ((2 * row + tap / 2) * g->q + 2 * q + tap % 2) * g->k + k;
}

static void write_pooled(const struct ref_step *s, const struct geometry *g, double *y, int64_t count)
{
    double *best = ref_zeros(s, count / 4), *where = ref_zeros(s, count / 4);
    ref_round_all(ref_in(s, 0)->dtype, y, count);
    for (int64_t i = 0; i < count / 4; i++) {
        best[i] = y[tap_of_window(g, i, 0)];
        for (int tap = 1; tap < 4; tap++) {
            double v = y[tap_of_window(g, i, tap)];
            if (v > best[i] || (isnan(best[i]) && !isnan(v))) best[i] = v, where[i] = tap;
        }
    }
    for (int64_t i = 0; i < count / 4; i++) best[i] = ref_act_value(s->node->attr.conv.act, best[i]);
    ref_write(s, 0, best);
    ref_write(s, 1, where);
}

// The gradient of all results.
static double *unpooled(const struct ref_step *s, const struct geometry *g)
{
    double *dy = ref_read(s, 1);
    if (!s->node->attr.conv.pool) return dy;
    const double *where = ref_read(s, 2);
    int64_t count = g->n * g->p * g->q * g->k;
    double *all = ref_zeros(s, count);
    for (int64_t i = 0; i < count / 4; i++) all[tap_of_window(g, i, (int64_t)where[i])] = dy[i];
    return all;
}

void ref_conv(const struct ref_step *s)
{
    const struct value *x = ref_in(s, 0), *w = ref_in(s, 1), *y = ref_out(s, 0) ? ref_out(s, 0) : ref_out(s, 1);
    if (!y) return;
    struct geometry g = geometry_of(s, &x->shape, &y->shape, w->shape.dim[1], w->shape.dim[2]);
    int64_t count = g.n * g.p * g.q * g.k;
    struct tap t = {&g, ref_read(s, 0), ref_zeros(s, count), weights_transposed(s, &g, weights_as(s, 1, x->dtype))};
    each_tap(&t, tap_forward);
    const double *bias = ref_read(s, 2);
    bool pool = s->node->attr.conv.pool;  // the activation comes behind it
    enum act act = pool ? ACT_NONE : s->node->attr.conv.act;
    for (int64_t i = 0; i < count; i++) t.y[i] = ref_act_value(act, t.y[i] + (bias ? bias[i % g.k] : 0.0));
    if (pool) write_pooled(s, &g, t.y, count);
    else ref_write(s, 0, t.y);
}

void ref_conv_dgrad(const struct ref_step *s)
{
    const struct value *w = ref_in(s, 0), *dy = ref_in(s, 1), *dx = ref_out(s, 0);
    if (!dx) return;
    struct geometry g = geometry_of(s, &dx->shape, &dy->shape, w->shape.dim[1], w->shape.dim[2]);
    struct tap t = {&g, ref_zeros(s, shape_count(&dx->shape)), unpooled(s, &g), weights_as(s, 0, dy->dtype)};
    each_tap(&t, tap_data);
    ref_write(s, 0, t.x);
}

void ref_conv_wgrad(const struct ref_step *s)
{
    const struct value *x = ref_in(s, 0), *dy = ref_in(s, 1), *dw = ref_out(s, 0);
    if (!dw) return;
    struct geometry g = geometry_of(s, &x->shape, &dy->shape, dw->shape.dim[1], dw->shape.dim[2]);
    struct tap t = {&g, ref_read(s, 0), unpooled(s, &g), ref_zeros(s, shape_count(&dw->shape))};
    each_tap(&t, tap_weights);
    ref_write(s, 0, t.w);
}

static int64_t matrix_at(int64_t i, int64_t j, int64_t rows, int64_t columns, bool transposed)
{
    return transposed ? j * rows + i : i * columns + j;
}

// A 16-bit operand sets the precision of the other one too.
static double *matmul_operand(const struct ref_step *s, int input, int other)
{
    double *d = ref_read(s, input);
    enum dtype mine = ref_in(s, input)->dtype, theirs = ref_in(s, other)->dtype;
    if (mine == F32 && theirs != F32) ref_round_all(theirs, d, shape_count(&ref_in(s, input)->shape));
    return d;
}

void ref_matmul(const struct ref_step *s)
{
    const struct matmul_attr *a = &s->node->attr.matmul;
    const struct value *va = ref_in(s, 0), *y = ref_out(s, 0);
    if (!y) return;
    int last = y->shape.rank - 1;
    int64_t m = y->shape.dim[last - 1], n = y->shape.dim[last], k = va->shape.dim[a->ta ? last - 1 : last];
    int64_t batch = last == 2 ? y->shape.dim[0] : 1;
    const double *left = matmul_operand(s, 0, 1), *right = matmul_operand(s, 1, 0), *c = ref_read(s, 2);
    const double *bias = ref_read(s, 3);
    double *sum = ref_zeros(s, batch * m * n);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t t = 0; t < k; t++) {
                double x = left[b * m * k + matrix_at(i, t, m, k, a->ta)], *row = sum + (b * m + i) * n;
                for (int64_t j = 0; j < n; j++) row[j] += x * right[b * k * n + matrix_at(t, j, k, n, a->tb)];
            }
    for (int64_t i = 0; i < batch * m * n; i++)
        sum[i] = (double)a->alpha * sum[i] + (c ? (double)a->beta * c[i] : bias ? bias[i % n] : 0.0);
    ref_write(s, 0, sum);
}
