// SPDX-License-Identifier: Apache-2.0
// Moving elements. The unit of a copy is as wide as all lengths and offsets allow, and dimensions that stay adjacent are merged
// before a kernel is chosen.
#include "runtime/cuda/kernels/k_move.h"
#include "runtime/cuda/ops/cuda_move.h"

// The widest unit (up to 16 bytes) that divides both sizes; every unit divides 0.
static size_t unit_of(size_t a, size_t b)
{
    size_t unit = 16;
    while (a % unit || b % unit) unit /= 2;
    return unit;
}

// ---- concat, slice, copies. Parts are given in bytes and converted to units once all are known.
struct parts {
    int count;
    const char *from[MAX_IN];
    size_t skip[MAX_IN];  // bytes between the address and the first run
    size_t pitch[MAX_IN], bytes[MAX_IN];
};

static void add_part(struct parts *p, const void *from, size_t skip, size_t pitch, size_t bytes)
{
    if (!bytes) return;
    p->from[p->count] = from, p->skip[p->count] = skip, p->pitch[p->count] = pitch, p->bytes[p->count++] = bytes;
}

static void join_parts(struct cuda_step *s, void *to, int64_t runs, const struct parts *p)
{
    struct k_join k = {.parts = p->count, .runs = runs, .to = to};
    size_t unit = 16, begin = 0;
    for (int i = 0; i < p->count; i++)
        unit = unit_of(unit_of(p->skip[i], p->bytes[i]), unit_of(p->from[i] ? p->pitch[i] : 0, unit));
    for (int i = 0; i < p->count; i++) {
        k.from[i] = p->from[i] ? p->from[i] + p->skip[i] : NULL;
        k.pitch[i] = (int64_t)(p->pitch[i] / unit);
        k.begin[i] = (int64_t)(begin / unit);
        begin += p->bytes[i];
    }
    k.begin[p->count] = (int64_t)(begin / unit), k.width = (int)unit;
    k.by_run = k_divide_any_by(k.begin[p->count]);
    CUDA_LAUNCH(s, k_join, .from = {0});
    memcpy(s->args, &k, sizeof k);
}

void cuda_copy(struct cuda_step *s, void *to, const void *from, size_t bytes)
{
    struct parts p = {0};
    add_part(&p, from, 0, 0, bytes);
    if (to != from) join_parts(s, to, 1, &p);
}

static int reshape_prepare(struct cuda_step *s)
{
    if (s->out[0]) cuda_copy(s, s->out[0], s->in[0], value_bytes(cuda_in(s, 0)));
    return 0;
}

static int concat_prepare(struct cuda_step *s)
{
    int axis = s->node->attr.move.axis;
    int64_t above;
    if (!s->out[0]) return 0;
    size_t unit = value_bytes_below(cuda_out(s, 0), axis, &above);
    struct parts p = {0};
    for (int i = 0; i < MAX_IN && s->node->in[i] != NONE; i++) {
        size_t bytes = unit * (size_t)cuda_in(s, i)->shape.dim[axis];
        add_part(&p, s->in[i], 0, bytes, bytes);
    }
    join_parts(s, s->out[0], above, &p);
    return 0;
}

static int slice_prepare(struct cuda_step *s)
{
    const struct move_attr *a = &s->node->attr.move;
    const struct value *x = cuda_in(s, 0);
    int64_t above;
    if (!s->out[0]) return 0;
    size_t unit = value_bytes_below(x, a->axis, &above);
    struct parts p = {0};
    add_part(&p, s->in[0], unit * (size_t)a->begin, unit * (size_t)x->shape.dim[a->axis],
             unit * (size_t)(a->end - a->begin));
    join_parts(s, s->out[0], above, &p);
    return 0;
}

static int slice_grad_prepare(struct cuda_step *s)
{
    const struct move_attr *a = &s->node->attr.move;
    const struct value *dx = cuda_out(s, 0);
    int64_t above;
    if (!dx) return 0;
    size_t unit = value_bytes_below(dx, a->axis, &above), bytes = unit * (size_t)(a->end - a->begin);
    struct parts p = {0};
    add_part(&p, NULL, 0, 0, unit * (size_t)a->begin);
    add_part(&p, s->in[0], 0, bytes, bytes);
    add_part(&p, NULL, 0, 0, unit * (size_t)(dx->shape.dim[a->axis] - a->end));
    join_parts(s, s->out[0], above, &p);
    return 0;
}

// ---- transpose

// Dimensions of the result with their strides in x. Dimensions of length 1 are dropped, adjacent ones merged.
static struct k_dims transposed_dims(const struct shape *x, const int *perm)
{
    struct k_dims o = {0};
    int64_t stride[MAX_RANK], run = 1;
    for (int i = x->rank - 1; i >= 0; i--) stride[i] = run, run *= x->dim[i];
    for (int i = 0; i < x->rank; i++) {
        int64_t dim = x->dim[perm[i]], step = stride[perm[i]];
        if (dim == 1) continue;
        if (o.rank && o.stride[o.rank - 1] == dim * step)
            o.dim[o.rank - 1] *= dim, o.stride[o.rank - 1] = step;
        else
            o.dim[o.rank] = dim, o.stride[o.rank++] = step;
    }
    if (!o.rank) o.dim[o.rank] = 1, o.stride[o.rank++] = 1;
    return o;
}

// Contiguous runs are copied whole, in wider units.
static void transpose_units(struct cuda_step *s, struct k_dims o, size_t size)
{
    int last = o.rank - 1;
    int64_t count = 1, units = 1;
    if (o.stride[last] == 1) {
        size_t unit = unit_of((size_t)o.dim[last] * size, 0);
        units = (int64_t)(unit / size), size = unit;
        o.dim[last] /= units;
    }
    for (int i = 0; i <= last; i++) count *= o.dim[i];
    for (int i = 0; i < last; i++) o.stride[i] /= units;  // the innermost dimension of x stays within a run
    CUDA_LAUNCH(s, k_transpose, .x = s->in[0], .y = s->out[0], .count = count, .width = (int)size,
                .of = k_dims_ready(o));
}

// For a y whose innermost dimension has a large stride in x; dimension `inner` of y is the innermost of x.
static void transpose_tiles(struct cuda_step *s, const struct k_dims *o, int inner, size_t size)
{
    int last = o->rank - 1;
    int64_t run = 1, to[MAX_RANK];
    for (int i = last; i >= 0; i--) to[i] = run, run *= o->dim[i];
    struct k_transpose_tiles k = {.x = s->in[0], .y = s->out[0], .width = (int)size, .down = o->dim[last],
                                  .along = o->dim[inner], .x_stride = o->stride[last], .y_stride = to[inner]};
    k.tiles_down = k_divide_up(k.down, K_TILE), k.tiles_along = k_divide_up(k.along, K_TILE);
    k.tiles = k.tiles_down * k.tiles_along;
    for (int i = 0; i < last; i++) {
        if (i == inner) continue;
        k.rest.dim[k.rest.rank] = o->dim[i], k.rest.stride[k.rest.rank] = o->stride[i];
        k.to_stride[k.rest.rank++] = to[i];
        k.tiles *= o->dim[i];
    }
    k.rest = k_dims_ready(k.rest);
    CUDA_LAUNCH(s, k_transpose_tiles, .x = NULL);
    memcpy(s->args, &k, sizeof k);
}

static int transpose_prepare(struct cuda_step *s)
{
    enum { WORTH = 8 };  // a mostly empty tile is slower than strided reads through the cache
    const struct value *x = cuda_in(s, 0);
    if (!s->out[0]) return 0;
    struct k_dims o = transposed_dims(&x->shape, s->node->attr.move.perm);
    int last = o.rank - 1, inner = last;
    for (int i = 0; i < last; i++)
        if (o.stride[i] == 1) inner = i;
    if (inner != last && o.dim[inner] >= WORTH && o.dim[last] >= WORTH)
        transpose_tiles(s, &o, inner, dtype_size(x->dtype));
    else
        transpose_units(s, o, dtype_size(x->dtype));
    return 0;
}

// ---- append

static int append_prepare(struct cuda_step *s)
{
    const struct value *cache = cuda_in(s, 0), *x = cuda_in(s, 1);
    int64_t samples;
    size_t bytes = value_bytes_below(x, 1, &samples), unit = unit_of(bytes, 0);
    CUDA_LAUNCH(s, k_append, .x = s->in[1], .at = s->in[2], .cache = s->out[0], .rows = samples * x->shape.dim[1],
                .units = (int64_t)(bytes / unit), .each = (int)x->shape.dim[1], .most = (int)cache->shape.dim[1],
                .width = (int)unit, .shared = cuda_count(cuda_in(s, 2)) == 1);
    return 0;
}

// ---- reorder

static int reorder_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    int64_t above, group = s->node->attr.reorder.group;
    size_t bytes = value_bytes_below(x, s->in[2] ? 1 : 0, &above), unit = unit_of(bytes, 0);
    CUDA_LAUNCH(s, k_reorder, .x = s->out[0], .from = s->in[1], .at = s->in[2], .groups = x->shape.dim[0] / group,
                .positions = s->in[2] ? x->shape.dim[1] : 1, .units = (int64_t)(bytes / unit), .group = (int)group,
                .width = (int)unit);
    return 0;
}

// ---- gather

static int gather_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    if (!s->out[0]) return 0;
    size_t bytes = value_bytes(x) / (size_t)x->shape.dim[0], unit = unit_of(bytes, 0);
    CUDA_LAUNCH(s, k_gather, .x = s->in[0], .index = s->in[1], .y = s->out[0], .rows = x->shape.dim[0],
                .count = cuda_count(cuda_in(s, 1)), .units = (int64_t)(bytes / unit), .width = (int)unit,
                .by_units = k_divide_any_by((int64_t)(bytes / unit)));
    return 0;
}

static int gather_grad_prepare(struct cuda_step *s)
{
    const struct value *dx = cuda_out(s, 0);
    const int64_t count = cuda_count(cuda_in(s, 0));
    uint64_t *sorted = s->work, *ranked = sorted + k_gather_grad_chunks(count);
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_gather_grad, .index = s->in[0], .dy = s->in[1], .dx = s->out[0], .sorted = sorted, .ranked = ranked,
                .sums = (float *)(ranked + k_gather_grad_chunks(count)), .type = dx->dtype, .rows = dx->shape.dim[0],
                .count = count, .each = cuda_count(dx) / dx->shape.dim[0]);
    return 0;
}

static size_t gather_grad_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct value *dx = node_out(g, n, 0);
    return k_gather_grad_bytes(cuda_count(node_in(g, n, 0)), cuda_count(dx) / dx->shape.dim[0]);
}

const struct cuda_op cuda_reshape = {.prepare = reshape_prepare};
const struct cuda_op cuda_transpose = {.prepare = transpose_prepare};
const struct cuda_op cuda_concat = {.prepare = concat_prepare};
const struct cuda_op cuda_slice = {.prepare = slice_prepare};
const struct cuda_op cuda_slice_grad = {.prepare = slice_grad_prepare};
const struct cuda_op cuda_gather = {.prepare = gather_prepare};
const struct cuda_op cuda_gather_grad = {.prepare = gather_grad_prepare, .workspace = gather_grad_workspace};
const struct cuda_op cuda_append = {.prepare = append_prepare};
const struct cuda_op cuda_reorder = {.prepare = reorder_prepare};
