// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/product/widen.h"

#include "runtime/cpu/cpu_work.h"

static void add_operand(struct widen *w, const struct value *v, bool result, int number)
{
    BUG_IF(w->count == WIDEN_OPERANDS);
    struct widen_operand *o = &w->operand[w->count++];
    *o = (struct widen_operand){.result = result, .number = number, .stored = v->dtype, .offset = w->bytes,
                                .elements = cpu_count(v)};
    w->bytes += plan_round_up((size_t)o->elements * sizeof(float));
}

// Inputs 0 and 1 are the factors: an f32 one is read at the precision of the other. Input 2 is a bias or a summand.
void widen_plan(struct widen *w, const struct graph *g, const struct node *n)
{
    bool half = false;
    *w = (struct widen){0};
    for (int i = 0; i < 2; i++) half |= node_in(g, n, i)->dtype == F16;
    for (int i = 0; i < 3; i++) {
        const struct value *v = n->in[i] == NONE ? NULL : node_in(g, n, i);
        if (v && (v->dtype == F16 || (half && i < 2))) add_operand(w, v, false, i);
    }
    const struct value *y = node_out(g, n, 0);
    if (y && y->dtype == F16) add_operand(w, y, true, 0);
}

void widen_bind(struct widen *w, struct cpu_step *step, size_t offset)
{
    for (int i = 0; i < w->count; i++) {
        struct widen_operand *o = &w->operand[i];
        void **at = o->result ? &step->out[o->number] : &step->in[o->number];
        o->at = *at;
        *at = (char *)step->work + offset + o->offset;
    }
}

struct rounding {
    const struct loops *loops;
    const float *from;
    float *to;
};

static void round_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    enum { CHUNK = 1024 };
    const struct rounding *r = context;
    uint16_t half[CHUNK];
    for (int64_t i = begin; i < end; i += CHUNK) {
        int64_t n = end - i < CHUNK ? end - i : CHUNK;
        r->loops->narrow(F16, r->from + i, half, n);
        r->loops->widen(F16, half, r->to + i, n);
    }
}

void widen_round(const struct loops *loops, const float *from, float *to, int64_t n)
{
    threads_for(n, CPU_GRAIN, round_piece, &(struct rounding){loops, from, to});
}

void widen_operands(const struct widen *w, const struct cpu_step *step)
{
    const struct loops *loops = step->cpu->loops;
    for (int i = 0; i < w->count; i++) {
        const struct widen_operand *o = &w->operand[i];
        if (o->result) continue;
        if (o->stored == F32) widen_round(loops, o->at, step->in[o->number], o->elements);
        else cpu_convert(loops, o->stored, o->at, F32, step->in[o->number], o->elements);
    }
}

void widen_results(const struct widen *w, const struct cpu_step *step)
{
    for (int i = 0; i < w->count; i++) {
        const struct widen_operand *o = &w->operand[i];
        if (o->result && o->at) cpu_convert(step->cpu->loops, F32, step->out[o->number], o->stored, o->at, o->elements);
    }
}
