// SPDX-License-Identifier: Apache-2.0
// Element-wise operators besides formulas: activations with a bias, casts, dropout, random numbers, masks. One pass each.
#include "runtime/cpu/cpu_work.h"

enum { BLOCK = 16384, CHUNK = 1024 };

// ---- act(x + bias): loops over a period, as in cpu_norm.c, with mean 0 and factor 1
struct act_work {
    struct cpu_step *step;
    enum dtype dtype;
    int64_t c;
    struct period k;
    float **sum;     // one per thread
    double **total;  // the same in double
};

static size_t carve_act(struct act_work *o, void *base, int64_t c, int threads)
{
    struct cpu_scratch s = {.base = base};
    int64_t width = cpu_period(c);
    float *mean = cpu_take(&s, width, sizeof(float)), *a = cpu_take(&s, width, sizeof(float));
    float *b = cpu_take(&s, width, sizeof(float));
    float **sum = cpu_take(&s, threads, sizeof *sum);
    double **total = cpu_take(&s, threads, sizeof *total);
    for (int i = 0; i < threads; i++) {
        float *f = cpu_take(&s, width, sizeof(float));
        double *d = cpu_take(&s, c, sizeof(double));
        if (!base) continue;
        sum[i] = memset(f, 0, (size_t)width * sizeof(float));
        total[i] = memset(d, 0, (size_t)c * sizeof(double));
    }
    if (base) {
        o->c = c, o->sum = sum, o->total = total;
        o->k = (struct period){.width = width, .mean = mean, .a = a, .b = b};
    }
    return s.used;
}

static void begin_act(struct act_work *o, struct cpu_step *s, const float *bias)
{
    const struct value *x = cpu_in(s, 0);
    o->step = s, o->dtype = x->dtype;
    carve_act(o, s->work, shape_last(&x->shape), s->cpu->threads);
    for (int64_t i = 0; i < o->k.width; i++) o->k.mean[i] = 0, o->k.a[i] = 1, o->k.b[i] = bias[i % o->c];
}

static void act_piece(void *context, int64_t first, int64_t end, int thread)
{
    (void)thread;
    const struct act_work *o = context;
    const struct cpu_step *s = o->step;
    s->cpu->loops->apply(o->dtype, s->node->attr.act.act, cpu_at(o->dtype, s->in[0], first * o->c),
                         (end - first) * o->c, &o->k, cpu_at(o->dtype, s->out[0], first * o->c));
}

static int act_run(struct cpu_step *s)
{
    struct act_work o;
    begin_act(&o, s, s->in[1]);
    if (s->out[0]) threads_for(shape_rows(&cpu_in(s, 0)->shape), cpu_grain(o.c), act_piece, &o);
    return 0;
}

static void act_grad_piece(void *context, int64_t first, int64_t end, int thread)
{
    const struct act_work *o = context;
    const struct cpu_step *s = o->step;
    int64_t step = o->c >= BLOCK ? 1 : BLOCK / o->c;
    for (int64_t i = first; i < end; i += step) {
        int64_t rows = end - i < step ? end - i : step;
        s->cpu->loops->act_back(o->dtype, s->node->attr.act.act, cpu_at(o->dtype, s->in[0], i * o->c),
                                cpu_at(o->dtype, s->in[1], i * o->c), rows * o->c, &o->k,
                                s->out[0] ? cpu_at(o->dtype, s->out[0], i * o->c) : NULL, o->sum[thread]);
        s->cpu->loops->flush(o->sum[thread], o->total[thread], o->k.width, o->c);
    }
}

static int act_grad_run(struct cpu_step *s)
{
    struct act_work o;
    begin_act(&o, s, s->in[2]);
    threads_for(shape_rows(&cpu_in(s, 0)->shape), cpu_grain(o.c), act_grad_piece, &o);
    float *dbias = s->out[1];
    for (int64_t c = 0; dbias && c < o.c; c++) {
        double sum = 0;
        for (int i = 0; i < s->cpu->threads; i++) sum += o.total[i][c];
        dbias[c] = (float)sum;
    }
    return 0;
}

static size_t act_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return carve_act(NULL, NULL, shape_last(&g->value[n->in[0]].shape), cpu->threads);
}

// ---- the others
// A row is the dimension of the lengths with those below it, of `below` elements.
static int64_t mask_row(const struct value *x, const struct mask_attr *a, int64_t *below)
{
    int axis = a->axis ? a->axis : x->shape.rank - 1;
    *below = 1;
    for (int i = axis + 1; i < x->shape.rank; i++) *below *= x->shape.dim[i];
    return x->shape.dim[axis] * *below;
}

static void mask_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct value *x = cpu_in(s, 0);
    enum dtype t = x->dtype;
    int64_t below, n = mask_row(x, &s->node->attr.mask, &below), each = cpu_count(x) / n / x->shape.dim[0];
    const int32_t *first = s->in[1], *length = s->in[2];
    for (int64_t r = begin; r < end; r++) {
        int64_t b = r / each, low = first ? first[b] * below : 0, high = length[b] * below;
        low = low < 0 ? 0 : low > n ? n : low;
        high = high < low ? low : high > n ? n : high;
        char *y = cpu_at(t, s->out[0], r * n);
        if (s->in[0] != s->out[0])
            memcpy(cpu_at(t, y, low), cpu_at(t, s->in[0], r * n + low), (size_t)(high - low) * dtype_size(t));
        for (int64_t i = 0; i < low; i++) element_set(t, y, i, (double)s->node->attr.mask.fill);
        for (int64_t i = high; i < n; i++) element_set(t, y, i, (double)s->node->attr.mask.fill);
    }
}

static int mask_run(struct cpu_step *s)
{
    int64_t below, n = mask_row(cpu_in(s, 0), &s->node->attr.mask, &below);
    if (s->out[0]) threads_for(cpu_count(cpu_in(s, 0)) / n, cpu_grain(n), mask_piece, s);
    return 0;
}

static void convert_some(const struct loops *loops, enum dtype from, const void *x, enum dtype to, void *y, int64_t n)
{
    float f[CHUNK];
    if (from == to) {
        memcpy(y, x, (size_t)n * dtype_size(from));
    } else if (!dtype_is_float(from) || !dtype_is_float(to)) {  // integers: exact, one by one
        for (int64_t i = 0; i < n; i++) element_set(to, y, i, element_get(from, x, i));
    } else if (from == F32) {
        loops->narrow(to, x, y, n);
    } else if (to == F32) {
        loops->widen(from, x, y, n);
    } else {
        for (int64_t i = 0; i < n; i += CHUNK) {
            int64_t count = n - i < CHUNK ? n - i : CHUNK;
            loops->widen(from, cpu_at(from, x, i), f, count);
            loops->narrow(to, f, cpu_at(to, y, i), count);
        }
    }
}

struct conversion {
    const struct loops *loops;
    enum dtype from, to;
    const void *x;
    void *y;
};

static void convert_piece(void *context, int64_t first, int64_t end, int thread)
{
    (void)thread;
    const struct conversion *o = context;
    convert_some(o->loops, o->from, cpu_at(o->from, o->x, first), o->to, cpu_at(o->to, o->y, first), end - first);
}

void cpu_convert(const struct loops *loops, enum dtype from, const void *x, enum dtype to, void *y, int64_t n)
{
    struct conversion o = {loops, from, to, x, y};
    if (x != y || from != to) threads_for(n, CPU_GRAIN, convert_piece, &o);
}

static int cast_run(struct cpu_step *s)
{
    if (s->out[0])
        cpu_convert(s->cpu->loops, cpu_in(s, 0)->dtype, s->in[0], cpu_out(s, 0)->dtype, s->out[0],
                    cpu_count(cpu_in(s, 0)));
    return 0;
}

static void dropout_piece(void *context, int64_t first, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    enum dtype t = cpu_in(s, 0)->dtype;
    const struct dropout_attr *a = &s->node->attr.dropout;
    s->cpu->loops->dropout(t, cpu_at(t, s->in[0], first), first, end - first, s->in[1], *(const uint32_t *)s->in[2],
                           a->site, a->p, cpu_at(t, s->out[0], first));
}

// The mask of a sample, repeated to a period.
static struct period shared_period(void *base, int64_t c, int thread)
{
    int64_t width = cpu_period(c);
    float *own = (float *)base + 3 * width * thread;
    return (struct period){.width = width, .mean = own, .a = own + width, .b = own + 2 * width};
}

static void shared_piece(void *context, int64_t first, int64_t end, int thread)  // rows
{
    const struct cpu_step *s = context;
    const struct value *x = cpu_in(s, 0);
    const struct dropout_attr *a = &s->node->attr.dropout;
    int64_t c = shape_last(&x->shape), each = shape_rows(&x->shape) / x->shape.dim[0];
    struct period k = shared_period(s->work, c, thread);
    for (int64_t i = 0; i < k.width; i++) k.mean[i] = k.b[i] = 0;
    for (int64_t row = first, next; row < end; row = next) {
        int64_t sample = row / each;
        next = (sample + 1) * each < end ? (sample + 1) * each : end;
        for (int64_t i = 0; i < k.width; i++) k.a[i] = 1;
        s->cpu->loops->dropout(F32, k.a, sample * c, c, s->in[1], *(const uint32_t *)s->in[2], a->site, a->p, k.a);
        for (int64_t i = c; i < k.width; i++) k.a[i] = k.a[i - c];
        s->cpu->loops->apply(x->dtype, ACT_NONE, cpu_at(x->dtype, s->in[0], row * c), (next - row) * c, &k,
                             cpu_at(x->dtype, s->out[0], row * c));
    }
}

static size_t dropout_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    int64_t width = cpu_period(shape_last(&g->value[n->in[0]].shape));
    return n->attr.dropout.shared ? (size_t)(3 * width * cpu->threads) * sizeof(float) : 0;
}

static int dropout_run(struct cpu_step *s)
{
    const struct shape *x = &cpu_in(s, 0)->shape;
    if (!s->out[0]) return 0;
    if (s->node->attr.dropout.shared)
        threads_for(shape_rows(x), cpu_grain(shape_last(x)), shared_piece, s);
    else
        threads_for(shape_count(x), CPU_GRAIN, dropout_piece, s);
    return 0;
}

static void random_piece(void *context, int64_t first, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct random_attr *a = &s->node->attr.random;
    s->cpu->loops->random(a, first, end - first, s->in[0], *(const uint32_t *)s->in[1], cpu_at(a->to, s->out[0], first));
}

static int random_run(struct cpu_step *s)
{
    if (s->out[0]) threads_for(cpu_count(cpu_out(s, 0)), CPU_GRAIN, random_piece, s);
    return 0;
}

CPU_PREPARE(act)
CPU_PREPARE(act_grad)
CPU_PREPARE(cast)
CPU_PREPARE(dropout)
CPU_PREPARE(random)
CPU_PREPARE(mask)
const struct cpu_op cpu_act = {.workspace = act_workspace, .prepare = act_prepare};
const struct cpu_op cpu_act_grad = {.workspace = act_workspace, .prepare = act_grad_prepare};
const struct cpu_op cpu_cast = {.prepare = cast_prepare};
const struct cpu_op cpu_dropout = {.workspace = dropout_workspace, .prepare = dropout_prepare};
const struct cpu_op cpu_random = {.prepare = random_prepare};
const struct cpu_op cpu_mask = {.prepare = mask_prepare};
