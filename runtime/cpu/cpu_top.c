// SPDX-License-Identifier: Apache-2.0
// The k largest of each row: a sorted list, which takes an element if it beats the last. Vector loops skip elements that do
// not. More than fit into a list are selected by their keys, and sorted. Cost: one pass over x, or six.
#include "runtime/boxes.h"
#include "runtime/cpu/cpu_select.h"
#include "runtime/cpu/cpu_work.h"

enum { CHUNK = 1024, SKIP = 64, LIST = 64 };

struct top_list {
    float x[LIST];
    int32_t at[LIST];
    int64_t count, most;
};

static bool precedes(float x, float y) { return x > y || (y != y && x == x); }  // any number precedes NaN

static void insert_top(struct top_list *o, float x, int64_t at)
{
    if (o->count == o->most && !precedes(x, o->x[o->most - 1])) return;
    int64_t to = o->count < o->most ? o->count++ : o->most - 1;
    for (; to > 0 && precedes(x, o->x[to - 1]); to--) o->x[to] = o->x[to - 1], o->at[to] = o->at[to - 1];
    o->x[to] = x, o->at[to] = (int32_t)at;
}

static void scan_row(const struct loops *loops, enum dtype t, const void *row, int64_t n, struct top_list *o)
{
    float x[CHUNK];
    for (int64_t c = 0; c < n; c += CHUNK) {
        int64_t count = n - c < CHUNK ? n - c : CHUNK;
        loops->widen(t, cpu_at(t, row, c), x, count);
        for (int64_t i = 0; i < count; i += SKIP) {
            int64_t end = i + SKIP < count ? i + SKIP : count;
            bool any = true;
            if (o->count == o->most) loops->any_above(x + i, end - i, o->x[o->most - 1], &any);
            for (int64_t j = i; any && j < end; j++) insert_top(o, x[j], c + j);
        }
    }
}

static size_t sort_scratch(const struct graph *g, const struct node *n)
{
    struct cpu_scratch o = {0};
    cpu_take(&o, shape_last(&g->value[n->in[0]].shape), sizeof(uint32_t));
    cpu_take(&o, 2 * n->attr.top.k, sizeof(int32_t));
    return n->attr.top.k > LIST ? o.used : 0;
}

// Rows of which more elements are requested than a list holds.
static void top_sorted_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct cpu_step *s = context;
    const struct value *x = cpu_in(s, 0);
    int64_t n = shape_last(&x->shape), k = s->node->attr.top.k;
    struct cpu_scratch o = {(char *)s->work + sort_scratch(s->graph, s->node) * (size_t)thread, 0};
    uint32_t *key = cpu_take(&o, n, sizeof *key);
    int32_t *at = cpu_take(&o, 2 * k, sizeof *at);
    float chunk[CHUNK];
    for (int64_t r = begin; r < end; r++) {
        for (int64_t c = 0; c < n; c += CHUNK) {
            int64_t count = n - c < CHUNK ? n - c : CHUNK;
            s->cpu->loops->widen(x->dtype, cpu_at(x->dtype, s->in[0], r * n + c), chunk, count);
            for (int64_t i = 0; i < count; i++) key[c + i] = box_rank(chunk[i]);
        }
        cpu_select(key, n, k, at);
        cpu_sort(key, k, at, at + k);
        size_t size = dtype_size(x->dtype);
        for (int64_t j = 0; j < k && s->out[0]; j++)
            memcpy((char *)s->out[0] + (size_t)(r * k + j) * size, cpu_at(x->dtype, s->in[0], r * n + at[j]), size);
        for (int64_t j = 0; j < k && s->out[1]; j++)
            ((int32_t *)s->out[1])[r * k + j] = at[j] + (int32_t)(s->node->attr.top.flat ? r * n : 0);
    }
}

static void top_piece(void *context, int64_t begin, int64_t end, int thread)  // rows
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct value *x = cpu_in(s, 0);
    int64_t n = shape_last(&x->shape), k = s->node->attr.top.k;
    for (int64_t r = begin; r < end; r++) {
        struct top_list o;
        o.count = 0, o.most = k;
        scan_row(s->cpu->loops, x->dtype, cpu_at(x->dtype, s->in[0], r * n), n, &o);
        if (s->out[0]) s->cpu->loops->narrow(x->dtype, o.x, cpu_at(x->dtype, s->out[0], r * k), k);
        for (int64_t j = 0; j < k && s->out[1]; j++)
            ((int32_t *)s->out[1])[r * k + j] = o.at[j] + (int32_t)(s->node->attr.top.flat ? r * n : 0);
    }
}

static void top_grad_piece(void *context, int64_t begin, int64_t end, int thread)  // rows
{
    (void)thread;
    const struct cpu_step *s = context;
    int64_t n = s->node->attr.top.n, k = shape_last(&cpu_in(s, 0)->shape);
    size_t size = dtype_size(cpu_in(s, 1)->dtype);
    const int32_t *at = s->in[0];
    memset((char *)s->out[0] + (size_t)(begin * n) * size, 0, (size_t)((end - begin) * n) * size);
    for (int64_t j = begin * k; j < end * k; j++) {
        int64_t i = at[j] - (s->node->attr.top.flat ? j / k * n : 0);
        if (i >= 0 && i < n)
            memcpy((char *)s->out[0] + (size_t)(j / k * n + i) * size, (const char *)s->in[1] + (size_t)j * size, size);
    }
}

static int top_run(struct cpu_step *s)
{
    const struct shape *x = &cpu_in(s, 0)->shape;
    bool sorted = s->node->attr.top.k > LIST;
    threads_for(shape_rows(x), cpu_grain(shape_last(x)), sorted ? top_sorted_piece : top_piece, s);
    return 0;
}

static int top_grad_run(struct cpu_step *s)
{
    if (s->out[0]) threads_for(shape_rows(&cpu_in(s, 0)->shape), cpu_grain(s->node->attr.top.n), top_grad_piece, s);
    return 0;
}

static size_t top_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return sort_scratch(g, n) * (size_t)cpu->threads;
}

CPU_PREPARE(top)
CPU_PREPARE(top_grad)
const struct cpu_op cpu_top = {.workspace = top_workspace, .prepare = top_prepare};
const struct cpu_op cpu_top_grad = {.prepare = top_grad_prepare};
