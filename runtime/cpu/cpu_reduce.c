// SPDX-License-Identifier: Apache-2.0
// Sums and means over any dimensions, and their gradient. Adjacent dimensions of a kind (kept or summed) are merged first. Then
// whole channels are added if the last dimension is kept, and runs if it is summed. Sums are in f32 over at most 256 elements
// and in double beyond. Cost: x is read once.
#include "runtime/cpu/cpu_work.h"

enum { CHUNK = 256, RUN = 256 };

struct reduce {
    const struct cpu_step *step;
    enum dtype from, to;
    int64_t inner;  // the last merged dimension, kept or (alone) summed
    bool last_added;
    int kept, added;  // number of merged dimensions of each kind besides `inner`
    int64_t kept_dim[MAX_RANK], kept_stride[MAX_RANK], added_dim[MAX_RANK], added_stride[MAX_RANK];
    int64_t jobs, terms;  // products of the two
    double factor;
};

static int64_t offset_of(int count, const int64_t *dim, const int64_t *stride, int64_t i)
{
    int64_t at = 0;
    for (int d = count - 1; d >= 0; d--) at += i % dim[d] * stride[d], i /= dim[d];
    return at;
}

static void merge_dims(struct reduce *o, const struct shape *x, unsigned axes)
{
    int64_t dim[MAX_RANK] = {1}, stride[MAX_RANK], run = 1;
    bool added[MAX_RANK] = {false};
    int rank = 0;
    for (int i = 0; i < x->rank; i++) {
        if (x->dim[i] == 1) continue;
        bool now = axes >> i & 1;
        if (rank && added[rank - 1] == now)
            dim[rank - 1] *= x->dim[i];
        else
            dim[rank] = x->dim[i], added[rank++] = now;
    }
    if (!rank) rank = 1;
    for (int i = rank - 1; i >= 0; i--) stride[i] = run, run *= dim[i];
    o->inner = dim[rank - 1], o->last_added = added[rank - 1];
    o->jobs = o->terms = 1;
    for (int i = 0; i < rank - 1; i++) {
        if (added[i])
            o->added_dim[o->added] = dim[i], o->added_stride[o->added++] = stride[i], o->terms *= dim[i];
        else
            o->kept_dim[o->kept] = dim[i], o->kept_stride[o->kept++] = stride[i], o->jobs *= dim[i];
    }
}

// Channels c .. c + n of one kept position.
static void add_channels(const struct reduce *o, int64_t at, int64_t c, int64_t n, int64_t to)
{
    const struct cpu_step *s = o->step;
    float acc[CHUNK] = {0};
    double total[CHUNK] = {0};
    for (int64_t i = 0; i < o->terms; i++) {
        int64_t from = at + offset_of(o->added, o->added_dim, o->added_stride, i) + c;
        s->cpu->loops->add_scaled(o->from, cpu_at(o->from, s->in[0], from), n, 1.0f, acc);
        if (i % RUN == RUN - 1 || i == o->terms - 1) s->cpu->loops->flush(acc, total, n, n);
    }
    for (int64_t i = 0; i < n; i++) acc[i] = (float)(total[i] * o->factor);
    s->cpu->loops->narrow(o->to, acc, cpu_at(o->to, s->out[0], to + c), n);
}

static void add_runs(const struct reduce *o, int64_t at, int64_t to)
{
    const struct cpu_step *s = o->step;
    float x[RUN], y;
    double total = 0;
    for (int64_t i = 0; i < o->terms; i++) {
        int64_t from = at + offset_of(o->added, o->added_dim, o->added_stride, i);
        for (int64_t c = 0; c < o->inner; c += RUN) {
            int64_t n = o->inner - c < RUN ? o->inner - c : RUN;
            s->cpu->loops->widen(o->from, cpu_at(o->from, s->in[0], from + c), x, n);
            for (int64_t j = 0; j < n; j++) total += x[j];
        }
    }
    y = (float)(total * o->factor);
    s->cpu->loops->narrow(o->to, &y, cpu_at(o->to, s->out[0], to), 1);
}

static void reduce_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct reduce *o = context;
    int64_t chunks = o->last_added ? 1 : (o->inner + CHUNK - 1) / CHUNK;
    for (int64_t i = begin; i < end; i++) {
        int64_t job = i / chunks, c = i % chunks * CHUNK;
        int64_t at = offset_of(o->kept, o->kept_dim, o->kept_stride, job);
        if (o->last_added)
            add_runs(o, at, job);
        else
            add_channels(o, at, c, o->inner - c < CHUNK ? o->inner - c : CHUNK, job * o->inner);
    }
}

static int reduce_run(struct cpu_step *s)
{
    const struct value *x = cpu_in(s, 0), *y = cpu_out(s, 0);
    if (!y) return 0;
    struct reduce o = {.step = s, .from = x->dtype, .to = y->dtype};
    merge_dims(&o, &x->shape, s->node->attr.move.axes);
    o.factor = s->node->attr.move.mean ? (double)cpu_count(y) / (double)cpu_count(x) : 1.0;
    int64_t chunks = o.last_added ? 1 : (o.inner + CHUNK - 1) / CHUNK;
    threads_for(o.jobs * chunks, cpu_grain(cpu_count(x) / (o.jobs * chunks)), reduce_piece, &o);
    return 0;
}

// ---- the gradient
static void broadcast_row(const struct cpu_step *s, int64_t from, int64_t to, int64_t n, bool same)
{
    const struct loops *loops = s->cpu->loops;
    enum dtype t = cpu_in(s, 0)->dtype, u = cpu_out(s, 0)->dtype;
    float row[CHUNK];
    for (int64_t c = 0; c < n; c += CHUNK) {
        int64_t count = n - c < CHUNK ? n - c : CHUNK;
        if (!same) {
            loops->widen(t, cpu_at(t, s->in[0], from + c), row, count);
            loops->scale(F32, row, s->node->attr.move.factor, row, count);
        } else if (c == 0) {
            loops->widen(t, cpu_at(t, s->in[0], from), row, 1);
            for (int64_t i = count - 1; i >= 0; i--) row[i] = row[0] * s->node->attr.move.factor;
        }
        loops->narrow(u, row, cpu_at(u, s->out[0], to + c), count);
    }
}

static void broadcast_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of y
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct shape *x = &cpu_in(s, 0)->shape, *y = &cpu_out(s, 0)->shape;
    int last = y->rank - 1;
    const bool rows = shape_rows(x) == shape_rows(y);  // one of x for each of y
    for (int64_t r = begin; r < end; r++) {
        int64_t at = rows ? r * x->dim[last] : 0, left = r, run = x->dim[last];
        for (int i = last - 1; i >= 0 && !rows; i--) {
            if (x->dim[i] > 1) at += left % y->dim[i] * run;
            left /= y->dim[i];
            run *= x->dim[i];
        }
        broadcast_row(s, at, r * y->dim[last], y->dim[last], x->dim[last] == 1);
    }
}

static int broadcast_run(struct cpu_step *s)
{
    const struct value *y = cpu_out(s, 0);
    if (y) threads_for(shape_rows(&y->shape), cpu_grain(shape_last(&y->shape)), broadcast_piece, s);
    return 0;
}

CPU_PREPARE(reduce)
CPU_PREPARE(broadcast)
const struct cpu_op cpu_reduce = {.prepare = reduce_prepare};
const struct cpu_op cpu_broadcast = {.prepare = broadcast_prepare};
