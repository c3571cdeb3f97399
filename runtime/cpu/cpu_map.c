// SPDX-License-Identifier: Apache-2.0
// Formulas element by element, in runs that no input repeats within. Cost: one pass; a gradient's chunks stay in the L1 cache
// while each slope passes over them.
#include "runtime/cpu/cpu_work.h"

#include <string.h>

enum { CHUNK = 1024, SHORT = 64, INPUTS = 5 };

// An input of a few elements, a factor of all of them for example, written out: else its run would be as short.
struct written {
    int64_t phase;  // of its first element, plus 1; 0: nothing is written
    char at[CHUNK * sizeof(float)];
};

static const void *write_out(struct written *w, const struct value *v, const void *from, int64_t phase)
{
    int64_t period = cpu_count(v), size = (int64_t)dtype_size(v->dtype);
    for (int64_t i = 0; w->phase != phase + 1 && i < CHUNK; i++)
        memcpy(w->at + i * size, (const char *)from + (phase + i) % period * size, (size_t)size);
    w->phase = phase + 1;
    return w->at;
}

// Input i from element `at` on, which is repeated if it lacks dimensions; shortens *n to where it is repeated.
static const void *input_at(const struct cpu_step *s, int i, int64_t at, struct written w[INPUTS], int64_t *n)
{
    const struct value *v = cpu_in(s, i);
    if (!v) return NULL;
    int64_t period = cpu_count(v), all = cpu_count(cpu_in(s, 0));
    if (period < SHORT && period < all) {
        int64_t whole = CHUNK / period * period;  // the next run begins at the same phase
        if (whole < *n) *n = whole;
        return write_out(&w[i], v, s->in[i], at % period);
    }
    if (period < all) at %= period;
    if (period - at < *n) *n = period - at;
    return cpu_at(v->dtype, s->in[i], at);
}

static void map_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct map_attr *m = &s->node->attr.map;
    enum dtype t = cpu_in(s, 0)->dtype;
    struct written w[INPUTS];
    for (int i = 0; i < INPUTS; i++) w[i].phase = 0;
    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at;
        struct map_run r = {.a = input_at(s, 0, at, w, &n), .b = input_at(s, 1, at, w, &n), .c = input_at(s, 2, at, w, &n),
                            .to = cpu_at(t, s->out[0], at), .p = m->p, .q = m->q};
        s->cpu->loops->map(t, m->formula, 0, &r, n);
    }
}

// The gradient of a comes last, because it may overwrite dy.
static void map_grad_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct map_attr *m = &s->node->attr.map;
    enum dtype t = cpu_in(s, 0)->dtype;
    struct written w[INPUTS];
    for (int i = 0; i < INPUTS; i++) w[i].phase = 0;
    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < CHUNK ? end - at : CHUNK;
        struct map_run r = {.dy = input_at(s, 0, at, w, &n), .a = input_at(s, 1, at, w, &n), .b = input_at(s, 2, at, w, &n),
                            .c = input_at(s, 3, at, w, &n), .y = input_at(s, 4, at, w, &n), .p = m->p, .q = m->q};
        for (int part = 3; part >= 1; part--) {
            if (!s->out[part - 1]) continue;
            r.to = cpu_at(t, s->out[part - 1], at);
            s->cpu->loops->map(t, m->formula, part, &r, n);
        }
    }
}

static int map_run(struct cpu_step *s)
{
    if (s->out[0]) threads_for(cpu_count(cpu_in(s, 0)), CPU_GRAIN, map_piece, s);
    return 0;
}

static int map_grad_run(struct cpu_step *s)
{
    threads_for(cpu_count(cpu_in(s, 0)), CPU_GRAIN, map_grad_piece, s);
    return 0;
}

CPU_PREPARE(map)
CPU_PREPARE(map_grad)
const struct cpu_op cpu_map = {.prepare = map_prepare};
const struct cpu_op cpu_map_grad = {.prepare = map_grad_prepare};
