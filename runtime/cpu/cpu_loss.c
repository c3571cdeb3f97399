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

// A row of logits passes through the first cache in chunks: read once forward and once backward, for any number of classes.
enum { XENT_CHUNK = 4096, XENT_KEPT = 3 };

struct xent {
    struct cpu_step *step;
    int64_t rows, k, chunk;
    bool soft;               // targets are probabilities
    float *scratch;          // a chunk per thread
    double *loss, *counted;  // of each row; its weight if it counts, else 0
};

static size_t carve_xent(struct xent *o, void *base, const struct value *x, int threads)
{
    struct cpu_scratch s = {.base = base};
    o->rows = shape_rows(&x->shape), o->k = shape_last(&x->shape);
    o->chunk = o->k < XENT_CHUNK ? o->k : XENT_CHUNK;
    o->scratch = cpu_take(&s, o->chunk * threads, sizeof(float));
    o->loss = cpu_take(&s, o->rows, sizeof(double));
    o->counted = cpu_take(&s, o->rows, sizeof(double));
    return s.used;
}

static size_t xent_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return carve_xent(&(struct xent){0}, NULL, node_in(g, n, 0), cpu->threads);
}

static void begin_xent(struct xent *o, struct cpu_step *s)
{
    *o = (struct xent){.step = s, .soft = cpu_in(s, 1)->dtype == F32};
    carve_xent(o, s->work, cpu_in(s, 0), s->cpu->threads);
}

// The label of a row; -1 if it has none of its own or probabilities instead.
static int64_t label_in(const struct xent *o, int64_t row)
{
    int64_t label = o->soft ? -1 : label_of(cpu_in(o->step, 1), o->step->in[1], row);
    return label < o->k ? label : -1;
}

struct xent_sums {
    float top;
    double power, flat, dot, total;  // of e^(x - top), x, x times target, target
};

static void add_chunk(const struct xent *o, struct xent_sums *a, int64_t begin, int64_t n, float *scratch)
{
    const struct cpu_step *s = o->step;
    const enum dtype t = cpu_in(s, 0)->dtype;
    const void *x = cpu_at(t, s->in[0], begin);
    const float *target = o->soft ? (const float *)s->in[1] + begin : NULL;
    if (o->soft) s->cpu->loops->widen(t, x, scratch, n);
    for (int64_t i = 0; o->soft && i < n; i++) a->dot += (double)target[i] * (double)scratch[i], a->total += (double)target[i];
    float top = a->top;
    double flat = 0;
    s->cpu->loops->top_sum(t, x, n, &top, &flat);
    if (s->node->attr.loss.smoothing > 0) a->flat += flat;  // else it may be infinite: 0 times it is no number
    a->power *= a->power > 0 ? exp((double)a->top - (double)top) : 1;
    a->top = top;
    s->cpu->loops->exp_sum(t, x, n, top, NULL, &a->power);
}

static void xent_row(const struct xent *o, int64_t row, float *scratch)
{
    const struct cpu_step *s = o->step;
    const enum dtype t = cpu_in(s, 0)->dtype;
    const int64_t label = label_in(o, row), begin = row * o->k;
    const double smooth = s->node->attr.loss.smoothing, weight = s->in[2] ? ((const float *)s->in[2])[row] : 1;
    struct xent_sums a = {.top = (float)element_get(t, s->in[0], begin), .total = label >= 0};
    for (int64_t at = 0, n; at < o->k; at += n) {
        n = o->k - at < o->chunk ? o->k - at : o->chunk;
        add_chunk(o, &a, begin + at, n, scratch);
    }
    double log_sum = (double)a.top + log(a.power), even = log_sum - a.flat / (double)o->k;
    double own = o->soft ? a.total * log_sum - a.dot : label >= 0 ? log_sum - element_get(t, s->in[0], begin + label) : 0;
    o->counted[row] = a.total != 0 ? weight : 0;
    o->loss[row] = a.total != 0 ? ((1 - smooth) * own + smooth * a.total * even) * weight : 0;
    float *kept = s->out[3];
    if (kept) kept[XENT_KEPT * row] = a.top, kept[XENT_KEPT * row + 1] = (float)(1 / a.power);
    if (kept) kept[XENT_KEPT * row + 2] = (float)a.total;
}

static void xent_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct xent *o = context;
    for (int64_t i = first; i < end; i++) xent_row(o, i, o->scratch + o->chunk * thread);
}

static int xent_run(struct cpu_step *s)
{
    struct xent o;
    begin_xent(&o, s);
    threads_for(o.rows, cpu_grain(4 * o.k), xent_piece, &o);
    double sum = 0, count = 0;
    for (int64_t i = 0; i < o.rows; i++) sum += o.loss[i], count += o.counted[i];
    for (int64_t i = 0; i < o.rows && s->out[1]; i++) ((float *)s->out[1])[i] = (float)o.loss[i];
    if (s->out[0]) *(float *)s->out[0] = (float)(s->node->attr.loss.mean && count != 0 ? sum / count : sum);
    if (s->out[2]) *(float *)s->out[2] = (float)count;
    return 0;
}

// The gradient of row `row` with respect to its loss.
static float xent_factor(const struct xent *o, int64_t row, float total)
{
    const struct cpu_step *s = o->step;
    const float *count = s->in[3], *dloss = s->in[5], *drows = s->in[6], *weight = s->in[2];
    if (o->soft ? total == 0 : label_in(o, row) < 0) return 0;
    float factor = dloss ? *dloss : 0;
    if (s->node->attr.loss.mean && *count != 0) factor /= *count;
    if (drows) factor += drows[row];
    return weight ? factor * weight[row] : factor;
}

// With targets, the gradient of a chunk that has none is corrected in f32.
static void soften_chunk(const struct xent *o, const struct xent_rates *r, int64_t begin, int64_t n, float *scratch)
{
    const struct cpu_step *s = o->step;
    const enum dtype t = cpu_in(s, 0)->dtype;
    const float *target = (const float *)s->in[1] + begin, own = 1 - s->node->attr.loss.smoothing;
    s->cpu->loops->widen(t, cpu_at(t, s->in[0], begin), scratch, n);
    s->cpu->loops->xent_back(F32, scratch, n, r, scratch);
    for (int64_t j = 0; j < n; j++) scratch[j] -= own * target[j] * r->factor;
    s->cpu->loops->narrow(t, scratch, cpu_at(t, s->out[0], begin), n);
}

static void xent_grad_row(const struct xent *o, int64_t row, float *scratch)
{
    const struct cpu_step *s = o->step;
    const enum dtype t = cpu_in(s, 0)->dtype;
    const float smooth = s->node->attr.loss.smoothing, *kept = (const float *)s->in[4] + XENT_KEPT * row;
    const float total = o->soft ? kept[2] : 1, even = smooth / (float)o->k * total, factor = xent_factor(o, row, total);
    const int64_t label = label_in(o, row), begin = row * o->k;
    struct xent_rates r = {kept[0], kept[1] * total, even, factor};
    for (int64_t at = 0, n; at < o->k && o->soft; at += n) {
        n = o->k - at < o->chunk ? o->k - at : o->chunk;
        soften_chunk(o, &r, begin + at, n, scratch);
    }
    if (o->soft) return;
    struct xent_rates own = {r.shift, r.share, even + (1 - smooth), factor};
    char slope[sizeof(float)];  // of the label, whose logit the gradient of the row may overwrite
    if (label >= 0) s->cpu->loops->xent_back(t, cpu_at(t, s->in[0], begin + label), 1, &own, slope);
    s->cpu->loops->xent_back(t, cpu_at(t, s->in[0], begin), o->k, &r, cpu_at(t, s->out[0], begin));
    if (label >= 0) memcpy(cpu_at(t, s->out[0], begin + label), slope, dtype_size(t));
}

static void xent_grad_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct xent *o = context;
    for (int64_t i = first; i < end; i++) xent_grad_row(o, i, o->scratch + o->chunk * thread);
}

static int xent_grad_run(struct cpu_step *s)
{
    struct xent o;
    begin_xent(&o, s);
    if (s->out[0]) threads_for(o.rows, cpu_grain(4 * o.k), xent_grad_piece, &o);
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
const struct cpu_op cpu_xent = {.workspace = xent_workspace, .prepare = xent_prepare};
const struct cpu_op cpu_xent_grad = {.workspace = xent_workspace, .prepare = xent_grad_prepare};
const struct cpu_op cpu_correct = {.workspace = rows_workspace, .prepare = correct_prepare};
const struct cpu_op cpu_accumulate = {.prepare = accumulate_prepare};
