// SPDX-License-Identifier: Apache-2.0
// Layer norm, a few rows at a time in the L1 cache: dropout of x, residual, statistics and result in one pass over memory; the
// same backward. RMS norm of x alone takes many rows at a time. Gradients of scale and bias are summed in f32 over a block of
// rows and in double across blocks; threads are added in order. Same number of threads, same bytes.
#include "runtime/cpu/cpu_work.h"

enum { BLOCK = 32, TOGETHER = 1024 };  // rows; elements

struct thread_rows {
    float *row;                       // of `rows` rows
    float *dscale, *dbias;            // c each
    double *total_scale, *total_bias;
};

struct layer_norm {
    const struct cpu_step *step;
    const struct loops *loops;
    const struct layer_norm_attr *attr;
    enum dtype dtype;
    int64_t c, rows;  // rows that are computed together: a power of two, at most BLOCK
    struct thread_rows *thread;
};

static int64_t rows_together(int64_t c)
{
    int64_t rows = 1;
    while (rows < BLOCK && 2 * rows * c <= TOGETHER) rows *= 2;
    return rows;
}

static size_t carve_rows(struct layer_norm *o, void *base, int64_t c, int threads, bool back)
{
    struct cpu_scratch s = {.base = base};
    struct thread_rows *thread = cpu_take(&s, threads, sizeof *thread);
    for (int i = 0; i < threads; i++) {
        struct thread_rows t = {.row = cpu_take(&s, rows_together(c) * c, sizeof(float))};
        for (int j = 0; j < 2 && back; j++) {
            float *sum = cpu_take(&s, c, sizeof(float));
            double *total = cpu_take(&s, c, sizeof(double));
            if (!base) continue;
            memset(sum, 0, (size_t)c * sizeof(float));
            memset(total, 0, (size_t)c * sizeof(double));
            if (j) t.dbias = sum, t.total_bias = total;
            else t.dscale = sum, t.total_scale = total;
        }
        if (base) thread[i] = t;
    }
    if (base) o->thread = thread;
    return s.used;
}

static size_t layer_norm_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return carve_rows(NULL, NULL, shape_last(&g->value[n->in[0]].shape), cpu->threads, n->op == OP_LAYER_NORM_GRAD);
}

static void begin_layer_norm(struct layer_norm *o, const struct cpu_step *s, bool back)
{
    const struct value *x = cpu_in(s, 0);
    const int64_t c = shape_last(&x->shape);
    *o = (struct layer_norm){s, s->cpu->loops, &s->node->attr.layer_norm, x->dtype, c, rows_together(c), NULL};
    carve_rows(o, s->work, o->c, s->cpu->threads, back);
}

// Drops elements of n rows from row i on, in f32, by the inputs `key` and the next.
static void drop_rows(const struct layer_norm *o, int key, int64_t i, int64_t n, float *row)
{
    const struct cpu_step *s = o->step;
    if (s->in[key])
        o->loops->dropout(F32, row, i * o->c, n * o->c, s->in[key], *(const uint32_t *)s->in[key + 1], o->attr->site, o->attr->p,
                          row);
}

// n rows from row i on, at most `rows`.
static void normalise_rows(const struct layer_norm *o, int64_t i, int64_t n, float *row)
{
    const struct cpu_step *s = o->step;
    enum dtype t = o->dtype;
    float unread[2][BLOCK], *rstds = s->out[3];
    void *y = s->out[0] ? cpu_at(t, s->out[0], i * o->c) : row;
    float *mean = s->out[2] ? (float *)s->out[2] + i : unread[0], *rstd = rstds ? rstds + i : unread[1];
    if (!o->attr->rms)
        o->loops->layer_norm(row, n, o->c, s->in[2], s->in[3], o->attr->eps, s->out[0] ? t : F32, y, mean, rstd);
    else if (s->out[1] || s->out[0])
        o->loops->rms_norm(t, cpu_at(t, s->out[1] ? s->out[1] : s->out[0], i * o->c), n, o->c, s->in[2], o->attr->eps,
                           s->out[0] ? y : NULL, rstd);
    else
        o->loops->rms_norm(F32, row, n, o->c, s->in[2], o->attr->eps, NULL, rstd);
}

static void forward_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct layer_norm *o = context;
    const struct cpu_step *s = o->step;
    enum dtype t = o->dtype;
    float *row = o->thread[thread].row, *rstds = s->out[3];
    if (o->attr->rms && !s->in[1]) {
        o->loops->rms_norm(t, cpu_at(t, s->in[0], begin * o->c), end - begin, o->c, s->in[2], o->attr->eps,
                           s->out[0] ? cpu_at(t, s->out[0], begin * o->c) : NULL, rstds ? rstds + begin : NULL);
        return;
    }
    for (int64_t i = begin, n; i < end; i += n) {
        n = end - i < o->rows ? end - i : o->rows;
        o->loops->widen(t, cpu_at(t, s->in[0], i * o->c), row, n * o->c);
        if (s->in[1]) {
            drop_rows(o, 4, i, n, row);
            o->loops->add_scaled(t, cpu_at(t, s->in[1], i * o->c), n * o->c, 1.0f, row);
            void *sum = s->out[1] ? s->out[1] : s->out[0];  // normalises the stored, rounded sum
            if (sum) {
                o->loops->narrow(t, row, cpu_at(t, sum, i * o->c), n * o->c);
                o->loops->widen(t, cpu_at(t, sum, i * o->c), row, n * o->c);
            }
        }
        normalise_rows(o, i, n, row);
    }
}

static int layer_norm_run(struct cpu_step *s)
{
    struct layer_norm o;
    begin_layer_norm(&o, s, false);
    threads_for(shape_rows(&cpu_in(s, 0)->shape), cpu_grain(o.c), forward_piece, &o);
    return 0;
}

static void flush_thread(const struct layer_norm *o, const struct thread_rows *t)
{
    o->loops->flush(t->dscale, t->total_scale, o->c, o->c);
    o->loops->flush(t->dbias, t->total_bias, o->c, o->c);
}

static void backward_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct layer_norm *o = context;
    const struct cpu_step *s = o->step;
    const struct thread_rows *own = &o->thread[thread];
    enum dtype t = o->dtype;
    const float *mean = s->in[2], *rstd = s->in[3];
    const bool direct = o->attr->rms && s->out[0] && !s->out[1];  // to dsum
    for (int64_t i = begin, n; i < end; i += n) {
        const void *dy = cpu_at(t, s->in[0], i * o->c), *x = cpu_at(t, s->in[1], i * o->c);
        void *dsum = s->out[0] ? cpu_at(t, s->out[0], i * o->c) : NULL;
        n = direct ? BLOCK : o->rows;
        n = end - i < n ? end - i : n;
        if (!o->attr->rms)
            o->loops->layer_norm_back(t, dy, x, mean + i, rstd + i, s->in[4], n, o->c, own->row, own->dscale, own->dbias);
        else
            o->loops->rms_norm_back(t, dy, x, rstd + i, s->in[4], n, o->c, direct ? t : F32, direct ? dsum : own->row,
                                    own->dscale);
        if (!direct && dsum) o->loops->narrow(t, own->row, dsum, n * o->c);
        if (s->out[1]) {
            drop_rows(o, 5, i, n, own->row);
            o->loops->narrow(t, own->row, cpu_at(t, s->out[1], i * o->c), n * o->c);
        }
        if ((i + n - begin) % BLOCK == 0) flush_thread(o, own);
    }
    flush_thread(o, own);
}

static int layer_norm_grad_run(struct cpu_step *s)
{
    struct layer_norm o;
    begin_layer_norm(&o, s, true);
    threads_for(shape_rows(&cpu_in(s, 0)->shape), cpu_grain(o.c), backward_piece, &o);
    for (int j = 0; j < 2; j++)
        for (int64_t c = 0; c < o.c && s->out[2 + j]; c++) {
            double sum = 0;
            for (int i = 0; i < s->cpu->threads; i++) sum += (j ? o.thread[i].total_bias : o.thread[i].total_scale)[c];
            ((float *)s->out[2 + j])[c] = (float)sum;
        }
    return 0;
}

CPU_PREPARE(layer_norm)
CPU_PREPARE(layer_norm_grad)
const struct cpu_op cpu_layer_norm = {.workspace = layer_norm_workspace, .prepare = layer_norm_prepare};
const struct cpu_op cpu_layer_norm_grad = {.workspace = layer_norm_workspace, .prepare = layer_norm_grad_prepare};
