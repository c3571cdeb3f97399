// SPDX-License-Identifier: Apache-2.0
// Moving bytes: reshape, transpose, concat, slice, resize, gather, reduce and broadcast.
#include "runtime/ref/ref.h"

#include <math.h>

void ref_reshape(const struct ref_step *s)
{
    if (s->out[0] && s->out[0] != s->in[0]) memmove(s->out[0], s->in[0], value_bytes(ref_in(s, 0)));
}

void ref_transpose(const struct ref_step *s)
{
    const struct shape *from = &ref_in(s, 0)->shape;
    const int *perm = s->node->attr.move.perm;
    int64_t count = shape_count(from), step[MAX_RANK], stride[MAX_RANK] = {0}, run = 1;
    for (int d = from->rank - 1; d >= 0; d--) stride[d] = run, run *= from->dim[d];
    for (int d = 0; d < from->rank; d++) step[d] = stride[perm[d]];
    const double *x = ref_read(s, 0);
    double *y = ref_zeros(s, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, source = 0;
        for (int d = from->rank - 1; d >= 0; d--) {
            int64_t size = from->dim[perm[d]];
            source += rest % size * step[d];
            rest /= size;
        }
        y[i] = x[source];
    }
    ref_write(s, 0, y);
}

// A shape around one axis: [outer, dim[axis], inner].
static void split_around(const struct shape *shape, int axis, int64_t *outer, int64_t *inner)
{
    *outer = *inner = 1;
    for (int d = 0; d < axis; d++) *outer *= shape->dim[d];
    for (int d = axis + 1; d < shape->rank; d++) *inner *= shape->dim[d];
}

void ref_concat(const struct ref_step *s)
{
    const struct value *y = ref_out(s, 0);
    if (!y) return;
    int axis = s->node->attr.move.axis;
    int64_t outer, inner, begin = 0, whole = y->shape.dim[axis];
    split_around(&y->shape, axis, &outer, &inner);
    double *to = ref_zeros(s, shape_count(&y->shape));
    for (int input = 0; input < MAX_IN && ref_in(s, input); input++) {
        int64_t length = ref_in(s, input)->shape.dim[axis];
        const double *x = ref_read(s, input);
        for (int64_t o = 0; o < outer; o++)
            for (int64_t i = 0; i < length * inner; i++)
                to[(o * whole + begin) * inner + i] = x[o * length * inner + i];
        begin += length;
    }
    ref_write(s, 0, to);
}

void ref_slice(const struct ref_step *s)
{
    const struct move_attr *a = &s->node->attr.move;
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t outer, inner, whole = shape->dim[a->axis], length = a->end - a->begin;
    split_around(shape, a->axis, &outer, &inner);
    const double *x = ref_read(s, 0);
    double *y = ref_zeros(s, outer * length * inner);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < length * inner; i++) y[o * length * inner + i] = x[(o * whole + a->begin) * inner + i];
    ref_write(s, 0, y);
}

void ref_slice_grad(const struct ref_step *s)
{
    const struct move_attr *a = &s->node->attr.move;
    const struct shape *small = &ref_in(s, 0)->shape;
    int64_t outer, inner, whole = a->shape.dim[a->axis], length = small->dim[a->axis];
    split_around(&a->shape, a->axis, &outer, &inner);
    const double *dy = ref_read(s, 0);
    double *dx = ref_zeros(s, shape_count(&a->shape));
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < length * inner; i++)
            dx[(o * whole + a->begin) * inner + i] = dy[o * length * inner + i];
    ref_write(s, 0, dx);
}

// Position i of `to` in `from`: between low and low + 1 (or the border), with a fraction.
static double resize_source(int64_t i, int64_t from, int64_t to, int64_t *low, int64_t *high)
{
    double at = ((double)i + 0.5) * (double)from / (double)to - 0.5;
    if (at < 0.0) at = 0.0;
    *low = (int64_t)floor(at);
    if (*low > from - 1) *low = from - 1;
    *high = *low + 1 < from ? *low + 1 : *low;
    return at - (double)*low;
}

// Both directions: forward reads the four neighbours in `large`, backward adds to them.
static void resize_walk(const struct shape *large, const struct shape *small, double *from, double *to, bool back)
{
    int64_t h = large->dim[1], w = large->dim[2], p = small->dim[1], q = small->dim[2], c = large->dim[3];
    for (int64_t i = 0; i < large->dim[0] * p * q; i++) {
        int64_t y[2], x[2], image = i / q / p;
        double fy = resize_source(i / q % p, h, p, &y[0], &y[1]), fx = resize_source(i % q, w, q, &x[0], &x[1]);
        for (int corner = 0; corner < 4; corner++) {
            double weight = (corner / 2 ? fy : 1.0 - fy) * (corner % 2 ? fx : 1.0 - fx);
            int64_t at = ((image * h + y[corner / 2]) * w + x[corner % 2]) * c;
            for (int64_t k = 0; k < c; k++) {
                if (back) to[at + k] += weight * from[i * c + k];
                else to[i * c + k] += weight * from[at + k];
            }
        }
    }
}

void ref_resize(const struct ref_step *s)
{
    const struct value *x = ref_in(s, 0), *y = ref_out(s, 0);
    if (!y) return;
    double *to = ref_zeros(s, shape_count(&y->shape));
    resize_walk(&x->shape, &y->shape, ref_read(s, 0), to, false);
    ref_write(s, 0, to);
}

void ref_resize_grad(const struct ref_step *s)
{
    const struct value *dy = ref_in(s, 0), *dx = ref_out(s, 0);
    if (!dx) return;
    double *to = ref_zeros(s, shape_count(&dx->shape));
    resize_walk(&dx->shape, &dy->shape, ref_read(s, 0), to, true);
    ref_write(s, 0, to);
}

// Row i of an index; NONE if it is out of range.
static int64_t row_of(const struct ref_step *s, int input, int64_t i, int64_t rows)
{
    int64_t row = (int64_t)ref_get(s, input, i);
    return row < 0 || row >= rows ? NONE : row;
}

void ref_gather(const struct ref_step *s)
{
    const struct value *x = ref_in(s, 0), *y = ref_out(s, 0);
    if (!y) return;
    int64_t rows = x->shape.dim[0], count = shape_count(&ref_in(s, 1)->shape);
    size_t bytes = value_bytes(x) / (size_t)rows;  // whole rows, of any type
    for (int64_t i = 0; i < count; i++) {
        char *to = (char *)s->out[0] + (size_t)i * bytes;
        int64_t row = row_of(s, 1, i, rows);
        if (row == NONE)
            memset(to, 0xff, bytes);
        else
            memcpy(to, (char *)s->in[0] + (size_t)row * bytes, bytes);
    }
}

void ref_gather_grad(const struct ref_step *s)
{
    const struct value *dx = ref_out(s, 0);
    if (!dx) return;
    int64_t rows = dx->shape.dim[0], each = shape_count(&dx->shape) / rows;
    const double *dy = ref_read(s, 1);
    double *sum = ref_zeros(s, rows * each);
    for (int64_t i = 0, count = shape_count(&ref_in(s, 0)->shape); i < count; i++) {
        int64_t row = row_of(s, 0, i, rows);
        for (int64_t j = 0; row != NONE && j < each; j++) sum[row * each + j] += dy[i * each + j];
    }
    ref_write(s, 0, sum);
}

// The index in the small shape (1 along the axes) of element i of the large one.
static int64_t reduced_at(const struct shape *large, unsigned axes, int64_t i)
{
    int64_t at = 0, run = 1;
    for (int d = large->rank - 1; d >= 0; d--) {
        if (!(axes >> d & 1u)) at += i % large->dim[d] * run, run *= large->dim[d];
        i /= large->dim[d];
    }
    return at;
}

void ref_reduce(const struct ref_step *s)
{
    const struct value *x = ref_in(s, 0), *y = ref_out(s, 0);
    if (!y) return;
    int64_t count = shape_count(&x->shape), results = shape_count(&y->shape);
    const double *from = ref_read(s, 0);
    double *sum = ref_zeros(s, results);
    for (int64_t i = 0; i < count; i++) sum[reduced_at(&x->shape, s->node->attr.move.axes, i)] += from[i];
    for (int64_t i = 0; i < results && s->node->attr.move.mean; i++) sum[i] *= (double)results / (double)count;
    ref_write(s, 0, sum);
}

void ref_broadcast(const struct ref_step *s)
{
    const struct move_attr *a = &s->node->attr.move;
    int64_t count = shape_count(&a->shape);
    const double *x = ref_read(s, 0);
    double *y = ref_zeros(s, count);
    for (int64_t i = 0; i < count; i++) y[i] = (double)a->factor * x[reduced_at(&a->shape, a->axes, i)];
    ref_write(s, 0, y);
}

void ref_append(const struct ref_step *s)
{
    const struct shape *cache = &ref_in(s, 0)->shape, *x = &ref_in(s, 1)->shape;
    int64_t samples = x->dim[0], rows = x->dim[1], most = cache->dim[1], below = shape_count(x) / (samples * rows);
    bool one = shape_count(&ref_in(s, 2)->shape) == 1;
    double *to = ref_read(s, 0), *from = ref_read(s, 1);
    for (int64_t r = 0; r < samples * rows; r++) {
        int64_t b = r / rows, at = (int64_t)ref_get(s, 2, one ? 0 : b) + r % rows;
        for (int64_t i = 0; at >= 0 && at < most && i < below; i++) to[(b * most + at) * below + i] = from[r * below + i];
    }
    ref_write(s, 0, to);
}

void ref_reorder(const struct ref_step *s)
{
    const struct shape *x = &ref_in(s, 0)->shape;
    int64_t rows = x->dim[0], group = s->node->attr.reorder.group, below = shape_count(x) / rows, moved = below;
    if (ref_in(s, 2)) {
        int64_t positions = (int64_t)ref_get(s, 2, 0) + 1;
        positions = positions < 0 ? 0 : positions > x->dim[1] ? x->dim[1] : positions;
        moved = below / x->dim[1] * positions;
    }
    const double *before = ref_read(s, 0);
    double *after = ref_read(s, 0);
    for (int64_t r = 0; r < rows; r++) {
        int64_t from = (int64_t)ref_get(s, 1, r);
        for (int64_t i = 0; i < moved && from >= 0 && from / group == r / group; i++)
            after[r * below + i] = before[from * below + i];
    }
    ref_write(s, 0, after);
}
