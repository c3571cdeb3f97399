// SPDX-License-Identifier: Apache-2.0
// Simple recurrent units. Hidden units do not depend on each other: a task is one direction of one sample, and a part of its
// units where there are fewer of those than threads. A word is read from memory once, computed in f32 in the L1 cache and
// written once. Gradients of biases are summed over the words of a sample, then over samples in order: no result depends on the
// number of threads.
#include "runtime/cpu/cpu_work.h"

enum { AHEAD = 4 };  // words that are prefetched

struct sru {
    const struct cpu_step *step;
    const struct loops *loops;
    const struct recurrent_attr *attr;
    enum dtype dtype;
    bool back;
    int64_t samples, t, d, h, parts;
    int64_t each, pieces;        // units of a task; tasks of a direction
    int u, lengths;              // inputs: u, skip input, biases; lengths, key, step
    const int32_t *length;
    float *sums;                 // backward: [B][D][2][H]
    char *scratch;               // of the threads
    size_t scratch_each;
};

// One thread has this, in f32. Parts of u lie `units` apart: lanes past the last unit of one read the next. Parts of d lie whole
// vectors apart.
struct rows {
    float *u, *skip, *bias[2], *mask, *c, *h;
    float *d, *before, *dh, *dc, *dbias[2];  // backward
};

struct task {
    int64_t b, d, first, units, n;  // the first of its units, their number, words
};

static size_t carve_rows(struct rows *r, void *base, int64_t units, bool back)
{
    struct cpu_scratch s = {.base = base};
    int64_t n = loops_lanes(units);
    float **row[] = {&r->skip, &r->bias[0], &r->bias[1], &r->mask, &r->c, &r->h};
    float **more[] = {&r->before, &r->dh, &r->dc, &r->dbias[0], &r->dbias[1]};
    r->u = cpu_take(&s, 4 * units + n, sizeof(float));
    for (int i = 0; i < 6; i++) *row[i] = cpu_take(&s, n, sizeof(float));
    if (!back) return s.used;
    r->d = cpu_take(&s, 4 * n, sizeof(float));
    for (int i = 0; i < 5; i++) *more[i] = cpu_take(&s, n, sizeof(float));
    return s.used;
}

static void size_sru(struct sru *o, const struct graph *g, const struct node *n, int threads)
{
    o->back = n->op == OP_SRU_GRAD;
    o->u = o->back ? 1 : 0, o->lengths = o->back ? 5 : 3;
    const struct value *u = &g->value[n->in[o->u]];
    o->attr = &n->attr.recurrent, o->dtype = u->dtype, o->parts = n->in[o->u + 1] == NONE ? 4 : 3;
    o->samples = u->shape.dim[0], o->t = u->shape.dim[1], o->d = o->attr->directions, o->h = u->shape.dim[2] / o->parts / o->d;
    int64_t lines = o->samples * o->d;
    o->each = lines >= threads ? o->h : loops_lanes((o->h * lines + threads - 1) / threads);
    if (o->each > o->h) o->each = o->h;
    o->pieces = (o->h + o->each - 1) / o->each;
}

static size_t carve_sru(struct sru *o, void *base, int threads)
{
    struct cpu_scratch s = {.base = base};
    struct rows r;
    o->sums = o->back ? cpu_take(&s, o->samples * o->d * 2 * o->h, sizeof(float)) : NULL;
    o->scratch_each = carve_rows(&r, NULL, o->each, o->back);
    o->scratch = cpu_take(&s, threads, o->scratch_each);
    return s.used;
}

static size_t sru_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct sru o;
    size_sru(&o, g, n, cpu->threads);
    return carve_sru(&o, NULL, cpu->threads);
}

static void begin_sru(struct sru *o, const struct cpu_step *s)
{
    size_sru(o, s->graph, s->node, s->cpu->threads);
    o->step = s, o->loops = s->cpu->loops, o->length = s->in[o->lengths];
    carve_sru(o, s->work, s->cpu->threads);
}

// ---- one task
static struct task task_of(const struct sru *o, int64_t i)
{
    int64_t line = i / o->pieces, first = i % o->pieces * o->each, left = o->h - first;
    struct task k = {.b = line / o->d, .d = line % o->d, .first = first, .units = left < o->each ? left : o->each, .n = o->t};
    if (o->length) k.n = o->length[k.b] < 0 ? 0 : o->length[k.b] > o->t ? o->t : o->length[k.b];
    return k;
}

// The offset in [B,T,D,parts,H] of the units of word i, in the order of the direction.
static int64_t offset_of(const struct sru *o, const struct task *k, int64_t i, int64_t parts, int64_t part)
{
    int64_t row = k->b * o->t + (k->d && i < k->n ? k->n - 1 - i : i);
    return ((row * o->d + k->d) * parts + part) * o->h + k->first;
}

static void begin_rows(const struct sru *o, const struct task *k, struct rows *r)
{
    const struct cpu_step *s = o->step;
    const float *bias = s->in[o->u + 2];
    for (int i = 0; i < 2; i++)
        memcpy(r->bias[i], bias + (2 * k->d + i) * o->h + k->first, (size_t)k->units * sizeof(float));
    for (int64_t j = 0; j < loops_lanes(k->units); j++) r->mask[j] = 1.0f, r->c[j] = 0.0f;
    if (s->in[o->lengths + 1])
        o->loops->dropout(F32, r->mask, (k->b * o->d + k->d) * o->h + k->first, k->units, s->in[o->lengths + 1],
                          *(const uint32_t *)s->in[o->lengths + 2], o->attr->site, o->attr->p, r->mask);
    for (int64_t j = 0; j < loops_lanes(k->units) && o->back; j++) r->dc[j] = r->dbias[0][j] = r->dbias[1][j] = 0.0f;
}

static void read_row(const struct sru *o, const void *from, int64_t at, float *to, int64_t n)
{
    o->loops->widen(o->dtype, cpu_at(o->dtype, from, at), to, n);
}

static void write_row(const struct sru *o, const float *from, void *to, int64_t at, int64_t n)
{
    if (to) o->loops->narrow(o->dtype, from, cpu_at(o->dtype, to, at), n);
}

static void clear_row(const struct sru *o, void *to, int64_t at, int64_t n)
{
    if (to) memset(cpu_at(o->dtype, to, at), 0, (size_t)n * dtype_size(o->dtype));
}

static void prefetch_word(const struct sru *o, const struct task *k, int64_t i)
{
    const struct cpu_step *s = o->step;
    if (i < 0 || i >= k->n) return;
    for (int64_t p = 0; p < o->parts; p++) cpu_prefetch(o->dtype, s->in[o->u], offset_of(o, k, i, o->parts, p), k->units);
    int64_t at = offset_of(o, k, i, 1, 0);
    cpu_prefetch(o->dtype, s->in[o->u + 1], at, k->units);
    if (!o->back) return;
    cpu_prefetch(o->dtype, s->in[0], at, k->units);
    cpu_prefetch(o->dtype, s->in[4], at, k->units);
}

// Reads word i of u and of the skip input.
static struct sru_word read_word(const struct sru *o, const struct task *k, const struct rows *r, int64_t i)
{
    const void *u = o->step->in[o->u], *x = o->step->in[o->u + 1];
    if (k->units == o->h)
        read_row(o, u, offset_of(o, k, i, o->parts, 0), r->u, o->parts * o->h);
    else
        for (int64_t p = 0; p < o->parts; p++) read_row(o, u, offset_of(o, k, i, o->parts, p), r->u + p * k->units, k->units);
    if (x) read_row(o, x, offset_of(o, k, i, 1, 0), r->skip, k->units);
    return (struct sru_word){.candidate = r->u, .forget = r->u + k->units, .reset = r->u + 2 * k->units,
                             .skip = x ? r->skip : r->u + 3 * k->units, .bias_forget = r->bias[0], .bias_reset = r->bias[1],
                             .mask = r->mask};
}

// ---- forward
static void forward_task(const struct sru *o, const struct task *k, const struct rows *r)
{
    const struct cpu_step *s = o->step;
    for (int64_t i = 0; i < o->t; i++) {
        int64_t at = offset_of(o, k, i, 1, 0);
        if (i >= k->n) {
            for (int j = 0; j < 2; j++) clear_row(o, s->out[j], at, k->units);
            continue;
        }
        prefetch_word(o, k, i + AHEAD);
        struct sru_word w = read_word(o, k, r, i);
        w.c = r->c, w.h = r->h;
        o->loops->sru(o->attr->act, &w, loops_lanes(k->units));
        write_row(o, r->h, s->out[0], at, k->units);
        write_row(o, r->c, s->out[1], at, k->units);
    }
}

// ---- backward
static void clear_gradients(const struct sru *o, const struct task *k, int64_t i)
{
    const struct cpu_step *s = o->step;
    for (int64_t p = 0; p < o->parts; p++) clear_row(o, s->out[0], offset_of(o, k, i, o->parts, p), k->units);
    clear_row(o, s->out[1], offset_of(o, k, i, 1, 0), k->units);
}

static void backward_task(const struct sru *o, const struct task *k, struct rows *r)
{
    const struct cpu_step *s = o->step;
    int64_t lanes = loops_lanes(k->units);
    for (int64_t i = k->n; i < o->t; i++) clear_gradients(o, k, i);
    if (k->n > 0) read_row(o, s->in[4], offset_of(o, k, k->n - 1, 1, 0), r->c, k->units);
    for (int64_t i = k->n - 1; i >= 0; i--) {
        prefetch_word(o, k, i - AHEAD);
        struct sru_word w = read_word(o, k, r, i);
        if (i > 0)
            read_row(o, s->in[4], offset_of(o, k, i - 1, 1, 0), r->before, k->units);
        else
            memset(r->before, 0, (size_t)k->units * sizeof(float));
        read_row(o, s->in[0], offset_of(o, k, i, 1, 0), r->dh, k->units);
        w.now = r->c, w.before = r->before, w.dh = r->dh, w.dc = r->dc, w.dbias_forget = r->dbias[0], w.dbias_reset = r->dbias[1];
        for (int p = 0; p < 4; p++) w.d[p] = r->d + p * lanes;
        o->loops->sru_back(o->attr->act, &w, lanes);
        for (int64_t p = 0; p < o->parts; p++)
            write_row(o, w.d[p], s->out[0], offset_of(o, k, i, o->parts, p), k->units);
        write_row(o, w.d[3], s->out[1], offset_of(o, k, i, 1, 0), k->units);
        float *was = r->c;
        r->c = r->before, r->before = was;
    }
    for (int i = 0; i < 2; i++)
        memcpy(o->sums + ((k->b * o->d + k->d) * 2 + i) * o->h + k->first, r->dbias[i], (size_t)k->units * sizeof(float));
}

static void sru_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct sru *o = context;
    for (int64_t i = begin; i < end; i++) {
        struct rows r;
        struct task k = task_of(o, i);
        carve_rows(&r, o->scratch + o->scratch_each * (size_t)thread, o->each, o->back);
        begin_rows(o, &k, &r);
        if (o->back)
            backward_task(o, &k, &r);
        else
            forward_task(o, &k, &r);
    }
}

static int sru_run(struct cpu_step *s)
{
    struct sru o;
    begin_sru(&o, s);
    memset(o.scratch, 0, o.scratch_each * (size_t)s->cpu->threads);  // clears the lanes that no word writes
    threads_for(o.samples * o.d * o.pieces, 1, sru_piece, &o);
    float *dbias = o.back ? s->out[2] : NULL;
    int64_t biases = 2 * o.d * o.h;
    for (int64_t j = 0; dbias && j < biases; j++) {
        double sum = 0;
        for (int64_t b = 0; b < o.samples; b++) sum += (double)o.sums[b * biases + j];
        dbias[j] = (float)sum;
    }
    return 0;
}

CPU_PREPARE(sru)
const struct cpu_op cpu_sru = {.workspace = sru_workspace, .prepare = sru_prepare};
const struct cpu_op cpu_sru_grad = {.workspace = sru_workspace, .prepare = sru_prepare};
