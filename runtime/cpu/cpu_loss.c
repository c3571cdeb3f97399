// SPDX-License-Identifier: Apache-2.0
// Softmax, cross-entropy, correct answers, running totals. One row at a time in f32 scratch. Sums over rows are added in row
// order, in double, so the split over threads does not change them.
#include "runtime/cpu/cpu_work.h"

#include <math.h>

struct rows {
    struct cpu_step *step;
    int64_t k;
    float *scratch;  // 2 k per thread
    double *loss;    // one per row
};

static size_t carve_rows(struct rows *o, void *base, int64_t rows, int64_t k, int threads)
{
    struct cpu_scratch s = {.base = base};
    float *scratch = cpu_take(&s, 2 * k * threads, sizeof(float));
    double *loss = cpu_take(&s, rows, sizeof(double));
    if (base) o->k = k, o->scratch = scratch, o->loss = loss;
    return s.used;
}

static void begin_rows(struct rows *o, struct cpu_step *s)
{
    const struct shape *x = &cpu_in(s, 0)->shape;
    o->step = s;
    carve_rows(o, s->work, shape_rows(x), shape_last(x), s->cpu->threads);
}

static size_t rows_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    const struct shape *x = &g->value[n->in[0]].shape;
    return carve_rows(NULL, NULL, shape_rows(x), shape_last(x), cpu->threads);
}

static void for_rows(struct rows *o, void (*piece)(void *, int64_t, int64_t, int))
{
    threads_for(shape_rows(&cpu_in(o->step, 0)->shape), cpu_grain(4 * o->k), piece, o);
}

// Replaces x by its softmax; returns log(sum of exp), so that log p[i] = x[i] - result.
static double softmax_row(const struct loops *loops, float *x, int64_t n)
{
    float high = x[0];
    for (int64_t i = 1; i < n; i++) high = x[i] > high ? x[i] : high;
    loops->exp_shifted(x, n, high);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    loops->scale(F32, x, (float)(1 / sum), x, n);
    return high + log(sum);
}

static void softmax_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct rows *o = context;
    const struct cpu_step *s = o->step;
    enum dtype t = cpu_in(s, 0)->dtype;
    float *row = o->scratch + 2 * o->k * thread;
    for (int64_t i = first; i < end; i++) {
        s->cpu->loops->widen(t, cpu_at(t, s->in[0], i * o->k), row, o->k);
        softmax_row(s->cpu->loops, row, o->k);
        s->cpu->loops->narrow(t, row, cpu_at(t, s->out[0], i * o->k), o->k);
    }
}

static int softmax_run(struct cpu_step *s)
{
    struct rows o;
    begin_rows(&o, s);
    if (s->out[0]) for_rows(&o, softmax_piece);
    return 0;
}

static void softmax_grad_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct rows *o = context;
    const struct cpu_step *s = o->step;
    enum dtype t = cpu_in(s, 0)->dtype;
    float *y = o->scratch + 2 * o->k * thread, *dy = y + o->k;
    for (int64_t i = first; i < end; i++) {
        s->cpu->loops->widen(t, cpu_at(t, s->in[0], i * o->k), y, o->k);
        s->cpu->loops->widen(t, cpu_at(t, s->in[1], i * o->k), dy, o->k);
        double dot = 0;
        for (int64_t j = 0; j < o->k; j++) dot += (double)y[j] * (double)dy[j];
        for (int64_t j = 0; j < o->k; j++) dy[j] = y[j] * (dy[j] - (float)dot);
        s->cpu->loops->narrow(t, dy, cpu_at(t, s->out[0], i * o->k), o->k);
    }
}

static int softmax_grad_run(struct cpu_step *s)
{
    struct rows o;
    begin_rows(&o, s);
    if (s->out[0]) for_rows(&o, softmax_grad_piece);
    return 0;
}

// ---- cross entropy
static int64_t label_of(const struct value *v, const void *labels, int64_t i)
{
    return v->dtype == U8 ? ((const uint8_t *)labels)[i] : ((const int32_t *)labels)[i];
}

// A row without a label of its own does not count.
static bool has_label(const struct cpu_step *s, int64_t i, int64_t k)
{
    int64_t label = label_of(cpu_in(s, 1), s->in[1], i);
    return label >= 0 && label < k;
}

static int64_t labelled_rows(const struct cpu_step *s)
{
    const struct shape *x = &cpu_in(s, 0)->shape;
    int64_t rows = shape_rows(x), count = 0;
    for (int64_t i = 0; i < rows; i++) count += has_label(s, i, shape_last(x));
    return count > 0 ? count : 1;
}

static void xent_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct rows *o = context;
    const struct cpu_step *s = o->step;
    enum dtype t = cpu_in(s, 0)->dtype;
    double smooth = s->node->attr.loss.smoothing;
    float *scratch = o->scratch + 2 * o->k * thread;
    for (int64_t i = first; i < end; i++) {
        float *row = s->out[1] ? (float *)s->out[1] + i * o->k : scratch;
        int64_t label = label_of(cpu_in(s, 1), s->in[1], i);
        s->cpu->loops->widen(t, cpu_at(t, s->in[0], i * o->k), row, o->k);
        bool counts = has_label(s, i, o->k);
        double sum = 0, own = counts ? row[label] : 0;
        for (int64_t j = 0; j < o->k; j++) sum += row[j];
        double log_sum = softmax_row(s->cpu->loops, row, o->k);
        o->loss[i] = counts ? (1 - smooth) * (log_sum - own) + smooth * (log_sum - sum / (double)o->k) : 0;
    }
}

static int xent_run(struct cpu_step *s)
{
    struct rows o;
    begin_rows(&o, s);
    for_rows(&o, xent_piece);
    int64_t rows = shape_rows(&cpu_in(s, 0)->shape);
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) sum += o.loss[i];
    if (s->out[0]) *(float *)s->out[0] = (float)(s->node->attr.loss.mean ? sum / (double)labelled_rows(s) : sum);
    return 0;
}

static void xent_grad_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct rows *o = context;
    const struct cpu_step *s = o->step;
    const struct loss_attr *a = &s->node->attr.loss;
    enum dtype t = cpu_out(s, 0)->dtype;
    float *row = o->scratch + 2 * o->k * thread, even = a->smoothing / (float)o->k;
    float factor = *(const float *)s->in[2];
    if (a->mean) factor /= (float)labelled_rows(s);
    for (int64_t i = first; i < end; i++) {
        const float *p = (const float *)s->in[0] + i * o->k;
        int64_t label = label_of(cpu_in(s, 1), s->in[1], i);
        float own = has_label(s, i, o->k) ? factor : 0.0f;
        for (int64_t j = 0; j < o->k; j++) row[j] = (p[j] - (j == label ? 1.0f - a->smoothing + even : even)) * own;
        s->cpu->loops->narrow(t, row, cpu_at(t, s->out[0], i * o->k), o->k);
    }
}

static int xent_grad_run(struct cpu_step *s)
{
    struct rows o;
    begin_rows(&o, s);
    if (s->out[0]) for_rows(&o, xent_grad_piece);
    return 0;
}

// ---- metrics
static void correct_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct rows *o = context;
    const struct cpu_step *s = o->step;
    enum dtype t = cpu_in(s, 0)->dtype;
    float *row = o->scratch + 2 * o->k * thread;
    for (int64_t i = first; i < end; i++) {
        int64_t label = label_of(cpu_in(s, 1), s->in[1], i), above = 0;
        o->loss[i] = 0;
        if (label < 0 || label >= o->k) continue;
        s->cpu->loops->widen(t, cpu_at(t, s->in[0], i * o->k), row, o->k);
        if (isnan(row[label])) continue;  // NaN is never correct
        for (int64_t j = 0; j < o->k; j++) above += row[j] > row[label] || (row[j] == row[label] && j < label);
        o->loss[i] = above < s->node->attr.loss.k;
    }
}

static int correct_run(struct cpu_step *s)
{
    struct rows o;
    begin_rows(&o, s);
    for_rows(&o, correct_piece);
    int64_t rows = shape_rows(&cpu_in(s, 0)->shape);
    double hits = 0;
    for (int64_t i = 0; i < rows; i++) hits += o.loss[i];
    *(int32_t *)s->out[0] = *(const int32_t *)s->in[2] + (int32_t)hits;
    return 0;
}

static int accumulate_run(struct cpu_step *s)
{
    const struct value *total = cpu_in(s, 0), *x = cpu_in(s, 1);
    double more = element_get(x->dtype, s->in[1], 0);
    if (total->dtype == F32)
        *(float *)s->out[0] = *(const float *)s->in[0] + (float)more;
    else
        element_set(total->dtype, s->out[0], 0, element_get(total->dtype, s->in[0], 0) + more);
    return 0;
}

CPU_PREPARE(softmax)
CPU_PREPARE(softmax_grad)
CPU_PREPARE(xent)
CPU_PREPARE(xent_grad)
CPU_PREPARE(correct)
CPU_PREPARE(accumulate)
const struct cpu_op cpu_softmax = {.workspace = rows_workspace, .prepare = softmax_prepare};
const struct cpu_op cpu_softmax_grad = {.workspace = rows_workspace, .prepare = softmax_grad_prepare};
const struct cpu_op cpu_xent = {.workspace = rows_workspace, .prepare = xent_prepare};
const struct cpu_op cpu_xent_grad = {.workspace = rows_workspace, .prepare = xent_grad_prepare};
const struct cpu_op cpu_correct = {.workspace = rows_workspace, .prepare = correct_prepare};
const struct cpu_op cpu_accumulate = {.prepare = accumulate_prepare};
