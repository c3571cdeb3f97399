// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing with half-pixel centres, and its transpose. Rows are blended first, then columns; prepare computes the
// positions and weights of both. Cost: x is read at most twice, y written once.
#include "runtime/common/base/arena.h"
#include "runtime/cpu/cpu_work.h"

#include <math.h>
#include <stdlib.h>

// Position i of the result reads positions at[i] and next[i] of the source with weights 1 - w[i] and w[i].
struct axis {
    int32_t *at, *next;
    float *w;
    int32_t *first, *count;  // results first[j] .. first[j] + count[j] - 1 read position j of the source
};

struct resize {
    struct axis row, column, element;  // element: columns times channels
    int64_t n, from_h, from_w, to_h, to_w, c;
};

static void axis_new(struct axis *o, int64_t from, int64_t to)
{
    o->at = zalloc((size_t)to * sizeof(int32_t)), o->next = zalloc((size_t)to * sizeof(int32_t));
    o->w = zalloc((size_t)to * sizeof(float));
    o->first = zalloc((size_t)from * sizeof(int32_t)), o->count = zalloc((size_t)from * sizeof(int32_t));
    for (int64_t i = 0; i < to; i++) {
        double x = ((double)i + 0.5) * (double)from / (double)to - 0.5;
        if (x < 0) x = 0;
        int64_t at = (int64_t)floor(x);
        if (at > from - 1) at = from - 1;
        o->at[i] = (int32_t)at, o->next[i] = (int32_t)(at + 1 < from ? at + 1 : at);
        o->w[i] = (float)(x - (double)at);
        for (int64_t j = at; j <= o->next[i]; j++) {
            if (!o->count[j]) o->first[j] = (int32_t)i;
            o->count[j] = (int32_t)i - o->first[j] + 1;
        }
    }
}

static void axis_free(struct axis *o)
{
    free(o->at), free(o->next), free(o->w), free(o->first), free(o->count);
}

static struct axis spread_axis(const struct axis *o, int64_t to, int64_t c)
{
    struct axis e = {.at = zalloc((size_t)(to * c) * sizeof(int32_t)),
                     .next = zalloc((size_t)(to * c) * sizeof(int32_t)),
                     .w = zalloc((size_t)(to * c) * sizeof(float))};
    for (int64_t i = 0; i < to * c; i++) {
        e.at[i] = (int32_t)(o->at[i / c] * c + i % c), e.next[i] = (int32_t)(o->next[i / c] * c + i % c);
        e.w[i] = o->w[i / c];
    }
    return e;
}

static void resize_release(struct cpu_step *s)
{
    struct resize *o = s->own;
    if (!o) return;
    axis_free(&o->row), axis_free(&o->column), axis_free(&o->element);
    free(o);
    s->own = NULL;
}

static struct resize *resize_new(const struct shape *from, const struct shape *to)
{
    struct resize *o = zalloc(sizeof *o);
    o->n = from->dim[0], o->c = from->dim[3];
    o->from_h = from->dim[1], o->from_w = from->dim[2], o->to_h = to->dim[1], o->to_w = to->dim[2];
    axis_new(&o->row, o->from_h, o->to_h);
    axis_new(&o->column, o->from_w, o->to_w);
    o->element = spread_axis(&o->column, o->to_w, o->c);
    return o;
}

static size_t row_scratch(int64_t w, int64_t c)
{
    return ((size_t)(w * c) * sizeof(float) + 63) & ~(size_t)63;
}

static void resize_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of y
{
    const struct cpu_step *s = context;
    const struct resize *o = s->own;
    const struct loops *loops = s->cpu->loops;
    enum dtype t = cpu_in(s, 0)->dtype;
    int64_t line = o->from_w * o->c;
    float *row = (float *)((char *)s->work + row_scratch(o->from_w, o->c) * (size_t)thread);
    for (int64_t r = begin; r < end; r++) {
        int64_t n = r / o->to_h, y = r % o->to_h;
        const void *image = cpu_at(t, s->in[0], n * o->from_h * line);
        loops->blend(t, cpu_at(t, image, o->row.at[y] * line), cpu_at(t, image, o->row.next[y] * line), o->row.w[y],
                     line, row);
        loops->taps(t, row, o->element.at, o->element.next, o->element.w, o->to_w * o->c,
                    cpu_at(t, s->out[0], r * o->to_w * o->c));
    }
}

static int resize_run(struct cpu_step *s)
{
    const struct resize *o = s->own;
    if (s->out[0]) threads_for(o->n * o->to_h, cpu_grain(2 * o->from_w * o->c), resize_piece, s);
    return 0;
}

static int resize_prepare(struct cpu_step *s)
{
    s->own = resize_new(&cpu_in(s, 0)->shape, &s->node->attr.move.shape);
    s->run = resize_run, s->release = resize_release;
    return 0;
}

static size_t resize_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    const int64_t *d = g->value[n->in[0]].shape.dim;
    return row_scratch(d[2], d[3]) * (size_t)cpu->threads;
}

// ---- the transpose: every position of dx gathers from the results that read it
static float share_of(const struct axis *o, int32_t i, int64_t j)
{
    float w = 0;
    if (o->at[i] == j) w += 1.0f - o->w[i];
    if (o->next[i] == j) w += o->w[i];
    return w;
}

static void resize_grad_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of dx
{
    const struct cpu_step *s = context;
    const struct resize *o = s->own;
    const struct loops *loops = s->cpu->loops;
    enum dtype t = cpu_in(s, 0)->dtype;
    int64_t line = o->to_w * o->c;
    size_t scratch = row_scratch(o->to_w, o->c) + row_scratch(1, o->c);
    float *row = (float *)((char *)s->work + scratch * (size_t)thread);
    float *acc = (float *)((char *)row + row_scratch(o->to_w, o->c));
    for (int64_t r = begin; r < end; r++) {
        int64_t n = r / o->from_h, y = r % o->from_h;
        memset(row, 0, (size_t)line * sizeof(float));
        for (int32_t i = o->row.first[y]; i < o->row.first[y] + o->row.count[y]; i++)
            loops->add_scaled(t, cpu_at(t, s->in[0], (n * o->to_h + i) * line), line, share_of(&o->row, i, y), row);
        for (int64_t x = 0; x < o->from_w; x++) {
            memset(acc, 0, (size_t)o->c * sizeof(float));
            for (int32_t i = o->column.first[x]; i < o->column.first[x] + o->column.count[x]; i++)
                loops->add_scaled(F32, row + i * o->c, o->c, share_of(&o->column, i, x), acc);
            loops->narrow(t, acc, cpu_at(t, s->out[0], (r * o->from_w + x) * o->c), o->c);
        }
    }
}

static int resize_grad_run(struct cpu_step *s)
{
    const struct resize *o = s->own;
    if (s->out[0]) threads_for(o->n * o->from_h, cpu_grain(o->from_w * o->c), resize_grad_piece, s);
    return 0;
}

static int resize_grad_prepare(struct cpu_step *s)
{
    s->own = resize_new(&s->node->attr.move.shape, &cpu_in(s, 0)->shape);
    s->run = resize_grad_run, s->release = resize_release;
    return 0;
}

static size_t resize_grad_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    const int64_t *d = g->value[n->in[0]].shape.dim;
    return (row_scratch(d[2], d[3]) + row_scratch(1, d[3])) * (size_t)cpu->threads;
}

const struct cpu_op cpu_resize = {.workspace = resize_workspace, .prepare = resize_prepare};
const struct cpu_op cpu_resize_grad = {.workspace = resize_grad_workspace, .prepare = resize_grad_prepare};
