// SPDX-License-Identifier: Apache-2.0
// LSTM (cpu_scan.h). States are [B,D,H].
#include "runtime/cpu/cpu_scan.h"

enum { GATES = SCAN_PARTS };
static const struct scan_parts all_gates = {0, GATES};

static void size_lstm(struct scan *o, const struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    o->back = n->op == OP_LSTM_GRAD, o->gates = GATES;
    scan_size(o, cpu, g, n, GATES);
    o->rows = o->tiles ? SCAN_ROWS : PRODUCT_ROWS;
    o->recurs = n->in[1] != NONE && (o->t > 1 || n->in[o->back ? 5 : 3] != NONE);
}

static size_t lstm_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct scan o = {0};
    size_lstm(&o, cpu, g, n);
    return scan_carve(&o, NULL, cpu->threads);
}

// The offset in a state.
static int64_t state_of(const struct scan *o, const struct task *k, int64_t b)
{
    return ((k->first + b) * o->d + k->d) * o->h;
}

static void read_parts(const struct scan *o, const void *from, int64_t at, float *to)
{
    for (int i = 0; i < GATES; i++) scan_read(o, from, at + i * o->h, to + i * o->lanes);
}

static void write_parts(const struct scan *o, const float *from, void *to, int64_t at)
{
    for (int i = 0; i < GATES && to; i++) scan_write(o, from + i * o->lanes, to, at + i * o->h);
}

static void read_cells(const struct scan *o, const float *from, int64_t at, float *to)
{
    if (from) memcpy(to, from + at, (size_t)o->h * sizeof *to);
}

// ---- forward

// The final states are h and row b of c.
static void write_states(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, const void *h)
{
    const struct cpu_step *s = o->step;
    int64_t at = state_of(o, k, b);
    if (s->out[3]) scan_copy(o, h, 0, s->out[3], at);
    if (s->out[4]) memcpy((float *)s->out[4] + at, r->c + b * o->lanes, (size_t)o->h * sizeof(float));
}

static void begin_states(const struct scan *o, const struct task *k, const struct rows *r, int64_t b)
{
    read_cells(o, o->c0, state_of(o, k, b), r->c + b * o->lanes);
    scan_read(o, o->h0, state_of(o, k, b), r->h);
    const void *h = scan_set_units(o, r, b, r->h, o->h);
    if (k->n[b] == 0) write_states(o, k, r, b, h);
}

static void forward_word(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    const struct cpu_step *s = o->step;
    int64_t at = scan_offset(o, k, b, i, 1);
    float *gates = r->gates + b * GATES * o->lanes, *c = r->c + b * o->lanes;
    o->loops->lstm(gates, c, r->h, o->lanes);
    const void *h = scan_set_units(o, r, b, r->h, o->h);
    if (s->out[0]) scan_copy(o, h, 0, s->out[0], at);
    scan_write(o, c, s->out[1], at);
    write_parts(o, gates, s->out[2], GATES * at);
    if (i == k->n[b] - 1) write_states(o, k, r, b, h);
}

static void forward_task(const struct scan *o, const struct task *k, const struct rows *r)
{
    const struct cpu_step *s = o->step;
    for (int64_t b = 0; b < k->rows; b++) begin_states(o, k, r, b);
    for (int64_t i = 0; i < o->t; i++) {
        for (int64_t b = 0; b < k->rows; b++) {
            int64_t at = scan_offset(o, k, b, i, 1);
            if (i < k->n[b]) {
                scan_prefetch(o, k, b, i + SCAN_AHEAD, GATES);
                read_parts(o, s->in[0], GATES * at, r->gates + b * GATES * o->lanes);
                continue;
            }
            for (int j = 0; j < 2; j++) scan_clear(o, s->out[j], at, o->h);
            scan_clear(o, s->out[2], GATES * at, GATES * o->h);
        }
        if (i >= k->most) continue;
        if (i > 0 || o->h0) scan_multiply(o, k, r, all_gates, true);
        for (int64_t b = 0; b < k->rows; b++)
            if (i < k->n[b]) forward_word(o, k, r, b, i);
    }
}

// ---- backward
static void backward_word(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    const struct cpu_step *s = o->step;
    int64_t at = scan_offset(o, k, b, i, 1), last = i > 0 ? scan_offset(o, k, b, i - 1, 1) : 0, state = state_of(o, k, b);
    float *gates = r->gates + b * GATES * o->lanes, *back = r->product + b * o->wide;
    scan_prefetch(o, k, b, i - SCAN_AHEAD, GATES);
    read_parts(o, s->in[0], GATES * at, gates);
    scan_read(o, s->in[3], at, r->now);
    scan_read(o, i > 0 ? s->in[3] : NULL, last, r->before);
    if (i == 0) read_cells(o, o->c0, state, r->before);
    if (o->dh) o->loops->add_scaled(o->dtype, cpu_at(o->dtype, o->dh, at), o->h, 1.0f, back);
    if (s->in[8] && i == k->n[b] - 1) o->loops->add_scaled(o->dtype, cpu_at(o->dtype, s->in[8], state), o->h, 1.0f, back);
    o->loops->lstm_back(gates, r->now, r->before, back, r->c + b * o->lanes, o->lanes);
    scan_set_units(o, r, b, gates, GATES * o->lanes);
    write_parts(o, gates, s->out[0], GATES * at);
    if (s->out[1]) scan_copy(o, i > 0 ? s->in[2] : o->h0, i > 0 ? last : state, s->out[1], at);
}

// The gradients of the initial states. A sample without words passes on the gradients of its final states.
static void write_state_gradients(const struct scan *o, const struct task *k, const struct rows *r)
{
    const struct cpu_step *s = o->step;
    if (s->out[2] && k->most > 0) scan_multiply(o, k, r, all_gates, false);
    for (int64_t b = 0; b < k->rows; b++) {
        int64_t at = state_of(o, k, b);
        if (s->out[2] && k->n[b] > 0)
            o->loops->narrow(o->dtype, r->product + b * o->wide, cpu_at(o->dtype, s->out[2], at), o->h);
        else if (s->out[2])
            scan_copy(o, s->in[8], at, s->out[2], at);
        if (s->out[3]) memcpy((float *)s->out[3] + at, r->c + b * o->lanes, (size_t)o->h * sizeof(float));
    }
}

// The sums for states begin when all samples are past their last word: rows of later ones hold zeros until then.
static void backward_task(const struct scan *o, const struct task *k, const struct rows *r)
{
    const struct cpu_step *s = o->step;
    for (int64_t b = 0; b < k->rows; b++) read_cells(o, s->in[9], state_of(o, k, b), r->c + b * o->lanes);
    for (int64_t i = o->t - 1; i >= 0; i--) {
        if (i + 1 < k->most) scan_multiply(o, k, r, all_gates, false);
        for (int64_t b = 0; b < k->rows; b++) {
            if (i < k->n[b]) {
                backward_word(o, k, r, b, i);
                continue;
            }
            int64_t at = scan_offset(o, k, b, i, 1);
            scan_clear(o, s->out[0], GATES * at, GATES * o->h);
            scan_clear(o, s->out[1], at, o->h);
        }
    }
    write_state_gradients(o, k, r);
}

static int lstm_run(struct cpu_step *s)
{
    struct scan o = {0};
    size_lstm(&o, s->cpu, s->graph, s->node);
    void *const *in = s->in + (o.back ? 4 : 2);
    o.step = s, o.loops = s->cpu->loops, o.length = in[0], o.h0 = in[1], o.c0 = in[2], o.dh = o.back ? in[3] : NULL;
    scan_run(&o, o.back ? backward_task : forward_task);
    return 0;
}

CPU_PREPARE(lstm)
const struct cpu_op cpu_lstm = {.workspace = lstm_workspace, .prepare = lstm_prepare};
const struct cpu_op cpu_lstm_grad = {.workspace = lstm_workspace, .prepare = lstm_prepare};
