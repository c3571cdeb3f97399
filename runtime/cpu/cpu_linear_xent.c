// SPDX-License-Identifier: Apache-2.0
// An output layer and its cross-entropy, some rows at a time: a product makes their logits, each row becomes a loss and, in the
// same place, the gradient of that loss, and two more products take these to dx and dw. Products are oneDNN's, as of MATMUL.
// A piece has as many rows as fit into the bytes of the node, because each reads and writes the whole of dw. The workspace also
// holds w rounded to 16 bits, as MATMUL's does, a row's exponentials for each thread, and oneDNN's scratch. Rows of logits are
// dense: with rows further apart oneDNN holds f32 sums of all of them, and 4,096 x 65 in bf16 took a sixth longer.
#include "runtime/cpu/cpu_work.h"
#include "runtime/cpu/product/dnnl_prim.h"
#include "runtime/cpu/product/widen.h"

#include <math.h>
#include <stdlib.h>

enum { X, W, LABELS, BIAS, WEIGHTS };
enum { LOSS, ROWS, COUNT, HIT, DX, DW, DBIAS };
enum { TO_LOGITS, TO_DX, TO_DW, PRODUCTS };
// The first piece of rows writes dw, all others add to it, and the last one may be shorter.
enum { FIRST, MIDDLE, LAST, PIECES };

struct linear {
    struct cpu_step *step;
    enum dtype type;         // that products are computed in
    bool wanted[PRODUCTS];
    int64_t rows, classes, channels;
    int64_t piece, pieces;   // rows of a piece
    struct dnnl_prim product[PIECES][PRODUCTS];
    void *logits, *w, *x, *dx, *scratch;     // w, x, dx: copies in `type`, if the stored ones have another
    float *power;            // e^(z - top) of a row of each thread, rows `padded` apart
    int64_t padded;
    double *loss, *counted;  // of each row; its weight if it counts, else 0
    size_t scratch_bytes, bytes;
    int64_t first, count;    // rows of the piece that is computed now
};

static void linear_end(struct linear *o)
{
    for (int p = 0; p < PIECES; p++)
        for (int i = 0; i < PRODUCTS; i++) dnnl_prim_end(&o->product[p][i]);
}

static int64_t rows_of(const struct linear *o, int p)
{
    return p == LAST ? o->rows - (o->pieces - 1) * o->piece : o->piece;
}

// Which product a piece of rows uses.
static int part_of(const struct linear *o, int64_t piece) { return piece == 0 ? FIRST : piece == o->pieces - 1 ? LAST : MIDDLE; }

static void size_linear(struct linear *o, const struct graph *g, const struct node *n)
{
    const struct value *x = node_in(g, n, X), *w = node_in(g, n, W);
    o->type = widen_type(x->dtype);
    o->rows = shape_rows(&x->shape), o->classes = w->shape.dim[0], o->channels = w->shape.dim[1];
    o->padded = loops_lanes(o->classes);
    o->wanted[TO_LOGITS] = true, o->wanted[TO_DX] = n->out[DX] != NONE, o->wanted[TO_DW] = n->out[DW] != NONE;
    int64_t most = n->attr.linear_xent.bytes / (o->classes * (int64_t)dtype_size(o->type));
    most = most < 1 ? 1 : most < o->rows ? most : o->rows;
    o->pieces = (o->rows + most - 1) / most;
    o->piece = (o->rows + o->pieces - 1) / o->pieces;
    o->pieces = (o->rows + o->piece - 1) / o->piece;
}

static int describe_product(struct cpu_device *cpu, struct linear *o, int p, int product)
{
    const int64_t rows = rows_of(o, p), v = o->classes, c = o->channels;
    const struct dnnl_array x = {o->type, 2, {rows, c}, {c, 1}}, z = {o->type, 2, {rows, v}, {v, 1}};
    const struct dnnl_array w = {o->type, 2, {v, c}, {c, 1}}, dw = {F32, 2, {v, c}, {c, 1}};
    const struct dnnl_array w_turned = {o->type, 2, {c, v}, {1, c}}, z_turned = {o->type, 2, {v, rows}, {1, v}};
    struct dnnl_prim *prim = &o->product[p][product];
    if (product == TO_LOGITS) return dnnl_prim_matmul(cpu, prim, &x, &w_turned, &z, (struct dnnl_adding){1, 0, false});
    if (product == TO_DX) return dnnl_prim_matmul(cpu, prim, &z, &w, &x, (struct dnnl_adding){1, 0, false});
    return dnnl_prim_matmul(cpu, prim, &z_turned, &x, &dw, (struct dnnl_adding){1, p == FIRST ? 0 : 1, false});
}

static int describe_products(struct cpu_device *cpu, struct linear *o)
{
    for (int p = 0; p < PIECES; p++)
        for (int i = 0; i < PRODUCTS; i++) {
            if (!o->wanted[i] || (p == LAST && o->pieces < 2) || (p == MIDDLE && o->pieces < 3)) continue;
            TRY(describe_product(cpu, o, p, i));
            if (o->product[p][i].scratch > o->scratch_bytes) o->scratch_bytes = o->product[p][i].scratch;
        }
    return 0;
}

static void carve_linear(struct linear *o, const struct graph *g, const struct node *n, int threads, void *base)
{
    struct cpu_scratch s = {.base = base};
    const int64_t size = (int64_t)dtype_size(o->type);
    const bool widens = node_in(g, n, X)->dtype != o->type;
    o->logits = cpu_take(&s, o->piece * o->classes, (size_t)size);
    o->power = cpu_take(&s, o->padded * threads, sizeof(float));
    o->loss = cpu_take(&s, o->rows, sizeof(double));
    o->counted = cpu_take(&s, o->rows, sizeof(double));
    if (node_in(g, n, X)->dtype != F32) o->w = cpu_take(&s, o->classes * o->channels, (size_t)size);
    if (widens) o->x = cpu_take(&s, o->piece * o->channels, (size_t)size);
    if (widens) o->dx = cpu_take(&s, o->piece * o->channels, (size_t)size);
    o->scratch = cpu_take(&s, (int64_t)o->scratch_bytes, 1);
    o->bytes = s.used;
}

static int linear_new(struct cpu_device *cpu, const struct graph *g, const struct node *n, struct linear *o)
{
    memset(o, 0, sizeof *o);
    size_linear(o, g, n);
    int rc = describe_products(cpu, o);
    if (rc < 0) linear_end(o);
    else carve_linear(o, g, n, cpu->threads, NULL);
    return rc;
}

static int linear_xent_supports(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct linear o;
    TRY(linear_new(cpu, g, n, &o));
    linear_end(&o);
    return 0;
}

static size_t linear_xent_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct linear o;
    if (linear_new(cpu, g, n, &o) < 0) return 0;  // prepare fails with the same error
    linear_end(&o);
    return o.bytes;
}

// ---- one row: its loss, then its gradient in the place of its logits
static int64_t label_of(const struct linear *o, int64_t row)
{
    const struct cpu_step *s = o->step;
    const void *labels = s->in[LABELS];
    int64_t label = cpu_in(s, LABELS)->dtype == U8 ? ((const uint8_t *)labels)[row] : ((const int32_t *)labels)[row];
    return label < o->classes ? label : -1;
}

struct sums {
    float top;
    double power, flat;  // of e^(z - top), z
};

static struct sums sums_of(const struct linear *o, const void *z, float *power)
{
    const struct loops *loops = o->step->cpu->loops;
    struct sums a = {.top = (float)element_get(o->type, z, 0)};
    loops->top_sum(o->type, z, o->classes, &a.top, &a.flat);
    loops->exp_sum(o->type, z, o->classes, a.top, power, &a.power);
    if (o->step->node->attr.linear_xent.smoothing == 0) a.flat = 0;  // it may be infinite: 0 times it is no number
    return a;
}

// The label has the largest logit, and no class before it an equal one.
static bool is_hit(const struct linear *o, const void *z, int64_t label, float top)
{
    const float own = (float)element_get(o->type, z, label);
    float before = -INFINITY;
    double sum = 0;
    if (!(own >= top)) return false;
    o->step->cpu->loops->top_sum(o->type, z, label, &before, &sum);
    return label == 0 || before < own;
}

// The gradient of the label is 1 less, of which smoothing spreads a part over all classes.
static void row_back(const struct linear *o, void *z, int64_t label, const struct xent_rates *r, float *power)
{
    const struct loops *loops = o->step->cpu->loops;
    const struct linear_xent_attr *a = &o->step->node->attr.linear_xent;
    power[label] -= (1 - a->smoothing) / r->share;
    loops->xent_slopes(a->cap > 0 ? F32 : o->type, power, o->classes, r, a->cap > 0 ? power : z);
    if (a->cap > 0) loops->cap_back(o->type, power, o->classes, a->cap, z);
}

static void linear_row(const struct linear *o, int64_t row, float *power)
{
    const struct cpu_step *s = o->step;
    const struct linear_xent_attr *a = &s->node->attr.linear_xent;
    void *z = cpu_at(o->type, o->logits, (row - o->first) * o->classes);
    const int64_t label = label_of(o, row);
    const bool back = s->out[DX] || s->out[DW] || s->out[DBIAS];
    const float weight = s->in[WEIGHTS] ? ((const float *)s->in[WEIGHTS])[row] : 1;
    o->loss[row] = o->counted[row] = 0;
    if (s->out[HIT]) ((float *)s->out[HIT])[row] = 0;
    if (label < 0 && back) memset(z, 0, (size_t)o->classes * dtype_size(o->type));
    if (label < 0) return;
    if (s->in[BIAS] || a->cap > 0) s->cpu->loops->logits(o->type, z, o->classes, s->in[BIAS], a->cap);
    struct sums sum = sums_of(o, z, power);
    double log_sum = (double)sum.top + log(sum.power), even = log_sum - sum.flat / (double)o->classes;
    double own = log_sum - element_get(o->type, z, label), smooth = (double)a->smoothing;
    o->loss[row] = ((1 - smooth) * own + (smooth > 0 ? smooth * even : 0)) * (double)weight;
    o->counted[row] = (double)weight;
    if (s->out[HIT]) ((float *)s->out[HIT])[row] = is_hit(o, z, label, sum.top);
    if (back)
        row_back(o, z, label, &(struct xent_rates){sum.top, (float)(1 / sum.power), a->smoothing / (float)o->classes, weight},
                 power);
}

static void linear_rows(void *context, int64_t first, int64_t end, int thread)
{
    const struct linear *o = context;
    for (int64_t i = first; i < end; i++)
        linear_row(o, o->first + i, o->power + thread * o->padded);
}

// dbias of some classes: rows are added in their order, so the split over threads does not matter.
static void bias_piece(void *context, int64_t first, int64_t end, int thread)
{
    (void)thread;
    const struct linear *o = context;
    const struct loops *loops = o->step->cpu->loops;
    float *dbias = o->step->out[DBIAS];
    if (o->first == 0) memset(dbias + first, 0, (size_t)(end - first) * sizeof *dbias);
    for (int64_t i = 0; i < o->count; i++)
        loops->add_scaled(o->type, cpu_at(o->type, o->logits, i * o->classes + first), end - first, 1, dbias + first);
}

// ---- all rows
static int multiply(struct linear *o, int part, int product, const void *a, const void *b, void *y)
{
    struct cpu_device *cpu = o->step->cpu;
    struct dnnl_prim *prim = &o->product[part][product];
    TRY(dnnl_prim_bind(cpu, prim, DNNL_ARG_SRC, (void *)(uintptr_t)a));
    TRY(dnnl_prim_bind(cpu, prim, DNNL_ARG_WEIGHTS, (void *)(uintptr_t)b));
    TRY(dnnl_prim_bind(cpu, prim, DNNL_ARG_DST, y));
    return dnnl_prim_run(cpu, prim);
}

static int run_piece(struct linear *o, int64_t piece)
{
    const struct cpu_step *s = o->step;
    const struct loops *loops = s->cpu->loops;
    const enum dtype stored = cpu_in(s, X)->dtype;
    const int part = part_of(o, piece);
    const void *w = o->w ? o->w : s->in[W];
    o->first = piece * o->piece, o->count = rows_of(o, part);
    void *x = cpu_at(stored, s->in[X], o->first * o->channels), *to = cpu_at(stored, s->out[DX], o->first * o->channels);
    if (o->x) cpu_convert(loops, stored, x, o->type, o->x, o->count * o->channels);
    if (o->x) x = o->x;
    TRY(multiply(o, part, TO_LOGITS, x, w, o->logits));
    threads_for(o->count, cpu_grain(4 * o->classes), linear_rows, o);
    if (s->out[DBIAS]) threads_for(o->classes, cpu_grain(o->count), bias_piece, o);
    if (s->out[DW]) TRY(multiply(o, part, TO_DW, o->logits, x, s->out[DW]));
    if (!s->out[DX]) return 0;
    TRY(multiply(o, part, TO_DX, o->logits, w, o->dx ? o->dx : to));
    if (o->dx) cpu_convert(loops, o->type, o->dx, stored, to, o->count * o->channels);
    return 0;
}

static int linear_xent_run(struct cpu_step *s)
{
    struct linear *o = s->own;
    const int64_t weights = o->classes * o->channels;
    const enum dtype stored = cpu_in(s, X)->dtype;
    if (stored == BF16) cpu_convert(s->cpu->loops, F32, s->in[W], BF16, o->w, weights);
    if (stored == F16) widen_round(s->cpu->loops, s->in[W], o->w, weights);
    for (int64_t i = 0; i < o->pieces; i++) TRY(run_piece(o, i));
    double sum = 0, count = 0;
    for (int64_t i = 0; i < o->rows; i++) sum += o->loss[i], count += o->counted[i];
    for (int64_t i = 0; i < o->rows && s->out[ROWS]; i++) ((float *)s->out[ROWS])[i] = (float)o->loss[i];
    if (s->out[LOSS]) *(float *)s->out[LOSS] = (float)(s->node->attr.linear_xent.mean && count != 0 ? sum / count : sum);
    if (s->out[COUNT]) *(float *)s->out[COUNT] = (float)count;
    return 0;
}

static void linear_xent_release(struct cpu_step *s)
{
    linear_end(s->own);
    free(s->own);
    s->own = NULL;
}

static int linear_xent_prepare(struct cpu_step *s)
{
    struct linear *o = zalloc(sizeof *o);
    int rc = linear_new(s->cpu, s->graph, s->node, o);
    if (rc < 0) {
        free(o);
        return rc;
    }
    BUG_IF(o->bytes > s->work_bytes);
    carve_linear(o, s->graph, s->node, s->cpu->threads, s->work);
    o->step = s;
    s->own = o, s->release = linear_xent_release, s->run = linear_xent_run;
    for (int p = 0; p < PIECES; p++)
        for (int i = 0; i < PRODUCTS; i++) {
            struct dnnl_prim *prim = &o->product[p][i];
            if (!prim->desc) continue;
            if (prim->scratch) TRY(dnnl_prim_bind(s->cpu, prim, DNNL_ARG_SCRATCHPAD, o->scratch));
            TRY(dnnl_prim_build(prim));
        }
    return 0;
}

// ---- the gradients, times the loss's gradient
struct scaling {
    struct cpu_step *step;
    float factor;
};

static void scale_piece(void *context, int64_t first, int64_t end, int thread)
{
    (void)thread;
    const struct scaling *o = context;
    const struct cpu_step *s = o->step;
    const enum dtype t = cpu_in(s, 0)->dtype;
    s->cpu->loops->scale(t, cpu_at(t, s->in[0], first), o->factor, cpu_at(t, s->out[0], first), end - first);
}

static int linear_xent_grad_run(struct cpu_step *s)
{
    const float *count = s->in[2];
    struct scaling o = {s, *(const float *)s->in[1]};
    if (count && *count != 0) o.factor /= *count;
    if (s->out[0] && (o.factor != 1 || s->out[0] != s->in[0]))
        threads_for(cpu_count(cpu_in(s, 0)), CPU_GRAIN, scale_piece, &o);
    return 0;
}

CPU_PREPARE(linear_xent_grad)
const struct cpu_op cpu_linear_xent = {.supports = linear_xent_supports, .workspace = linear_xent_workspace,
                                       .prepare = linear_xent_prepare};
const struct cpu_op cpu_linear_xent_grad = {.prepare = linear_xent_grad_prepare};
