// SPDX-License-Identifier: Apache-2.0
// Moving elements: copies of runs where a dimension stays contiguous, single elements elsewhere. Rows of the result are split
// over threads; one thread writes each element.
#include "runtime/cpu/cpu_work.h"

enum { CHUNK = 256 };

static int reshape_run(struct cpu_step *s)
{
    if (s->out[0] && s->out[0] != s->in[0]) threads_copy(s->out[0], s->in[0], value_bytes(cpu_in(s, 0)), 65536);
    return 0;
}

// ---- transpose
struct transpose {
    const struct cpu_step *step;
    size_t size;
    int rank;
    int64_t dim[MAX_RANK], stride[MAX_RANK];  // of the result; the stride is in x, in elements
};

static void strided_row(size_t size, const char *from, int64_t stride, int64_t n, char *to)
{
    if (size == 2)
        for (int64_t i = 0; i < n; i++) ((uint16_t *)to)[i] = ((const uint16_t *)from)[i * stride];
    else if (size == 4)
        for (int64_t i = 0; i < n; i++) ((uint32_t *)to)[i] = ((const uint32_t *)from)[i * stride];
    else
        for (int64_t i = 0; i < n; i++) to[i] = from[i * stride];
}

static void transpose_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of the result
{
    (void)thread;
    const struct transpose *o = context;
    int last = o->rank - 1;
    size_t bytes = (size_t)o->dim[last] * o->size;
    int64_t inner = last > 0 ? o->dim[last - 1] : 1, step = last > 0 ? o->stride[last - 1] : 0;
    for (int64_t r = begin; r < end;) {
        int64_t at = r % inner * step, left = r / inner, until = (left + 1) * inner;
        for (int i = last - 2; i >= 0; i--) at += left % o->dim[i] * o->stride[i], left /= o->dim[i];
        for (; r < until && r < end; r++, at += step) {
            const char *from = (const char *)o->step->in[0] + (size_t)at * o->size;
            char *to = (char *)o->step->out[0] + (size_t)r * bytes;
            if (o->stride[last] == 1) memcpy(to, from, bytes);
            else strided_row(o->size, from, o->stride[last], o->dim[last], to);
        }
    }
}

static int transpose_run(struct cpu_step *s)
{
    const struct shape *x = &cpu_in(s, 0)->shape;
    struct transpose o = {.step = s, .size = dtype_size(cpu_in(s, 0)->dtype), .rank = x->rank};
    if (!s->out[0]) return 0;
    if (x->rank == 0) return memcpy(s->out[0], s->in[0], o.size), 0;
    int64_t stride[MAX_RANK], run = 1, rows = 1;
    for (int i = x->rank - 1; i >= 0; i--) stride[i] = run, run *= x->dim[i];
    for (int i = 0; i < x->rank; i++) {
        o.dim[i] = x->dim[s->node->attr.move.perm[i]];
        o.stride[i] = stride[s->node->attr.move.perm[i]];
        if (i < x->rank - 1) rows *= o.dim[i];
    }
    threads_for(rows, cpu_grain(o.dim[o.rank - 1]), transpose_piece, &o);
    return 0;
}

// ---- concat, slice: runs of bytes copied from one pitch to another
struct runs {
    const char *from;
    char *to;
    size_t from_pitch, to_pitch, bytes;
};

static void runs_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct runs *o = context;
    for (int64_t i = begin; i < end; i++)
        memcpy(o->to + (size_t)i * o->to_pitch, o->from + (size_t)i * o->from_pitch, o->bytes);
}

static int concat_run(struct cpu_step *s)
{
    int axis = s->node->attr.move.axis;
    int64_t above;
    if (!s->out[0]) return 0;
    const struct value *y = cpu_out(s, 0);
    size_t unit = value_bytes_below(y, axis, &above), pitch = unit * (size_t)y->shape.dim[axis], at = 0;
    for (int i = 0; i < MAX_IN && s->node->in[i] != NONE; i++) {
        size_t bytes = unit * (size_t)cpu_in(s, i)->shape.dim[axis];
        struct runs o = {s->in[i], (char *)s->out[0] + at, bytes, pitch, bytes};
        threads_for(above, cpu_grain((int64_t)bytes / 4), runs_piece, &o);
        at += bytes;
    }
    return 0;
}

static int slice_run(struct cpu_step *s)
{
    const struct move_attr *a = &s->node->attr.move;
    const struct value *x = cpu_in(s, 0);
    int64_t above;
    if (!s->out[0]) return 0;
    size_t unit = value_bytes_below(x, a->axis, &above), bytes = unit * (size_t)(a->end - a->begin);
    struct runs o = {(const char *)s->in[0] + unit * (size_t)a->begin, s->out[0], unit * (size_t)x->shape.dim[a->axis],
                     bytes, bytes};
    threads_for(above, cpu_grain((int64_t)bytes / 4), runs_piece, &o);
    return 0;
}

static int slice_grad_run(struct cpu_step *s)
{
    const struct move_attr *a = &s->node->attr.move;
    const struct value *dx = cpu_out(s, 0);
    int64_t above;
    if (!dx) return 0;
    size_t unit = value_bytes_below(dx, a->axis, &above), bytes = unit * (size_t)(a->end - a->begin);
    memset(s->out[0], 0, value_bytes(dx));
    struct runs o = {s->in[0], (char *)s->out[0] + unit * (size_t)a->begin, bytes,
                     unit * (size_t)dx->shape.dim[a->axis], bytes};
    threads_for(above, cpu_grain((int64_t)bytes / 4), runs_piece, &o);
    return 0;
}

// ---- gather
struct gather {
    const struct cpu_step *step;
    const int32_t *index;
    int64_t rows, size;  // of x; elements per row
    enum dtype dtype;
    int32_t *head, *next;  // GATHER_GRAD: for each row of dx, the list of indices that name it, in order
};

static bool is_row(const struct gather *o, int64_t i)
{
    return o->index[i] >= 0 && o->index[i] < o->rows;
}

static void gather_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct gather *o = context;
    size_t bytes = (size_t)o->size * dtype_size(o->dtype);
    for (int64_t i = begin; i < end; i++) {
        char *to = (char *)o->step->out[0] + (size_t)i * bytes;
        if (is_row(o, i))
            memcpy(to, (const char *)o->step->in[0] + (size_t)o->index[i] * bytes, bytes);
        else
            memset(to, 0xff, bytes);
    }
}

static int gather_run(struct cpu_step *s)
{
    const struct value *x = cpu_in(s, 0);
    int64_t rows = x->shape.dim[0];
    struct gather o = {
        .step = s, .index = s->in[1], .rows = rows, .size = rows ? cpu_count(x) / rows : 0, .dtype = x->dtype};
    if (s->out[0]) threads_for(cpu_count(cpu_in(s, 1)), cpu_grain(o.size), gather_piece, &o);
    return 0;
}

static void gather_grad_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct gather *o = context;
    const struct loops *loops = o->step->cpu->loops;
    float acc[CHUNK];
    for (int64_t r = begin; r < end; r++)
        for (int64_t c = 0; c < o->size; c += CHUNK) {
            int64_t n = o->size - c < CHUNK ? o->size - c : CHUNK;
            memset(acc, 0, (size_t)n * sizeof *acc);
            for (int32_t b = o->head[r]; b != NONE; b = o->next[b])
                loops->add_scaled(o->dtype, cpu_at(o->dtype, o->step->in[1], b * o->size + c), n, 1.0f, acc);
            loops->narrow(o->dtype, acc, cpu_at(o->dtype, o->step->out[0], r * o->size + c), n);
        }
}

static int gather_grad_run(struct cpu_step *s)
{
    const struct value *dx = cpu_out(s, 0);
    if (!dx) return 0;
    int64_t rows = dx->shape.dim[0], count = cpu_count(cpu_in(s, 0));
    struct gather o = {
        .step = s, .index = s->in[0], .rows = rows, .size = rows ? cpu_count(dx) / rows : 0, .dtype = dx->dtype};
    o.head = s->work, o.next = o.head + rows;
    for (int64_t r = 0; r < rows; r++) o.head[r] = NONE;
    for (int64_t i = count - 1; i >= 0; i--) {  // from behind, so that lists run forward
        if (is_row(&o, i)) o.next[i] = o.head[o.index[i]], o.head[o.index[i]] = (int32_t)i;
    }
    threads_for(rows, cpu_grain(o.size), gather_grad_piece, &o);
    return 0;
}

static size_t gather_grad_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    (void)cpu;
    int64_t rows = n->attr.move.shape.dim[0];
    return (size_t)(rows + shape_count(&g->value[n->in[0]].shape)) * sizeof(int32_t);
}

// ---- append: rows of the cache are overwritten in place, a few of them, on the calling thread
static int append_run(struct cpu_step *s)
{
    const struct value *cache = cpu_in(s, 0), *x = cpu_in(s, 1);
    const int32_t *at = s->in[2];
    int64_t samples, rows = x->shape.dim[1], most = cache->shape.dim[1], step = cpu_count(cpu_in(s, 2)) > 1;
    size_t bytes = value_bytes_below(x, 1, &samples);
    for (int64_t r = 0; r < samples * rows; r++) {
        int64_t b = r / rows, to = at[b * step] + r % rows;
        if (to < 0 || to >= most) continue;
        memcpy((char *)s->out[0] + (size_t)(b * most + to) * bytes, (const char *)s->in[1] + (size_t)r * bytes, bytes);
    }
    return 0;
}

// ---- reorder: the rows of a group that move are copied aside, a stretch of them at a time
struct reorder {
    char *x;
    const int32_t *from;
    int64_t group, most, positions;  // rows; positions of a row, and those that move
    size_t bytes;                    // per position
};

static bool row_moves(const struct reorder *o, int64_t first, int64_t r)
{
    int64_t from = o->from[first + r] - first;
    return from != r && from >= 0 && from < o->group;
}

static void reorder_piece(void *context, int64_t begin, int64_t end, int thread)  // positions of groups
{
    (void)thread;
    enum { STRETCH = 1024 };
    const struct reorder *o = context;
    char aside[REORDER_MOST][STRETCH];
    size_t row = (size_t)o->most * o->bytes;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i / o->positions * o->group;
        char *at = o->x + (size_t)(i % o->positions) * o->bytes;
        for (size_t c = 0; c < o->bytes; c += STRETCH) {
            size_t n = o->bytes - c < STRETCH ? o->bytes - c : STRETCH;
            for (int64_t r = 0; r < o->group; r++)
                if (row_moves(o, first, r)) memcpy(aside[r], at + (size_t)o->from[first + r] * row + c, n);
            for (int64_t r = 0; r < o->group; r++)
                if (row_moves(o, first, r)) memcpy(at + (size_t)(first + r) * row + c, aside[r], n);
        }
    }
}

static int reorder_run(struct cpu_step *s)
{
    const struct value *x = cpu_in(s, 0);
    const int32_t *at = s->in[2];
    int64_t above, groups = x->shape.dim[0] / s->node->attr.reorder.group;
    struct reorder o = {.x = s->out[0], .from = s->in[1], .group = s->node->attr.reorder.group, .most = at ? x->shape.dim[1] : 1};
    o.bytes = value_bytes_below(x, at ? 1 : 0, &above);
    o.positions = at && *at + 1 < o.most ? *at + 1 : o.most;
    if (o.positions > 0) threads_for(groups * o.positions, cpu_grain((int64_t)o.bytes * o.group / 4), reorder_piece, &o);
    return 0;
}

CPU_PREPARE(reshape)
CPU_PREPARE(transpose)
CPU_PREPARE(concat)
CPU_PREPARE(slice)
CPU_PREPARE(slice_grad)
CPU_PREPARE(gather)
CPU_PREPARE(gather_grad)
CPU_PREPARE(append)
CPU_PREPARE(reorder)
const struct cpu_op cpu_reshape = {.prepare = reshape_prepare};
const struct cpu_op cpu_transpose = {.prepare = transpose_prepare};
const struct cpu_op cpu_concat = {.prepare = concat_prepare};
const struct cpu_op cpu_slice = {.prepare = slice_prepare};
const struct cpu_op cpu_slice_grad = {.prepare = slice_grad_prepare};
const struct cpu_op cpu_gather = {.prepare = gather_prepare};
const struct cpu_op cpu_gather_grad = {.workspace = gather_grad_workspace, .prepare = gather_grad_prepare};
const struct cpu_op cpu_append = {.prepare = append_prepare};
const struct cpu_op cpu_reorder = {.prepare = reorder_prepare};
