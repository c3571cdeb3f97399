// SPDX-License-Identifier: Apache-2.0
// LSTM. A task is one direction of up to ROWS samples, for all words: no thread waits for another within a sequence. The
// recurrent weights are packed once a run, for products that stay in the cache: f32, or pairs of bf16 where the processor
// multiplies them (loops.h, pairs_product.h). Gates lie in four parts of whole vectors, whose lanes past the last unit have
// weights of zero. Each row is computed alone, so that no result depends on the number of threads. States are [B,D,H].
#include "runtime/cpu/cpu_work.h"
#include "runtime/cpu/product/pairs_product.h"

enum { ROWS = PRODUCT_ROWS, GATES = 4, AHEAD = 2 };  // AHEAD: words that are prefetched

struct scan {
    const struct cpu_step *step;
    const struct loops *loops;
    enum dtype dtype;
    bool back, pairs, recurs;         // recurs: some word reads the states of another, by the weights
    int64_t samples, t, d, h, lanes;  // lanes: h in whole vectors
    int64_t depth;                    // of the product, in units: of states forward, of gradients of gates backward
    int64_t wide;                     // columns of the product
    const int32_t *length;
    const void *h0, *dh;              // or NULL: zeros
    const float *c0;
    uint32_t *weights;                // [D][depth][wide]
    char *scratch;                    // of the threads
    size_t scratch_each;
};

struct rows {
    float *gates;      // [GATES][lanes] a row, as the loops take them
    uint32_t *units;   // [depth] a row: the input of the product
    float *product;    // [wide] a row: gates forward, gradients of states backward
    float *c, *h;      // [lanes] a row: state, its gradient backward; h: of one row
    float *now, *before;  // [lanes]: of one row, backward
    void *narrow;      // [GATES * lanes]: of one row, in the type of the activations
};

struct task {
    int64_t d, first, rows, most;  // samples [first, first + rows); words of the longest
    int64_t n[ROWS];
};

static void size_lstm(struct scan *o, const struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    o->back = n->op == OP_LSTM_GRAD;
    const struct value *x = &g->value[n->in[0]];
    o->dtype = x->dtype, o->pairs = x->dtype == BF16 && cpu->bf16 && pairs_fit();
    o->samples = x->shape.dim[0], o->t = x->shape.dim[1], o->d = n->attr.recurrent.directions;
    o->h = x->shape.dim[2] / GATES / o->d, o->lanes = loops_lanes(o->h);
    o->recurs = n->in[1] != NONE && (o->t > 1 || n->in[o->back ? 5 : 3] != NONE);
    int64_t reads = o->back ? GATES * o->lanes : o->h;
    o->depth = o->pairs ? (reads + 1) / 2 : reads;
    o->wide = o->back ? o->lanes : GATES * o->lanes;
}

static size_t carve_rows(const struct scan *o, struct rows *r, void *base)
{
    struct cpu_scratch s = {.base = base};
    r->gates = cpu_take(&s, ROWS * GATES * o->lanes, sizeof(float));
    r->product = o->back ? cpu_take(&s, ROWS * o->wide, sizeof(float)) : r->gates;
    r->units = cpu_take(&s, ROWS * o->depth, sizeof(uint32_t));
    r->c = cpu_take(&s, ROWS * o->lanes, sizeof(float));
    float **row[] = {&r->h, &r->now, &r->before};
    for (int i = 0; i < 3; i++) *row[i] = cpu_take(&s, o->lanes, sizeof(float));
    r->narrow = cpu_take(&s, GATES * o->lanes, sizeof(float));
    return s.used;
}

static size_t carve_lstm(struct scan *o, void *base, int threads)
{
    struct cpu_scratch s = {.base = base};
    struct rows r;
    o->weights = cpu_take(&s, o->recurs ? o->d * o->depth * o->wide : 0, sizeof(uint32_t));
    o->scratch_each = carve_rows(o, &r, NULL);
    o->scratch = cpu_take(&s, threads, o->scratch_each);
    return s.used;
}

static size_t lstm_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct scan o;
    size_lstm(&o, cpu, g, n);
    return carve_lstm(&o, NULL, cpu->threads);
}

static struct rows rows_of(const struct scan *o, int thread)
{
    struct rows r;
    carve_rows(o, &r, o->scratch + o->scratch_each * (size_t)thread);
    return r;
}

// ---- weights: w[GATES][h][h] of a direction, of gates by states. Forward the product reads states and makes gates; backward it
// reads gradients of gates and makes those of states. Lanes past the last unit have weights of zero.
static void weights_of(const struct scan *o, const float *w, int64_t reads, float *to)
{
    int64_t h = o->h;
    memset(to, 0, (size_t)o->wide * sizeof *to);
    if (!o->back)
        for (int64_t i = 0; i < GATES && reads < h; i++)
            for (int64_t j = 0; j < h; j++) to[i * o->lanes + j] = w[(i * h + j) * h + reads];
    else if (reads < GATES * o->lanes && reads % o->lanes < h)
        memcpy(to, w + (reads / o->lanes * h + reads % o->lanes) * h, (size_t)h * sizeof *to);
}

static void pack_piece(void *context, int64_t begin, int64_t end, int thread)  // units of all directions
{
    const struct scan *o = context;
    struct rows r = rows_of(o, thread);
    float *line = r.gates;
    uint16_t *half[2] = {(uint16_t *)(line + o->wide), (uint16_t *)(line + 2 * o->wide)};
    for (int64_t i = begin; i < end; i++) {
        const float *w = (const float *)o->step->in[1] + i / o->depth * GATES * o->h * o->h;
        uint32_t *to = o->weights + i * o->wide;
        for (int k = 0; k <= o->pairs; k++) {
            weights_of(o, w, o->pairs ? 2 * (i % o->depth) + k : i % o->depth, line);
            if (o->dtype != F32) o->loops->narrow(o->dtype, line, half[k], o->wide);
        }
        if (o->pairs)
            o->loops->join_rows(half[0], half[1], o->wide, to);
        else if (o->dtype == F32)
            memcpy(to, line, (size_t)o->wide * sizeof *to);
        else
            o->loops->widen(o->dtype, half[0], (float *)to, o->wide);
    }
}

// ---- one task
static struct task task_of(const struct scan *o, int64_t i)
{
    struct task k = {.d = i % o->d, .first = i / o->d * ROWS};
    k.rows = o->samples - k.first < ROWS ? o->samples - k.first : ROWS;
    for (int64_t b = 0; b < k.rows; b++) {
        int64_t n = o->length ? o->length[k.first + b] : o->t;
        k.n[b] = n < 0 ? 0 : n > o->t ? o->t : n;
        if (k.n[b] > k.most) k.most = k.n[b];
    }
    return k;
}

// The offset in [B,T,D,parts,H] of the units of word i of sample b, in the order of the direction.
static int64_t place_of(const struct scan *o, const struct task *k, int64_t b, int64_t i, int64_t parts)
{
    int64_t row = (k->first + b) * o->t + (k->d && i < k->n[b] ? k->n[b] - 1 - i : i);
    return (row * o->d + k->d) * parts * o->h;
}

// The same in a state.
static int64_t state_of(const struct scan *o, const struct task *k, int64_t b)
{
    return ((k->first + b) * o->d + k->d) * o->h;
}

static void multiply(const struct scan *o, const struct task *k, const struct rows *r, bool adds)
{
    struct product p = {.a = (const float *)r->units, .b = (const float *)o->weights + k->d * o->depth * o->wide, .c = r->product,
                        .rows = ROWS, .columns = o->wide, .depth = o->depth, .a_row = o->depth, .a_unit = 1, .b_row = o->wide,
                        .c_row = o->wide, .adds = adds};
    if (o->pairs)
        pairs_product(&p);
    else
        o->loops->product(&p);
}

static void read_parts(const struct scan *o, const void *from, int64_t at, float *to)
{
    for (int i = 0; i < GATES; i++) o->loops->widen(o->dtype, cpu_at(o->dtype, from, at + i * o->h), to + i * o->lanes, o->h);
}

static void write_parts(const struct scan *o, const float *from, void *to, int64_t at)
{
    for (int i = 0; i < GATES && to; i++)
        o->loops->narrow(o->dtype, from + i * o->lanes, cpu_at(o->dtype, to, at + i * o->h), o->h);
}

static void clear_units(const struct scan *o, void *to, int64_t at, int64_t n)
{
    if (to) memset(cpu_at(o->dtype, to, at), 0, (size_t)n * dtype_size(o->dtype));
}

// Rounds n numbers to the type of the activations and writes them as row b of the product's input.
static void set_units(const struct scan *o, const struct rows *r, int64_t b, const float *from, int64_t n)
{
    uint32_t *to = r->units + b * o->depth;
    o->loops->narrow(o->dtype, from, r->narrow, n);
    if (o->pairs)
        memcpy(to, r->narrow, (size_t)n * sizeof(uint16_t));
    else
        o->loops->widen(o->dtype, r->narrow, (float *)to, n);
}

// Reads a part of a row as f32; NULL: zeros.
static void read_units(const struct scan *o, const void *from, int64_t at, float *to)
{
    if (from)
        o->loops->widen(o->dtype, cpu_at(o->dtype, from, at), to, o->h);
    else
        memset(to, 0, (size_t)o->h * sizeof *to);
}

static void copy_units(const struct scan *o, const void *from, int64_t at, void *to, int64_t into)
{
    if (from)
        memcpy(cpu_at(o->dtype, to, into), cpu_at(o->dtype, from, at), (size_t)o->h * dtype_size(o->dtype));
    else
        clear_units(o, to, into, o->h);
}

static void read_cells(const struct scan *o, const float *from, int64_t at, float *to)
{
    if (from) memcpy(to, from + at, (size_t)o->h * sizeof *to);
}

static void prefetch_word(const struct scan *o, const struct task *k, int64_t b, int64_t i)
{
    const struct cpu_step *s = o->step;
    if (i < 0 || i >= k->n[b]) return;
    int64_t at = place_of(o, k, b, i, 1);
    cpu_prefetch(o->dtype, s->in[0], GATES * at, GATES * o->h);
    for (int j = 2; j < 4 && o->back; j++) cpu_prefetch(o->dtype, s->in[j], at, o->h);
    cpu_prefetch(o->dtype, o->dh, at, o->h);
}

static void begin_rows(const struct scan *o, const struct rows *r)
{
    memset(r->gates, 0, (size_t)(ROWS * GATES * o->lanes) * sizeof(float));
    memset(r->units, 0, (size_t)(ROWS * o->depth) * sizeof *r->units);
    memset(r->product, 0, (size_t)(ROWS * o->wide) * sizeof(float));
    memset(r->c, 0, (size_t)(ROWS * o->lanes) * sizeof(float));
    memset(r->now, 0, (size_t)o->lanes * sizeof(float));
    memset(r->before, 0, (size_t)o->lanes * sizeof(float));
    memset(r->h, 0, (size_t)o->lanes * sizeof(float));
}

// ---- forward
static void begin_states(const struct scan *o, const struct task *k, const struct rows *r, int64_t b)
{
    read_cells(o, o->c0, state_of(o, k, b), r->c + b * o->lanes);
    read_units(o, o->h0, state_of(o, k, b), r->h);
    set_units(o, r, b, r->h, o->h);
}

// The final states are in row b of c and in `narrow`.
static void write_states(const struct scan *o, const struct task *k, const struct rows *r, int64_t b)
{
    const struct cpu_step *s = o->step;
    int64_t at = state_of(o, k, b);
    if (s->out[3]) copy_units(o, r->narrow, 0, s->out[3], at);
    if (s->out[4]) memcpy((float *)s->out[4] + at, r->c + b * o->lanes, (size_t)o->h * sizeof(float));
}

static void forward_word(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    const struct cpu_step *s = o->step;
    int64_t at = place_of(o, k, b, i, 1);
    float *gates = r->gates + b * GATES * o->lanes, *c = r->c + b * o->lanes;
    o->loops->lstm(gates, c, r->h, o->lanes);
    set_units(o, r, b, r->h, o->h);
    if (s->out[0]) memcpy(cpu_at(o->dtype, s->out[0], at), r->narrow, (size_t)o->h * dtype_size(o->dtype));
    if (s->out[1]) o->loops->narrow(o->dtype, c, cpu_at(o->dtype, s->out[1], at), o->h);
    write_parts(o, gates, s->out[2], GATES * at);
    if (i == k->n[b] - 1) write_states(o, k, r, b);
}

static void forward_task(const struct scan *o, const struct task *k, const struct rows *r)
{
    const struct cpu_step *s = o->step;
    for (int64_t b = 0; b < k->rows; b++) {
        begin_states(o, k, r, b);
        if (k->n[b] == 0) write_states(o, k, r, b);
    }
    for (int64_t i = 0; i < o->t; i++) {
        for (int64_t b = 0; b < k->rows; b++) {
            int64_t at = place_of(o, k, b, i, 1);
            if (i < k->n[b]) {
                prefetch_word(o, k, b, i + AHEAD);
                read_parts(o, s->in[0], GATES * at, r->gates + b * GATES * o->lanes);
                continue;
            }
            for (int j = 0; j < 2; j++) clear_units(o, s->out[j], at, o->h);
            clear_units(o, s->out[2], GATES * at, GATES * o->h);
        }
        if (i >= k->most) continue;
        if (i > 0 || o->h0) multiply(o, k, r, true);
        for (int64_t b = 0; b < k->rows; b++)
            if (i < k->n[b]) forward_word(o, k, r, b, i);
    }
}

// ---- backward
static void backward_word(const struct scan *o, const struct task *k, const struct rows *r, int64_t b, int64_t i)
{
    const struct cpu_step *s = o->step;
    int64_t at = place_of(o, k, b, i, 1), last = i > 0 ? place_of(o, k, b, i - 1, 1) : 0, state = state_of(o, k, b);
    float *gates = r->gates + b * GATES * o->lanes, *back = r->product + b * o->wide;
    prefetch_word(o, k, b, i - AHEAD);
    read_parts(o, s->in[0], GATES * at, gates);
    read_units(o, s->in[3], at, r->now);
    read_units(o, i > 0 ? s->in[3] : NULL, last, r->before);
    if (i == 0) read_cells(o, o->c0, state, r->before);
    if (o->dh) o->loops->add_scaled(o->dtype, cpu_at(o->dtype, o->dh, at), o->h, 1.0f, back);
    if (s->in[8] && i == k->n[b] - 1) o->loops->add_scaled(o->dtype, cpu_at(o->dtype, s->in[8], state), o->h, 1.0f, back);
    o->loops->lstm_back(gates, r->now, r->before, back, r->c + b * o->lanes, o->lanes);
    set_units(o, r, b, gates, GATES * o->lanes);
    write_parts(o, gates, s->out[0], GATES * at);
    if (s->out[1]) copy_units(o, i > 0 ? s->in[2] : o->h0, i > 0 ? last : state, s->out[1], at);
}

// The gradients of the initial states; those of a sample without words are the gradients of its final ones.
static void write_state_gradients(const struct scan *o, const struct task *k, const struct rows *r)
{
    const struct cpu_step *s = o->step;
    if (s->out[2] && k->most > 0) multiply(o, k, r, false);
    for (int64_t b = 0; b < k->rows; b++) {
        int64_t at = state_of(o, k, b);
        if (s->out[2] && k->n[b] > 0)
            o->loops->narrow(o->dtype, r->product + b * o->wide, cpu_at(o->dtype, s->out[2], at), o->h);
        else if (s->out[2])
            copy_units(o, s->in[8], at, s->out[2], at);
        if (s->out[3]) memcpy((float *)s->out[3] + at, r->c + b * o->lanes, (size_t)o->h * sizeof(float));
    }
}

// The sums for states begin when all samples are past their last word: rows of later ones hold zeros until then.
static void backward_task(const struct scan *o, const struct task *k, const struct rows *r)
{
    const struct cpu_step *s = o->step;
    for (int64_t b = 0; b < k->rows; b++) read_cells(o, s->in[9], state_of(o, k, b), r->c + b * o->lanes);
    for (int64_t i = o->t - 1; i >= 0; i--) {
        if (i + 1 < k->most) multiply(o, k, r, false);
        for (int64_t b = 0; b < k->rows; b++) {
            if (i < k->n[b]) {
                backward_word(o, k, r, b, i);
                continue;
            }
            int64_t at = place_of(o, k, b, i, 1);
            clear_units(o, s->out[0], GATES * at, GATES * o->h);
            clear_units(o, s->out[1], at, o->h);
        }
    }
    write_state_gradients(o, k, r);
}

static void lstm_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct scan *o = context;
    struct rows r = rows_of(o, thread);
    for (int64_t i = begin; i < end; i++) {
        struct task k = task_of(o, i);
        begin_rows(o, &r);
        if (o->back)
            backward_task(o, &k, &r);
        else
            forward_task(o, &k, &r);
    }
}

static int lstm_run(struct cpu_step *s)
{
    struct scan o;
    size_lstm(&o, s->cpu, s->graph, s->node);
    void *const *in = s->in + (o.back ? 4 : 2);
    o.step = s, o.loops = s->cpu->loops, o.length = in[0], o.h0 = in[1], o.c0 = in[2], o.dh = o.back ? in[3] : NULL;
    carve_lstm(&o, s->work, s->cpu->threads);
    if (o.recurs) threads_for(o.d * o.depth, 1, pack_piece, &o);
    threads_for(o.d * ((o.samples + ROWS - 1) / ROWS), 1, lstm_piece, &o);
    return 0;
}

CPU_PREPARE(lstm)
const struct cpu_op cpu_lstm = {.workspace = lstm_workspace, .prepare = lstm_prepare};
const struct cpu_op cpu_lstm_grad = {.workspace = lstm_workspace, .prepare = lstm_prepare};
