// SPDX-License-Identifier: Apache-2.0
// Pooling. Incomplete windows are dropped; overlapping windows add up backward; padding never wins and receives nothing.
#include "runtime/ref/ref.h"

#include <math.h>

struct pooling {
    int64_t n, h, w, c, p, q;
    const struct pool_attr *a;
};

static struct pooling pooling_of(const struct ref_step *s, const struct shape *x, const struct shape *y)
{
    return (struct pooling){x->dim[0], x->dim[1], x->dim[2], x->dim[3], y->dim[1], y->dim[2], &s->node->attr.pool};
}

// The position in the input of element `at` of the window of result `i`; -1 for padding.
static int64_t pooling_source(const struct pooling *g, int64_t i, int64_t at)
{
    int64_t channel = i % g->c, column = i / g->c % g->q, line = i / g->c / g->q % g->p, image = i / g->c / g->q / g->p;
    int64_t h = line * g->a->stride[0] + at / g->a->k[1] - g->a->pad[0];
    int64_t w = column * g->a->stride[1] + at % g->a->k[1] - g->a->pad[1];
    if (h < 0 || h >= g->h || w < 0 || w >= g->w) return -1;
    return ((image * g->h + h) * g->w + w) * g->c + channel;
}

void ref_maxpool(const struct ref_step *s)
{
    const struct value *y = ref_out(s, 0) ? ref_out(s, 0) : ref_out(s, 1);
    if (!y) return;
    struct pooling g = pooling_of(s, &ref_in(s, 0)->shape, &y->shape);
    int64_t count = shape_count(&y->shape), window = g.a->k[0] * g.a->k[1];
    const double *x = ref_read(s, 0);
    double *best = ref_zeros(s, count), *where = ref_zeros(s, count);
    for (int64_t i = 0; i < count; i++) {
        bool any = false;
        for (int64_t at = 0; at < window; at++) {
            int64_t from = pooling_source(&g, i, at);
            if (from < 0) continue;
            double v = x[from];
            if (!any) best[i] = v, where[i] = (double)at, any = true;
            if (v > best[i] || (isnan(best[i]) && !isnan(v))) best[i] = v, where[i] = (double)at;
        }
    }
    ref_write(s, 0, best);
    ref_write(s, 1, where);
}

void ref_maxpool_grad(const struct ref_step *s)
{
    const struct value *dx = ref_out(s, 0);
    if (!dx) return;
    struct pooling g = pooling_of(s, &dx->shape, &ref_in(s, 1)->shape);
    const double *where = ref_read(s, 0), *dy = ref_read(s, 1);
    double *sum = ref_zeros(s, shape_count(&dx->shape));
    for (int64_t i = 0; i < g.n * g.p * g.q * g.c; i++) {
        int64_t to = pooling_source(&g, i, (int64_t)where[i]);
        if (to >= 0) sum[to] += dy[i];
    }
    ref_write(s, 0, sum);
}

// What the sum of a window is divided by.
static double pooling_size(const struct pooling *g, int64_t i)
{
    int64_t window = g->a->k[0] * g->a->k[1], inside = 0;
    for (int64_t at = 0; at < window; at++) inside += pooling_source(g, i, at) >= 0;
    return (double)(g->a->counts_pad ? window : inside);
}

void ref_avgpool(const struct ref_step *s)
{
    const struct value *y = ref_out(s, 0);
    if (!y) return;
    struct pooling g = pooling_of(s, &ref_in(s, 0)->shape, &y->shape);
    int64_t count = shape_count(&y->shape), window = g.a->k[0] * g.a->k[1];
    const double *x = ref_read(s, 0);
    double *sum = ref_zeros(s, count);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t at = 0; at < window; at++) {
            int64_t from = pooling_source(&g, i, at);
            if (from >= 0) sum[i] += x[from];
        }
        sum[i] /= pooling_size(&g, i);
    }
    ref_write(s, 0, sum);
}

void ref_avgpool_grad(const struct ref_step *s)
{
    const struct value *dx = ref_out(s, 0);
    if (!dx) return;
    struct pooling g = pooling_of(s, &dx->shape, &ref_in(s, 0)->shape);
    int64_t window = g.a->k[0] * g.a->k[1];
    const double *dy = ref_read(s, 0);
    double *sum = ref_zeros(s, shape_count(&dx->shape));
    for (int64_t i = 0; i < g.n * g.p * g.q * g.c; i++)
        for (int64_t at = 0; at < window; at++) {
            int64_t to = pooling_source(&g, i, at);
            if (to >= 0) sum[to] += dy[i] / pooling_size(&g, i);
        }
    ref_write(s, 0, sum);
}
