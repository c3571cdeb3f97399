// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification, a sample at a time; the states of a frame are vectors (loops_ctc.c). The sums before
// each frame are kept for backward, which runs the same loop over the states in reverse and makes the gradient of each frame.
#include "runtime/cpu/cpu_work.h"
#include "runtime/ctc.h"

#include <math.h>

enum { GUARD = SCAN_LANES };  // states before the first, which are 0

struct ctc {
    const struct cpu_step *step;
    const struct loops *loops;
    enum dtype dtype;
    bool back;
    int64_t samples, frames, classes, labels, lanes;
    double *loss;         // of each sample
    char *scratch;        // of the threads
    size_t scratch_each;
};

struct numbers {
    float *m;
    int32_t *e;
};

struct buffers {
    float *row;               // [classes]
    struct numbers y;         // [frames, classes]
    struct numbers before;    // [frames, lanes], or [lanes] without a gradient
    struct numbers with[2];   // [GUARD + lanes], of this frame and of the one before
    struct numbers unused;    // [lanes]
    int32_t *of, *skip;       // [lanes]
    float *share;             // [lanes]
};

struct sample {
    int64_t at, frames, labels, states;
    bool broken;              // some probability is NaN
    struct ctc_number all;    // the probability of its labels
};

static size_t carve_buffers(const struct ctc *o, struct buffers *r, void *base)
{
    struct cpu_scratch s = {.base = base};
    const int64_t kept = o->back ? o->frames * o->lanes : o->lanes;
    struct numbers *part[] = {&r->y, &r->before, &r->with[0], &r->with[1], &r->unused};
    const int64_t count[] = {o->frames * o->classes, kept, GUARD + o->lanes, GUARD + o->lanes, o->lanes};
    for (int i = 0; i < 5; i++) {
        part[i]->m = cpu_take(&s, count[i], sizeof(float));
        part[i]->e = cpu_take(&s, count[i], sizeof(int32_t));
    }
    r->row = cpu_take(&s, o->classes, sizeof(float));
    r->of = cpu_take(&s, o->lanes, sizeof(int32_t));
    r->skip = cpu_take(&s, o->lanes, sizeof(int32_t));
    r->share = cpu_take(&s, o->lanes, sizeof(float));
    return s.used;
}

static size_t carve_ctc(struct ctc *o, const struct graph *g, const struct node *n, int threads, void *base)
{
    struct cpu_scratch s = {.base = base};
    struct buffers r;
    const struct value *x = node_in(g, n, 0);
    o->dtype = x->dtype, o->back = n->out[3] != NONE;
    o->samples = x->shape.dim[0], o->frames = x->shape.dim[1], o->classes = x->shape.dim[2];
    o->labels = node_in(g, n, 2)->shape.dim[1], o->lanes = loops_lanes(2 * o->labels + 1);
    o->scratch_each = carve_buffers(o, &r, NULL);
    o->loss = cpu_take(&s, o->samples, sizeof(double));
    o->scratch = cpu_take(&s, threads, o->scratch_each);
    return s.used;
}

static size_t ctc_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return carve_ctc(&(struct ctc){0}, g, n, cpu->threads, NULL);
}

static int64_t limited(const int32_t *count, int64_t i, int64_t most)
{
    int64_t n = count ? count[i] : most;
    return n < 0 ? 0 : n > most ? most : n;
}

static int32_t label_of(const struct ctc *o, int64_t sample, int64_t i)
{
    const void *labels = o->step->in[2];
    const int64_t at = sample * o->labels + i;
    return cpu_in(o->step, 2)->dtype == U8 ? ((const uint8_t *)labels)[at] : ((const int32_t *)labels)[at];
}

// The states in their order, or in reverse. False: the labels do not fit.
static bool set_states(const struct ctc *o, const struct sample *p, const struct buffers *r, bool reverse)
{
    int64_t least = p->labels;
    for (int64_t s = 0; s < o->lanes; s++) r->of[s] = r->skip[s] = 0;
    for (int64_t i = 0, last = -1; i < p->labels; i++) {
        const int32_t label = label_of(o, p->at, reverse ? p->labels - 1 - i : i);
        if (label < 1 || label >= o->classes) return false;
        r->of[2 * i + 1] = label, r->skip[2 * i + 1] = i > 0 && label != last;
        least += label == last;
        last = label;
    }
    return least <= p->frames;
}

static void set_row(const struct ctc *o, struct sample *p, const struct buffers *r, int64_t t)
{
    float *row = r->row, *m = r->y.m + t * o->classes, top;
    int32_t *e = r->y.e + t * o->classes;
    double sum = 0;
    o->loops->widen(o->dtype, cpu_at(o->dtype, o->step->in[0], (p->at * o->frames + t) * o->classes), row, o->classes);
    top = row[0];
    for (int64_t k = 1; k < o->classes; k++) top = row[k] > top ? row[k] : top;
    o->loops->ctc_row(row, o->classes, top, m, e, row);
    for (int64_t k = 0; k < o->classes; k++) sum += (double)row[k];
    o->loops->scale(F32, m, (float)(1 / sum), m, o->classes);
    p->broken |= isnan(sum);
}

// Before the first frame only the first state is possible.
static void begin_states(const struct ctc *o, const struct buffers *r)
{
    for (int j = 0; j < 2; j++)
        for (int64_t i = 0; i < GUARD + o->lanes; i++) r->with[j].m[i] = 0, r->with[j].e[i] = CTC_ZERO;
    r->with[1].m[GUARD] = 1, r->with[1].e[GUARD] = 0;
}

// Frame t, the i-th in the direction.
static void run_frame(const struct ctc *o, const struct buffers *r, int64_t i, int64_t t, struct numbers before)
{
    const struct numbers *from = &r->with[(i + 1) % 2], *to = &r->with[i % 2];
    struct ctc_frame c = {.m = from->m + GUARD, .e = from->e + GUARD, .skip = r->skip, .of = r->of, .y = r->y.m + t * o->classes,
                          .y_e = r->y.e + t * o->classes, .before = before.m, .before_e = before.e, .with = to->m + GUARD,
                          .with_e = to->e + GUARD};
    o->loops->ctc_frame(&c, o->lanes);
}

static void forward(const struct ctc *o, struct sample *p, const struct buffers *r)
{
    begin_states(o, r);
    for (int64_t t = 0; t < p->frames; t++) {
        const int64_t at = o->back ? t * o->lanes : 0;
        set_row(o, p, r, t);
        run_frame(o, r, t, t, (struct numbers){r->before.m + at, r->before.e + at});
    }
    // One more sum: what ends in the last state, or in the label before it.
    const struct numbers *last = &r->with[(p->frames + 1) % 2];
    const int64_t s = GUARD + p->states - 1;
    const struct ctc_number all = ctc_add(last->m + s, last->e + s, 0);
    p->all = ctc_of(all.m, all.e);
}

static void write_gradient(const struct ctc *o, const struct sample *p, const struct buffers *r, int64_t t)
{
    const float *m = r->y.m + t * o->classes;
    const int32_t *e = r->y.e + t * o->classes;
    for (int64_t k = 0; k < o->classes; k++) r->row[k] = m[k] * ctc_power(e[k]);
    for (int64_t s = 0; s < p->states; s++) r->row[r->of[s]] -= r->share[s];
    o->loops->narrow(o->dtype, r->row, cpu_at(o->dtype, o->step->out[3], (p->at * o->frames + t) * o->classes), o->classes);
}

static void backward(const struct ctc *o, const struct sample *p, const struct buffers *r)
{
    const struct ctc_scale scale = {p->broken ? NAN : 1 / p->all.m, p->all.e};
    set_states(o, p, r, true);
    begin_states(o, r);
    for (int64_t i = 0; i < p->frames; i++) {
        const int64_t t = p->frames - 1 - i, at = t * o->lanes;
        run_frame(o, r, i, t, r->unused);
        const struct numbers *with = &r->with[i % 2];
        o->loops->ctc_shares(r->before.m + at, r->before.e + at, with->m + GUARD, with->e + GUARD, scale, p->states, r->share);
        write_gradient(o, p, r, t);
    }
}

static void ctc_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct ctc *o = context;
    const struct cpu_step *s = o->step;
    struct buffers r;
    carve_buffers(o, &r, o->scratch + o->scratch_each * (size_t)thread);
    for (int64_t i = begin; i < end; i++) {
        struct sample p = {.at = i, .frames = limited(s->in[1], i, o->frames), .labels = limited(s->in[3], i, o->labels)};
        p.states = 2 * p.labels + 1;
        bool fits = set_states(o, &p, &r, false);
        if (fits) forward(o, &p, &r);
        fits = fits && (p.all.m > 0 || p.broken);
        o->loss[i] = !fits ? 0 : p.broken ? NAN : -(log((double)p.all.m) + (double)p.all.e * M_LN2);
        if (s->out[1]) ((float *)s->out[1])[i] = (float)o->loss[i];
        if (s->out[2]) ((float *)s->out[2])[i] = fits ? 0 : 1;
        if (!o->back) continue;
        if (fits) backward(o, &p, &r);
        const int64_t done = fits ? p.frames : 0, row = (int64_t)dtype_size(o->dtype) * o->classes;
        memset((char *)s->out[3] + (i * o->frames + done) * row, 0, (size_t)((o->frames - done) * row));
    }
}

static int ctc_run(struct cpu_step *s)
{
    struct ctc o = {.step = s, .loops = s->cpu->loops};
    carve_ctc(&o, s->graph, s->node, s->cpu->threads, s->work);
    threads_for(o.samples, 1, ctc_piece, &o);
    double sum = 0;
    for (int64_t i = 0; i < o.samples; i++) sum += o.loss[i];
    if (s->out[0]) *(float *)s->out[0] = (float)sum;
    return 0;
}

CPU_PREPARE(ctc)
const struct cpu_op cpu_ctc = {.workspace = ctc_workspace, .prepare = ctc_prepare};
