// SPDX-License-Identifier: Apache-2.0
// GRU (cpu_scan.h). The state is carried in f32, and products read it rounded. The original unit multiplies twice per word: the
// states for the gates, then r h for the new state.
#include "runtime/cpu/cpu_scan.h"

enum { GATES = 3 };
static const struct scan_parts all_parts = {0, GATES}, both_gates = {0, 2}, candidate = {2, 1};

// As many samples a task as share one pass over the weights, but a task for each thread.
static int64_t rows_of(const struct scan *o, int threads)
{
    int64_t groups = (o->samples + SCAN_ROWS - 1) / SCAN_ROWS, least = (threads + o->d - 1) / o->d;
    if (groups < least) groups = least;
    int64_t rows = ((o->samples + groups - 1) / groups + 3) / 4 * 4;
    return rows < SCAN_ROWS ? rows : SCAN_ROWS;
}

static void size_gru(struct scan *o, const struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    o->back = n->op == OP_GRU_GRAD, o->gates = GATES;
    scan_size(o, cpu, g, n, o->back ? SCAN_PARTS : GATES);
    o->recurs = o->t > 1 || n->attr.recurrent.original;
    o->rows = rows_of(o, cpu->threads);
}

static size_t gru_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct scan o = {0};
    size_gru(&o, cpu, g, n);
    return scan_carve(&o, NULL, cpu->threads);
}

static bool is_original(const struct scan *o) { return o->step->node->attr.recurrent.original; }

static struct gru_word word_of(const struct scan *o, const struct task *k, const struct rows *r, int64_t b)
{
    return (struct gru_word){.parts = r->gates + b * SCAN_PARTS * o->lanes, .bias = o->biases + k->d * GATES * o->lanes,
                             .state = r->c + b * o->lanes, .reset_state = r->before,
                             .back = r->product + b * o->lanes, .reset = r->reset + b * o->lanes};
}

// ---- forward
static void read_word(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    const int64_t at = GATES * scan_offset(o, k, b, i, 1);
    float *parts = r->gates + b * SCAN_PARTS * o->lanes;
    scan_prefetch(o, k, b, i + SCAN_AHEAD, GATES);
    for (int j = 0; j < GATES; j++) scan_read(o, o->step->in[0], at + j * o->h, parts + (j < 2 ? j : 3) * o->lanes);
    memset(parts + 2 * o->lanes, 0, (size_t)o->lanes * sizeof *parts);
}

// r h, which the second product of the original unit reads.
static void reset_word(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    const struct gru_word w = word_of(o, k, r, b);
    o->loops->narrow(o->dtype, w.state, r->narrow, o->h);
    o->loops->widen(o->dtype, r->narrow, w.reset_state, o->h);
    o->loops->gru_reset(&w, o->lanes);
    scan_set_units(o, r, b, w.reset_state, o->h);
    scan_write(o, w.reset_state, o->step->out[1], SCAN_PARTS * scan_offset(o, k, b, i, 1) + 2 * o->h);
}

static void forward_word(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    const struct cpu_step *s = o->step;
    const int64_t at = scan_offset(o, k, b, i, 1);
    const struct gru_word w = word_of(o, k, r, b);
    o->loops->gru(&w, is_original(o), o->lanes);
    for (int j = 0; j < SCAN_PARTS && s->out[1]; j++)
        if (j != 2 || !is_original(o)) scan_write(o, w.parts + j * o->lanes, s->out[1], SCAN_PARTS * at + j * o->h);
    const void *state = scan_set_units(o, r, b, w.state, o->h);
    if (s->out[0]) scan_copy(o, state, 0, s->out[0], at);
}

static void forward_task(const struct scan *o, const struct task *k, const struct rows *r)
{
    const struct cpu_step *s = o->step;
    for (int64_t i = 0; i < o->t; i++) {
        for (int64_t b = 0; b < k->rows; b++) {
            const int64_t at = scan_offset(o, k, b, i, 1);
            if (i < k->n[b]) {
                read_word(o, k, r, b, i);
                continue;
            }
            scan_clear(o, s->out[0], at, o->h);
            scan_clear(o, s->out[1], SCAN_PARTS * at, SCAN_PARTS * o->h);
        }
        if (i >= k->most) continue;
        if (i > 0) scan_multiply(o, k, r, is_original(o) ? both_gates : all_parts, true);
        for (int64_t b = 0; b < k->rows && is_original(o); b++)
            if (i < k->n[b]) reset_word(o, k, r, b, i);
        if (i > 0 && is_original(o)) scan_multiply(o, k, r, candidate, true);
        for (int64_t b = 0; b < k->rows; b++)
            if (i < k->n[b]) forward_word(o, k, r, b, i);
    }
}

// ---- backward
static const float *state_before(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    return scan_view(o, i > 0 ? o->step->in[2] : NULL, i > 0 ? scan_offset(o, k, b, i - 1, 1) : 0, 1, r->before);
}

static void backward_word(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    const struct cpu_step *s = o->step;
    const int64_t at = scan_offset(o, k, b, i, 1);
    struct gru_word w = word_of(o, k, r, b);
    scan_prefetch(o, k, b, i - SCAN_AHEAD, SCAN_PARTS);
    w.kept = scan_view(o, s->in[0], SCAN_PARTS * at, SCAN_PARTS, w.parts);
    w.before = state_before(o, k, r, b, i);
    o->loops->add_scaled(o->dtype, cpu_at(o->dtype, o->dh, at), o->h, 1.0f, w.back);
    o->loops->gru_back(&w, is_original(o), o->lanes);
    if (s->out[1]) scan_copy(o, i > 0 ? s->in[2] : NULL, i > 0 ? scan_offset(o, k, b, i - 1, 1) : 0, s->out[1], at);
    if (is_original(o)) {
        scan_set_units(o, r, b, w.parts + 3 * o->lanes, o->lanes);
        return;
    }
    // What the product reads is rounded once, and stored from there.
    const void *rounded = scan_set_units(o, r, b, w.parts, GATES * o->lanes);
    for (int j = 0; j < GATES && s->out[2]; j++) scan_copy(o, rounded, j * o->lanes, s->out[2], GATES * at + j * o->h);
    for (int j = 0; j < 2 && s->out[0]; j++) scan_copy(o, rounded, j * o->lanes, s->out[0], GATES * at + j * o->h);
    scan_write(o, w.parts + 3 * o->lanes, s->out[0], GATES * at + 2 * o->h);
}

static void backward_reset(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    struct gru_word w = word_of(o, k, r, b);
    w.before = state_before(o, k, r, b, i);
    o->loops->gru_back_reset(&w, o->lanes);
    scan_set_units(o, r, b, w.parts, 2 * o->lanes);
    for (int j = 0; j < GATES; j++)
        scan_write(o, w.parts + (j < 2 ? j : 3) * o->lanes, o->step->out[0], GATES * scan_offset(o, k, b, i, 1) + j * o->h);
}

static void backward_task(const struct scan *o, const struct task *k, const struct rows *r)
{
    const struct cpu_step *s = o->step;
    struct rows to_reset = *r;
    to_reset.product = r->reset;
    for (int64_t i = o->t - 1; i >= 0; i--) {
        if (i + 1 < k->most) scan_multiply(o, k, r, is_original(o) ? both_gates : all_parts, true);
        for (int64_t b = 0; b < k->rows; b++) {
            if (i < k->n[b]) {
                backward_word(o, k, r, b, i);
                continue;
            }
            const int64_t at = scan_offset(o, k, b, i, 1);
            scan_clear(o, s->out[0], GATES * at, GATES * o->h);
            scan_clear(o, s->out[1], at, o->h);
            scan_clear(o, s->out[2], GATES * at, GATES * o->h);
        }
        if (!is_original(o) || i >= k->most) continue;
        scan_multiply(o, k, &to_reset, candidate, false);
        for (int64_t b = 0; b < k->rows; b++)
            if (i < k->n[b]) backward_reset(o, k, r, b, i);
    }
}

static int gru_run(struct cpu_step *s)
{
    struct scan o = {.step = s, .loops = s->cpu->loops, .length = s->in[3]};
    size_gru(&o, s->cpu, s->graph, s->node);
    o.bias = o.back ? NULL : s->in[2], o.dh = o.back ? s->in[4] : NULL;
    scan_run(&o, o.back ? backward_task : forward_task);
    return 0;
}

CPU_PREPARE(gru)
const struct cpu_op cpu_gru = {.workspace = gru_workspace, .prepare = gru_prepare};
const struct cpu_op cpu_gru_grad = {.workspace = gru_workspace, .prepare = gru_prepare};
