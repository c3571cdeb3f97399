// SPDX-License-Identifier: Apache-2.0
// Element-wise operators besides formulas: activations with their bias, casts, dropout, random numbers.
#include "runtime/ref/ref.h"

#include "runtime/element.h"

void ref_act(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t count = shape_count(shape), last = shape_last(shape);
    double *x = ref_read(s, 0), *bias = ref_read(s, 1);
    for (int64_t i = 0; i < count; i++)
        x[i] = ref_act_value(s->node->attr.act.act, x[i] + bias[i % last]);
    ref_write(s, 0, x);
}

void ref_act_grad(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 1)->shape;
    int64_t count = shape_count(shape), last = shape_last(shape);
    double *dx = ref_read(s, 0), *x = ref_read(s, 1), *bias = ref_read(s, 2), *dbias = ref_zeros(s, last);
    for (int64_t i = 0; i < count; i++) {
        dx[i] *= ref_act_slope(s->node->attr.act.act, x[i] + bias[i % last]);
        dbias[i % last] += dx[i];
    }
    ref_write(s, 0, dx);
    ref_write(s, 1, dbias);
}

void ref_cast(const struct ref_step *s) { ref_write(s, 0, ref_read(s, 0)); }

// One mask[B,C] for all rows of a sample of x[B,..,C].
static void drop_shared(const struct ref_step *s, double *x, const struct dropout_attr *a)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t count = shape_count(shape), last = shape_last(shape), each = count / shape->dim[0], masks = shape->dim[0] * last;
    double *mask = ref_zeros(s, masks);
    for (int64_t i = 0; i < masks; i++) mask[i] = 1.0;
    ref_drop(s, mask, masks, 1, a->p, a->site);
    for (int64_t i = 0; i < count; i++) x[i] *= mask[i / each * last + i % last];
}

void ref_dropout(const struct ref_step *s)
{
    const struct dropout_attr *a = &s->node->attr.dropout;
    double *x = ref_read(s, 0);
    if (a->shared)
        drop_shared(s, x, a);
    else
        ref_drop(s, x, shape_count(&ref_in(s, 0)->shape), 1, a->p, a->site);
    ref_write(s, 0, x);
}

void ref_drop(const struct ref_step *s, double *x, int64_t count, int input, float p, int site)
{
    const int32_t *key = s->in[input];
    uint32_t step = *(const uint32_t *)s->in[input + 1];
    for (int64_t i = 0; i < count; i++)
        x[i] = element_keeps(key, step, (uint32_t)site, (uint64_t)i, p) ? x[i] * (double)element_factor(p) : 0.0;
}

// Of a draw, elements 0 and 1 are from its first two words, 2 and 3 from the others.
static double random_at(const struct random_attr *a, struct rng4 r, int64_t i)
{
    if (!a->normal) return (double)a->a + ((double)a->b - (double)a->a) * (double)rng_unit(r.v[i & 3]);
    double u = (double)((r.v[i & 2] >> 8) + 1) * 0x1p-24, turn = 2.0 * M_PI * (double)rng_unit(r.v[(i & 2) + 1]);
    return (double)a->a + (double)a->b * sqrt(-2.0 * log(u)) * (i & 1 ? sin(turn) : cos(turn));
}

void ref_random(const struct ref_step *s)
{
    const struct random_attr *a = &s->node->attr.random;
    uint32_t step = *(const uint32_t *)s->in[1];
    int64_t count = shape_count(&a->shape);
    double *y = ref_zeros(s, count);
    for (int64_t i = 0; i < count; i++)
        y[i] = random_at(a, element_random_draw(s->in[0], step, (uint32_t)a->site, (uint64_t)i), i);
    ref_write(s, 0, y);
}

void ref_mask(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int axis = s->node->attr.mask.axis ? s->node->attr.mask.axis : shape->rank - 1;
    int64_t count = shape_count(shape), each = count / shape->dim[0], below = 1;
    for (int i = axis + 1; i < shape->rank; i++) below *= shape->dim[i];
    double *x = ref_read(s, 0), *first = ref_read(s, 1), *length = ref_read(s, 2);
    for (int64_t i = 0; i < count; i++) {
        double t = (double)(i / below % shape->dim[axis]), low = first ? first[i / each] : 0.0;
        if (t < low || t >= length[i / each]) x[i] = (double)s->node->attr.mask.fill;
    }
    ref_write(s, 0, x);
}
