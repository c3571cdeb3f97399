// SPDX-License-Identifier: Apache-2.0
// Batch norm in its four forms. Forward: one pass for the statistics (including a fused pool), one to normalise and activate.
// Backward: one pass for the two sums, one for dx, which is written once, zeros included.
//
// Statistics are sums of x - shift and its square, shift being the mean of a few rows, so that nothing cancels. Sums are in
// f32 over a block and in double across blocks; threads are added in order. Same number of threads, same bytes.
#include "runtime/cpu/cpu_work.h"

#include <math.h>

enum { BLOCK = 16384, SHIFT_ROWS = 16 };

struct thread_sums {
    float *first, *second;      // width each
    double *total_1, *total_2;  // c each
    void *stage;                // one pooled row
};

struct norm {
    struct cpu_step *step;
    const struct loops *loops;
    const struct norm_attr *attr;
    enum dtype dtype;
    int64_t c, rows;                  // of the normalised tensor
    int64_t h, w, half_h, half_w, n;  // of the unpooled tensor, if there is a pool
    struct period k;
    struct thread_sums *thread;
    int threads;
    const void *dy;
    const void *x;     // the normalised tensor: x, or the pooled x
    const void *full;  // before the pool; NULL: x is pooled already
    const void *shortcut;  // added before the activation; backward, the y of such a norm
    const int32_t *length;  // of the samples, or NULL
    int64_t frame, frames;  // rows per frame, frames per sample
    int64_t count;          // rows that the statistics are of, at least 1
    void *y;
    void *dz;
    uint8_t *at;
};

static void repeat_channels(const struct norm *o, float *x)
{
    for (int64_t i = o->c; i < o->k.width; i++) x[i] = x[i - o->c];
}

// Carves the scratch: `stage` elements per thread for a pooled row, `pooled` elements if the pooled values have no other place.
static size_t carve_norm(struct norm *o, void *base, int64_t c, int threads, int64_t stage, int64_t pooled)
{
    struct cpu_scratch s = {.base = base};
    int64_t width = cpu_period(c);
    float *coefficient[5];
    for (int i = 0; i < 5; i++) coefficient[i] = cpu_take(&s, width, sizeof(float));
    struct thread_sums *thread = cpu_take(&s, threads, sizeof *thread);
    for (int i = 0; i < threads; i++) {
        struct thread_sums t;
        t.first = cpu_take(&s, width, sizeof(float));
        t.second = cpu_take(&s, width, sizeof(float));
        t.total_1 = cpu_take(&s, c, sizeof(double));
        t.total_2 = cpu_take(&s, c, sizeof(double));
        t.stage = cpu_take(&s, stage, sizeof(float));
        if (base) thread[i] = t;
    }
    void *values = cpu_take(&s, pooled, sizeof(float));
    if (!base) return s.used;
    o->c = c, o->threads = threads, o->thread = thread;
    o->k = (struct period){width, coefficient[0], coefficient[1], coefficient[2], coefficient[3], coefficient[4]};
    if (pooled) o->y = values;
    for (int i = 0; i < threads; i++) {
        memset(thread[i].first, 0, (size_t)width * sizeof(float));
        memset(thread[i].second, 0, (size_t)width * sizeof(float));
        memset(thread[i].total_1, 0, (size_t)c * sizeof(double));
        memset(thread[i].total_2, 0, (size_t)c * sizeof(double));
    }
    return s.used;
}

static void begin_norm(struct norm *o, struct cpu_step *s, const struct value *x)
{
    o->step = s, o->loops = s->cpu->loops, o->attr = &s->node->attr.norm, o->dtype = x->dtype;
    carve_norm(o, s->work, shape_last(&x->shape), s->cpu->threads, 0, 0);
    o->rows = o->count = shape_rows(&x->shape);
}

static int64_t frames_of(const struct norm *o, int64_t sample)
{
    int64_t n = o->length[sample];
    return n < 0 ? 0 : n > o->frames ? o->frames : n;
}

static void take_lengths(struct norm *o, const int32_t *length)
{
    const struct shape *x = &cpu_in(o->step, 0)->shape;
    if (!length) return;
    o->length = length, o->frames = x->dim[1], o->frame = o->rows / (x->dim[0] * x->dim[1]), o->count = 0;
    for (int64_t i = 0; i < x->dim[0]; i++) o->count += frames_of(o, i) * o->frame;
    if (o->count == 0) o->count = 1;
}

// The end of the adjacent rows from *first on that count, below `end`. *first moves past rows that do not; rows of `zero`, or
// NULL, become zeros there.
static int64_t next_run(const struct norm *o, int64_t *first, int64_t end, void *zero)
{
    if (!o->length) return end;
    for (int64_t each = o->frames * o->frame; *first < end;) {
        int64_t sample = *first / each, stop = sample * each + frames_of(o, sample) * o->frame, next = (sample + 1) * each;
        if (*first < stop) return stop < end ? stop : end;
        if (next > end) next = end;
        if (zero) memset(cpu_at(o->dtype, zero, *first * o->c), 0, (size_t)((next - *first) * o->c) * dtype_size(o->dtype));
        *first = next;
    }
    return end;
}

static void flush_sums(const struct norm *o, int thread)
{
    const struct thread_sums *t = &o->thread[thread];
    o->loops->flush(t->first, t->total_1, o->k.width, o->c);
    o->loops->flush(t->second, t->total_2, o->k.width, o->c);
}

static int64_t block_rows(int64_t c)
{
    return c >= BLOCK ? 1 : BLOCK / c;
}

// Sets the origin of the sums, k.mean: the mean of the first rows, rounded to a few bits. With a full mantissa all differences
// would share their low bits, and all additions the same rounding error.
static void find_shift(const struct norm *o, const void *x, int64_t rows)
{
    rows = rows < SHIFT_ROWS ? rows : SHIFT_ROWS;
    memset(o->k.mean, 0, (size_t)o->c * sizeof(float));
    for (int64_t i = 0; i < rows; i++)
        o->loops->add_scaled(o->dtype, cpu_at(o->dtype, x, i * o->c), o->c, 1.0f / (float)rows, o->k.mean);
    for (int64_t c = 0; c < o->c; c++) o->k.mean[c] = bf16_to_f32(f32_to_bf16(o->k.mean[c]));
    repeat_channels(o, o->k.mean);
}

static void sums_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct norm *o = context;
    int64_t step = block_rows(o->c), rows;
    for (int64_t i = first, stop; stop = next_run(o, &i, end, NULL), i < end; i += rows) {
        rows = stop - i < step ? stop - i : step;
        o->loops->sums(o->dtype, cpu_at(o->dtype, o->x, i * o->c), rows * o->c, &o->k, o->thread[thread].first,
                       o->thread[thread].second);
        flush_sums(o, thread);
    }
}

static void pool_row(const struct norm *o, int64_t r)
{
    int64_t row = o->half_w * o->c, line = o->w * o->c;
    const void *x0 = cpu_at(o->dtype, o->full, (r / o->half_h * o->h + r % o->half_h * 2) * line);
    o->loops->pool2(o->dtype, x0, cpu_at(o->dtype, x0, line), o->half_w, o->c, cpu_at(o->dtype, o->x, r * row),
                    o->at ? o->at + r * row : NULL);
}

// A row is one row of pooled pixels.
static void pool_sums_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct norm *o = context;
    int64_t row = o->half_w * o->c, step = block_rows(row);
    for (int64_t i = first; i < end; i += step) {
        int64_t stop = end - i < step ? end : i + step;
        for (int64_t r = i; o->full && r < stop; r++) pool_row(o, r);
        o->loops->sums(o->dtype, cpu_at(o->dtype, o->x, i * row), (stop - i) * row, &o->k, o->thread[thread].first,
                       o->thread[thread].second);
        flush_sums(o, thread);
    }
}

static double total_of(const struct norm *o, int which, int64_t c)
{
    double sum = 0;
    for (int i = 0; i < o->threads; i++) sum += which ? o->thread[i].total_2[c] : o->thread[i].total_1[c];
    return sum;
}

static void scale_and_bias(const struct norm *o, const float *scale, const float *bias, int64_t c, float rstd)
{
    o->k.a[c] = scale ? scale[c] * rstd : rstd;
    o->k.b[c] = bias ? bias[c] : 0.0f;
}

// Computes statistics, running statistics and the coefficients of the second pass from the sums. `run` is the output index of
// the running mean.
static void finish_statistics(const struct norm *o, int run)
{
    struct cpu_step *s = o->step;
    float *mean = s->out[1], *rstd = s->out[2], *run_mean = s->out[run], *run_var = s->out[run + 1];
    const float *old_mean = s->in[1], *old_var = s->in[2];
    double n = (double)o->count, keep = o->attr->momentum;
    for (int64_t c = 0; c < o->c; c++) {
        double d = total_of(o, 0, c) / n, m = o->k.mean[c] + d, v = total_of(o, 1, c) / n - d * d;
        if (v < 0) v = 0;
        double r = 1.0 / sqrt(v + (double)o->attr->eps);
        if (mean) mean[c] = (float)m;
        if (rstd) rstd[c] = (float)r;
        if (run_mean) run_mean[c] = (float)(keep * old_mean[c] + (1 - keep) * m);
        if (run_var) run_var[c] = (float)(keep * old_var[c] + (1 - keep) * v * (n > 1 ? n / (n - 1) : 1));
        o->k.mean[c] = (float)m;
        scale_and_bias(o, s->in[3], s->in[4], c, (float)r);
    }
    repeat_channels(o, o->k.mean), repeat_channels(o, o->k.a), repeat_channels(o, o->k.b);
}

static void apply_piece(void *context, int64_t first, int64_t end, int thread)
{
    (void)thread;
    const struct norm *o = context;
    if (o->shortcut) {
        o->loops->apply_add(o->dtype, o->attr->act == ACT_RELU, cpu_at(o->dtype, o->x, first * o->c),
                            cpu_at(o->dtype, o->shortcut, first * o->c), (end - first) * o->c, &o->k,
                            cpu_at(o->dtype, o->y, first * o->c));
        return;
    }
    for (int64_t i = first, stop; stop = next_run(o, &i, end, o->y), i < end; i = stop)
        o->loops->apply(o->dtype, o->attr->act, cpu_at(o->dtype, o->x, i * o->c), (stop - i) * o->c, &o->k,
                        cpu_at(o->dtype, o->y, i * o->c));
}

static int norm_run(struct cpu_step *s)
{
    const struct value *x = cpu_in(s, 0);
    struct norm o = {.x = s->in[0], .shortcut = s->in[5], .y = s->out[0]};
    begin_norm(&o, s, x);
    take_lengths(&o, s->in[6]);
    if (o.attr->pooled) {
        o.half_w = x->shape.dim[2];
        find_shift(&o, o.x, o.half_w);
        threads_for(x->shape.dim[0] * x->shape.dim[1], cpu_grain(o.half_w * o.c), pool_sums_piece, &o);
    } else {
        int64_t first = 0, stop = next_run(&o, &first, o.rows, NULL);
        find_shift(&o, cpu_at(o.dtype, o.x, first * o.c), stop - first);
        threads_for(o.rows, cpu_grain(o.c), sums_piece, &o);
    }
    finish_statistics(&o, 3);
    if (o.y) threads_for(o.rows, cpu_grain(o.c), apply_piece, &o);
    return 0;
}

// Pooled values without a reader are stored in y's buffer, or in scratch if y has no reader either.
static int64_t pooled_scratch(const struct graph *g, const struct node *n)
{
    if (n->out[0] != NONE || n->out[3] != NONE) return 0;
    const int64_t *d = g->value[n->in[0]].shape.dim;
    return d[0] * (d[1] / 2) * (d[2] / 2) * d[3];
}

static void pool_sizes(struct norm *o, const int64_t *d, int64_t h, int64_t w)
{
    o->n = d[0], o->h = h, o->w = w, o->half_h = h / 2, o->half_w = w / 2;
    o->rows = o->count = o->n * o->half_h * o->half_w;
}

static int pool_norm_run(struct cpu_step *s)
{
    const struct value *x = cpu_in(s, 0);
    const int64_t *d = x->shape.dim;
    struct norm o = {.full = s->in[0], .at = s->out[4]};
    begin_norm(&o, s, x);
    carve_norm(&o, s->work, d[3], s->cpu->threads, 0, pooled_scratch(s->graph, s->node));
    pool_sizes(&o, d, d[1], d[2]);
    o.x = s->out[3] ? s->out[3] : s->out[0] ? s->out[0] : o.y;
    o.y = s->out[0];
    pool_row(&o, 0);  // its values give the shift; the sums below compute it again
    find_shift(&o, o.x, o.half_w);
    threads_for(o.n * o.half_h, cpu_grain(o.half_w * o.c), pool_sums_piece, &o);
    finish_statistics(&o, 5);
    if (o.y) threads_for(o.rows, cpu_grain(o.c), apply_piece, &o);
    return 0;
}

// ---- backward
static void back_sums_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct norm *o = context;
    int64_t step = block_rows(o->c), rows;
    for (int64_t i = first, stop; stop = next_run(o, &i, end, NULL), i < end; i += rows) {
        rows = stop - i < step ? stop - i : step;
        o->loops->back_sums(o->dtype, o->attr->act, cpu_at(o->dtype, o->dy, i * o->c), cpu_at(o->dtype, o->x, i * o->c),
                            rows * o->c, &o->k, o->thread[thread].first, o->thread[thread].second);
        flush_sums(o, thread);
    }
}

// The first pass also writes dz = dy * relu'(y), the gradient of the shortcut and the input of the second pass.
static void gate_sums_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct norm *o = context;
    int64_t step = block_rows(o->c);
    for (int64_t i = first; i < end; i += step) {
        int64_t rows = end - i < step ? end - i : step;
        o->loops->gate_sums(o->dtype, cpu_at(o->dtype, o->dy, i * o->c), cpu_at(o->dtype, o->shortcut, i * o->c),
                            cpu_at(o->dtype, o->x, i * o->c), rows * o->c, &o->k,
                            o->dz ? cpu_at(o->dtype, o->dz, i * o->c) : NULL, o->thread[thread].first,
                            o->thread[thread].second);
        flush_sums(o, thread);
    }
}

static void plain_back_piece(void *context, int64_t first, int64_t end, int thread)
{
    (void)thread;
    const struct norm *o = context;
    o->loops->back(o->dtype, ACT_NONE, cpu_at(o->dtype, o->dz, first * o->c), cpu_at(o->dtype, o->x, first * o->c),
                   (end - first) * o->c, &o->k, cpu_at(o->dtype, o->y, first * o->c));
}

static void back_piece(void *context, int64_t first, int64_t end, int thread)
{
    (void)thread;
    const struct norm *o = context;
    for (int64_t i = first, stop; stop = next_run(o, &i, end, o->y), i < end; i = stop)
        o->loops->back(o->dtype, o->attr->act, cpu_at(o->dtype, o->dy, i * o->c), cpu_at(o->dtype, o->x, i * o->c),
                       (stop - i) * o->c, &o->k, cpu_at(o->dtype, o->y, i * o->c));
}

static void pool_back_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct norm *o = context;
    size_t size = dtype_size(o->dtype);
    int64_t row = o->half_w * o->c, line = o->w * o->c;
    size_t odd = (size_t)((o->w - 2 * o->half_w) * o->c) * size;
    void *stage = o->thread[thread].stage;
    for (int64_t r = first; r < end; r++) {
        int64_t py = r % o->half_h;
        char *dx0 = cpu_at(o->dtype, o->y, (r / o->half_h * o->h + py * 2) * line), *dx1 = dx0 + (size_t)line * size;
        o->loops->back(o->dtype, o->attr->act, cpu_at(o->dtype, o->dy, r * row), cpu_at(o->dtype, o->x, r * row), row,
                       &o->k, stage);
        o->loops->unpool2(size, stage, o->at + r * row, o->half_w, o->c, dx0, dx1);
        if (odd) {
            memset(dx0 + (size_t)line * size - odd, 0, odd);
            memset(dx1 + (size_t)line * size - odd, 0, odd);
        }
        if (py == o->half_h - 1 && o->h & 1) memset(dx1 + (size_t)line * size, 0, (size_t)line * size);
    }
}

// Sets the coefficients that recompute z.
static void recall_coefficients(const struct norm *o)
{
    const float *mean = o->step->in[2], *rstd = o->step->in[3];
    memcpy(o->k.mean, mean, (size_t)o->c * sizeof(float));
    for (int64_t c = 0; c < o->c; c++) scale_and_bias(o, o->step->in[4], o->step->in[5], c, rstd[c]);
    repeat_channels(o, o->k.mean), repeat_channels(o, o->k.a), repeat_channels(o, o->k.b);
}

static void finish_back_sums(const struct norm *o)
{
    const float *rstd = o->step->in[3];
    float *dscale = o->step->out[1], *dbias = o->step->out[2];
    double n = (double)o->count;
    for (int64_t c = 0; c < o->c; c++) {
        double sum = total_of(o, 0, c), dot = total_of(o, 1, c) * rstd[c];
        if (dscale) dscale[c] = (float)dot;
        if (dbias) dbias[c] = (float)sum;
        o->k.p[c] = (float)(o->k.a[c] * rstd[c] * dot / n);
        o->k.q[c] = (float)(o->k.a[c] * sum / n);
    }
    repeat_channels(o, o->k.p), repeat_channels(o, o->k.q);
}

static int norm_grad_run(struct cpu_step *s)
{
    struct norm o = {.dy = s->in[0], .x = s->in[1], .y = s->out[0], .shortcut = s->in[6]};
    begin_norm(&o, s, cpu_in(s, 1));
    take_lengths(&o, s->in[7]);
    recall_coefficients(&o);
    o.dz = s->out[3] ? s->out[3] : o.y;  // without a reader it passes through dx
    threads_for(o.rows, cpu_grain(o.c), o.shortcut ? gate_sums_piece : back_sums_piece, &o);
    finish_back_sums(&o);
    if (o.y) threads_for(o.rows, cpu_grain(o.c), o.shortcut ? plain_back_piece : back_piece, &o);
    return 0;
}

static int64_t pool_stage(const struct graph *g, const struct node *n)
{
    const int64_t *d = g->value[n->in[1]].shape.dim;
    return d[2] * d[3];
}

static int pool_norm_grad_run(struct cpu_step *s)
{
    const struct value *pooled = cpu_in(s, 1);
    struct norm o = {.dy = s->in[0], .x = s->in[1], .y = s->out[0], .at = s->in[6]};
    begin_norm(&o, s, pooled);
    carve_norm(&o, s->work, o.c, s->cpu->threads, pool_stage(s->graph, s->node), 0);
    pool_sizes(&o, pooled->shape.dim, o.attr->x_h, o.attr->x_w);
    recall_coefficients(&o);
    threads_for(o.rows, cpu_grain(o.c), back_sums_piece, &o);
    finish_back_sums(&o);
    if (o.y) threads_for(o.n * o.half_h, cpu_grain(o.half_w * o.c), pool_back_piece, &o);
    return 0;
}

// ---- inference
static int norm_infer_run(struct cpu_step *s)
{
    struct norm o = {.x = s->in[0], .y = s->out[0]};
    begin_norm(&o, s, cpu_in(s, 0));
    take_lengths(&o, s->in[5]);
    const float *mean = s->in[1], *var = s->in[2];
    for (int64_t c = 0; c < o.c; c++) {
        o.k.mean[c] = mean[c];
        scale_and_bias(&o, s->in[3], s->in[4], c, (float)(1.0 / sqrt((double)var[c] + (double)o.attr->eps)));
    }
    repeat_channels(&o, o.k.mean), repeat_channels(&o, o.k.a), repeat_channels(&o, o.k.b);
    threads_for(o.rows, cpu_grain(o.c), apply_piece, &o);
    return 0;
}

static int norm_fold_run(struct cpu_step *s)
{
    const struct value *w = cpu_in(s, 0);
    const float *mean = s->in[1], *var = s->in[2], *scale = s->in[3], *bias = s->in[4], *conv_bias = s->in[5];
    const float *from = s->in[0];
    float *to = s->out[0], *to_bias = s->out[1];
    int64_t count = w->shape.dim[0], size = cpu_count(w) / (count ? count : 1);
    for (int64_t k = 0; k < count; k++) {
        double f = (scale ? scale[k] : 1.0) / sqrt((double)var[k] + (double)s->node->attr.norm.eps);
        if (to) s->cpu->loops->scale(F32, from + k * size, (float)f, to + k * size, size);
        if (to_bias) to_bias[k] = (float)(((conv_bias ? conv_bias[k] : 0.0) - mean[k]) * f + (bias ? bias[k] : 0.0));
    }
    return 0;
}

// ---- entries of the table of operators
static size_t norm_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return carve_norm(NULL, NULL, shape_last(&g->value[n->in[0]].shape), cpu->threads, 0, 0);
}

static size_t pool_norm_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return carve_norm(NULL, NULL, shape_last(&g->value[n->in[0]].shape), cpu->threads, 0, pooled_scratch(g, n));
}

static size_t pool_norm_grad_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return carve_norm(NULL, NULL, shape_last(&g->value[n->in[0]].shape), cpu->threads, pool_stage(g, n), 0);
}

CPU_PREPARE(norm)
CPU_PREPARE(norm_grad)
CPU_PREPARE(pool_norm)
CPU_PREPARE(pool_norm_grad)
CPU_PREPARE(norm_infer)
CPU_PREPARE(norm_fold)

const struct cpu_op cpu_norm = {.workspace = norm_workspace, .prepare = norm_prepare};
const struct cpu_op cpu_norm_grad = {.workspace = norm_workspace, .prepare = norm_grad_prepare};
const struct cpu_op cpu_pool_norm = {.workspace = pool_norm_workspace, .prepare = pool_norm_prepare};
const struct cpu_op cpu_pool_norm_grad = {.workspace = pool_norm_grad_workspace, .prepare = pool_norm_grad_prepare};
const struct cpu_op cpu_norm_infer = {.workspace = norm_workspace, .prepare = norm_infer_prepare};
const struct cpu_op cpu_norm_fold = {.prepare = norm_fold_prepare};
