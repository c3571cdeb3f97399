// SPDX-License-Identifier: Apache-2.0
// Element-wise operators: activations with their bias, sums, products, casts and dropout.
#include "runtime/ref/ref.h"

#include "runtime/element.h"

void ref_act(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t count = shape_count(shape), last = shape_last(shape);
    double *x = ref_read(s, 0), *bias = ref_read(s, 1);
    for (int64_t i = 0; i < count; i++)
        x[i] = ref_act_value(s->node->attr.act.act, x[i] + (bias ? bias[i % last] : 0.0));
    ref_write(s, 0, x);
}

void ref_act_grad(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 1)->shape;
    int64_t count = shape_count(shape), last = shape_last(shape);
    double *dx = ref_read(s, 0), *x = ref_read(s, 1), *bias = ref_read(s, 2), *dbias = ref_zeros(s, last);
    for (int64_t i = 0; i < count; i++) {
        dx[i] *= ref_act_slope(s->node->attr.act.act, x[i] + (bias ? bias[i % last] : 0.0));
        dbias[i % last] += dx[i];
    }
    ref_write(s, 0, dx);
    ref_write(s, 1, dbias);
}

void ref_add(const struct ref_step *s)
{
    double *a = ref_read(s, 0), *b = ref_read(s, 1);
    int64_t period = shape_count(&ref_in(s, 1)->shape);
    for (int64_t i = 0, count = shape_count(&ref_in(s, 0)->shape); i < count; i++) a[i] += b[i % period];
    ref_write(s, 0, a);
}

void ref_add_act(const struct ref_step *s)
{
    double *a = ref_read(s, 0), *b = ref_read(s, 1);
    for (int64_t i = 0, count = shape_count(&ref_in(s, 0)->shape); i < count; i++)
        a[i] = ref_act_value(s->node->attr.act.act, a[i] + b[i]);
    ref_write(s, 0, a);
}

void ref_mul(const struct ref_step *s)
{
    double *a = ref_read(s, 0), *b = ref_read(s, 1);
    int64_t period = shape_count(&ref_in(s, 1)->shape);
    for (int64_t i = 0, count = shape_count(&ref_in(s, 0)->shape); i < count; i++) a[i] *= b[i % period];
    ref_write(s, 0, a);
}

void ref_scale(const struct ref_step *s)
{
    double *x = ref_read(s, 0);
    for (int64_t i = 0, count = shape_count(&ref_in(s, 0)->shape); i < count; i++)
        x[i] *= (double)s->node->attr.scale.factor;
    ref_write(s, 0, x);
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
        x[i] = element_keeps(key, step, (uint32_t)site, (uint64_t)i, p) ? x[i] / (1.0 - (double)p) : 0.0;
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
