// SPDX-License-Identifier: Apache-2.0
// Attention, one head of one sample at a time; heads are split over threads. Keys and values of the head are packed once, then
// QUERIES queries at a time meet all keys: their scores are the only part of T x T that exists. Gradients of keys and values are
// summed over the blocks of queries in order, so no result depends on the number of threads.
//
// Products take 4-byte units (loops.h): f32 numbers, or pairs of bf16 where the processor multiplies them. A matrix is packed as
//   words   [unit][row]      its rows become columns of the product: units lie along a row
//   pairs   [unit][column]   units lie down a column
// Rows of scores are a vector longer than needed, and never a multiple of 4 KB, which one cache set would have to hold.
#include "runtime/cpu/cpu_work.h"
#include "runtime/cpu/product/pairs.h"
#include "runtime/element.h"

#include <math.h>

enum { QUERIES = 48 };

struct attention {
    const struct cpu_step *step;
    const struct loops *loops;
    const char *qkv, *y, *dy;
    char *to, *dqkv;
    const float *lse;
    float *lse_to;
    const int32_t *length;
    struct attention_mask mask;
    enum dtype dtype;
    bool pairs;
    int64_t t, h, d;              // of a sample; heads; of a head
    int64_t units, wide, room;    // units of a row of q; columns of d and of the scores, padded
    float scale;
    size_t each;                  // bytes of scratch a thread
};

struct head {
    uint32_t *k_words, *v_words;  // [units][room]
    uint32_t *k_pairs, *v_pairs;  // [keys][wide]
    uint32_t *q, *dy;             // [QUERIES][units]
    uint32_t *q_pairs, *dy_pairs; // [QUERIES][wide]
    float *s, *dp;                // [QUERIES][room]
    uint32_t *narrow;             // [QUERIES][room / 2]: s or dp in bf16
    uint32_t *s_pairs, *dp_pairs; // [QUERIES / 2][room]
    float *y, *dk, *dv;           // [QUERIES][wide]; [keys][wide]
    float *row[2];                // [wide]: rows of the tensor in f32
    int64_t n;                    // keys
};

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static bool takes_pairs(const struct cpu_device *cpu, enum dtype t)
{
    return t == BF16 && cpu->bf16 && pairs_fit();
}

static void size_attention(struct attention *o, const struct cpu_device *cpu, const struct value *qkv, int heads)
{
    const int64_t *dim = qkv->shape.dim;
    o->dtype = qkv->dtype, o->pairs = takes_pairs(cpu, qkv->dtype);
    o->t = dim[1], o->h = heads, o->d = dim[2] / 3 / heads;
    o->units = o->pairs ? (o->d + 1) / 2 : o->d;
    o->wide = round_up(o->d, PRODUCT_LANES);
    o->room = round_up(o->t, PRODUCT_LANES) + PRODUCT_LANES;
    o->scale = (float)(1.0 / sqrt((double)o->d));
}

static size_t carve_head(const struct attention *o, struct head *h, void *base, bool back)
{
    struct cpu_scratch s = {.base = base};
    int64_t keys = round_up(o->t, PRODUCT_ROWS) + 2;
    h->k_words = cpu_take(&s, o->units * o->room, 4);
    if (back) h->v_words = cpu_take(&s, o->units * o->room, 4);
    if (back) h->k_pairs = cpu_take(&s, keys * o->wide, 4);
    else h->v_pairs = cpu_take(&s, keys * o->wide, 4);
    h->q = cpu_take(&s, QUERIES * o->units, 4);
    h->s = cpu_take(&s, QUERIES * o->room, 4);
    h->y = cpu_take(&s, QUERIES * o->wide, 4);
    for (int i = 0; i < 2; i++) h->row[i] = cpu_take(&s, o->wide, 4);
    if (o->pairs) h->narrow = cpu_take(&s, QUERIES * o->room / 2, 4);
    if (!back) return s.used;
    h->dy = cpu_take(&s, QUERIES * o->units, 4);
    h->q_pairs = cpu_take(&s, QUERIES * o->wide, 4);
    h->dy_pairs = cpu_take(&s, QUERIES * o->wide, 4);
    h->dp = cpu_take(&s, QUERIES * o->room, 4);
    h->dk = cpu_take(&s, keys * o->wide, 4);
    h->dv = cpu_take(&s, keys * o->wide, 4);
    if (!o->pairs) return s.used;
    h->s_pairs = cpu_take(&s, QUERIES / 2 * o->room, 4);
    h->dp_pairs = cpu_take(&s, QUERIES / 2 * o->room, 4);
    return s.used;
}

static size_t attention_scratch(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    bool back = n->op == OP_ATTENTION_GRAD;
    struct attention o = {0};
    struct head h = {0};
    size_attention(&o, cpu, &g->value[n->in[back]], n->attr.attention.heads);
    return carve_head(&o, &h, NULL, back) * (size_t)cpu->threads;
}

// ---- packing. A matrix of a head: rows `pitch` elements apart in the tensor.
struct matrix {
    const char *at;
    int64_t pitch;
};

static struct matrix part_of(const struct attention *o, const void *qkv, int64_t b, int64_t h, int part)
{
    int64_t pitch = 3 * o->h * o->d;
    return (struct matrix){cpu_at(o->dtype, qkv, b * o->t * pitch + part * o->h * o->d + h * o->d), pitch};
}

static struct matrix head_of(const struct attention *o, const void *y, int64_t b, int64_t h)
{
    return (struct matrix){cpu_at(o->dtype, y, (b * o->t * o->h + h) * o->d), o->h * o->d};
}

static const void *row_of(const struct attention *o, struct matrix m, int64_t i) { return cpu_at(o->dtype, m.at, i * m.pitch); }
static void *row_to(const struct attention *o, struct matrix m, int64_t i) { return cpu_at(o->dtype, m.at, i * m.pitch); }

// As memcpy, for the few vectors of a row of a head, where a call takes longer.
static void copy_row(void *to, const void *from, size_t bytes)
{
    enum { STEP = 16 };
    size_t at = 0;
    for (; at + STEP <= bytes; at += STEP) memcpy((char *)to + at, (const char *)from + at, STEP);
    for (; at < bytes; at += 2) memcpy((char *)to + at, (const char *)from + at, 2);
}

// Rows [first, first + n) as rows of units; further rows up to `room` become zeros.
static void pack_rows(const struct attention *o, struct matrix m, int64_t first, int64_t n, int64_t room, uint32_t *to)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t *row = to + i * o->units;
        row[o->units - 1] = 0;
        if (o->pairs)
            copy_row(row, row_of(o, m, first + i), (size_t)o->d * 2);
        else
            o->loops->widen(o->dtype, row_of(o, m, first + i), (float *)row, o->d);
    }
    if (room > n) memset(to + n * o->units, 0, (size_t)((room - n) * o->units) * 4);
}

// Rows [0, n) as columns: to[unit][row]. Columns of zeros follow up to room. `row` has place for 16 rows of units.
static void pack_words(const struct attention *o, struct matrix m, int64_t n, uint32_t *row, uint32_t *to)
{
    enum { SIDE = 16 };
    for (int64_t k = 0; k < o->room; k += SIDE) {
        int64_t count = k >= n ? 0 : n - k < SIDE ? n - k : SIDE;
        pack_rows(o, m, k, count, SIDE, row);
        for (int64_t u = 0; u < o->units; u++)
            for (int64_t i = 0; i < SIDE; i++) to[u * o->room + k + i] = row[i * o->units + u];
    }
}

// Rows [first, first + n) as to[unit][column]; the last unit is filled with zeros.
static void pack_pairs(const struct attention *o, struct matrix m, int64_t first, int64_t n, float *const row[2], uint32_t *to)
{
    for (int64_t i = 0; i < n; i += 1 + o->pairs) {
        uint32_t *unit = to + (o->pairs ? i / 2 : i) * o->wide;
        for (int64_t c = o->d; c < o->wide; c++) unit[c] = 0;
        if (!o->pairs) {
            o->loops->widen(o->dtype, row_of(o, m, first + i), (float *)unit, o->d);
            continue;
        }
        const void *second = row_of(o, m, first + i + 1);
        if (i + 1 == n) second = memset(row[0], 0, (size_t)o->d * 2);
        o->loops->join_rows(row_of(o, m, first + i), second, o->d, unit);
    }
}

// c (+)= a b; see struct product. Strides are in units.
static void multiply(const struct attention *o, struct product p)
{
    p.rows = round_up(p.rows, PRODUCT_ROWS);
    if (o->pairs)
        pairs_product(&p);
    else
        o->loops->product(&p);
}

static int64_t units_of(const struct attention *o, int64_t n) { return o->pairs ? (n + 1) / 2 : n; }

// s[queries][room] = q k'
static void score(const struct attention *o, const uint32_t *q, const uint32_t *k_words, int64_t queries, int64_t n, float *s)
{
    multiply(o, (struct product){.a = (const float *)q, .b = (const float *)k_words, .c = s, .rows = queries,
                                 .columns = round_up(n, PRODUCT_LANES), .depth = o->units, .a_row = o->units, .a_unit = 1,
                                 .b_row = o->room, .c_row = o->room});
}

// y[queries][wide] = s[queries][keys] b[keys][wide], for s as floats, or h->narrow in pairs
static void weigh(const struct attention *o, const struct head *h, const float *s, const uint32_t *b, int64_t queries)
{
    multiply(o, (struct product){.a = o->pairs ? (const float *)h->narrow : s, .b = (const float *)b, .c = h->y, .rows = queries,
                                 .columns = o->wide, .depth = units_of(o, h->n), .a_row = o->pairs ? o->room / 2 : o->room,
                                 .a_unit = 1, .b_row = o->wide, .c_row = o->wide});
}

// sum[keys][wide] += s' b, s[queries][keys] in pairs of queries
static void collect(const struct attention *o, const struct head *h, const void *s, const uint32_t *b, int64_t queries,
                    float *sum)
{
    multiply(o, (struct product){.a = s, .b = (const float *)b, .c = sum, .rows = h->n, .columns = o->wide,
                                 .depth = units_of(o, queries), .a_row = 1, .a_unit = o->room, .b_row = o->wide,
                                 .c_row = o->wide, .adds = true});
}

static int64_t length_of(const struct attention *o, int64_t b)
{
    int64_t n = o->length ? o->length[b] : o->t;
    return n < 0 ? 0 : n > o->t ? o->t : n;
}

// ---- forward
static void forward_block(const struct attention *o, const struct head *h, int64_t b, int64_t head, int64_t first)
{
    int64_t queries = h->n - first < QUERIES ? h->n - first : QUERIES, row = (b * o->h + head) * o->t + first;
    pack_rows(o, part_of(o, o->qkv, b, head, 0), first, queries, QUERIES, h->q);
    score(o, h->q, h->k_words, queries, h->n, h->s);
    float weight[QUERIES];
    for (int64_t i = 0; i < queries; i++) {
        float lse, *s = h->s + i * o->room;
        if (o->pairs)
            pairs_attend(s, h->n, o->room, o->scale, &o->mask, (uint32_t)(row + i), (uint16_t *)h->narrow + i * o->room, &lse,
                         &weight[i]);
        else
            o->loops->attend(s, h->n, o->room, o->scale, &o->mask, (uint32_t)(row + i), &lse), weight[i] = 1.0f;
        if (o->lse_to) o->lse_to[row + i] = lse;
    }
    if (!o->to) return;
    weigh(o, h, h->s, h->v_pairs, queries);
    struct matrix y = head_of(o, o->to, b, head);
    for (int64_t i = 0; i < queries; i++) {
        for (int64_t c = 0; c < o->d; c++) h->y[i * o->wide + c] *= weight[i];
        o->loops->narrow(o->dtype, h->y + i * o->wide, row_to(o, y, first + i), o->d);
    }
}

static void forward_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct attention *o = context;
    struct head h = {0};
    carve_head(o, &h, (char *)o->step->work + o->each * (size_t)thread, false);
    for (int64_t i = begin; i < end; i++) {
        int64_t b = i / o->h, head = i % o->h;
        h.n = length_of(o, b);
        pack_words(o, part_of(o, o->qkv, b, head, 1), h.n, h.q, h.k_words);
        pack_pairs(o, part_of(o, o->qkv, b, head, 2), 0, h.n, h.row, h.v_pairs);
        for (int64_t first = 0; first < h.n; first += QUERIES) forward_block(o, &h, b, head, first);
        for (int64_t t = h.n; t < o->t; t++) {
            if (o->to) memset(row_to(o, head_of(o, o->to, b, head), t), 0, (size_t)o->d * dtype_size(o->dtype));
            if (o->lse_to) o->lse_to[i * o->t + t] = 0.0f;
        }
    }
}

// Inputs from `lengths` on are lengths, key and step.
static void begin_attention(struct attention *o, const struct cpu_step *s, int qkv, int lengths)
{
    const struct attention_attr *a = &s->node->attr.attention;
    size_attention(o, s->cpu, cpu_in(s, qkv), a->heads);
    o->step = s, o->loops = s->cpu->loops, o->qkv = s->in[qkv], o->length = s->in[lengths];
    o->each = s->work_bytes / (size_t)s->cpu->threads;
    if (s->in[lengths + 1])
        o->mask = (struct attention_mask){s->in[lengths + 1], *(const uint32_t *)s->in[lengths + 2], (uint32_t)a->site,
                                          element_attention_least(a->p), element_attention_factor(a->p)};
}

static int attention_run(struct cpu_step *s)
{
    struct attention o = {.to = s->out[0], .lse_to = s->out[1]};
    begin_attention(&o, s, 0, 1);
    threads_for(cpu_in(s, 0)->shape.dim[0] * o.h, 1, forward_piece, &o);
    return 0;
}

// ---- backward
static float dot_rows(const struct attention *o, const void *a, const void *b, float *const row[2])
{
    double sum = 0;
    o->loops->widen(o->dtype, a, row[0], o->d);
    o->loops->widen(o->dtype, b, row[1], o->d);
    for (int64_t i = 0; i < o->d; i++) sum += (double)row[0][i] * (double)row[1][i];
    return (float)sum;
}

// Probabilities and gradients of the scores of a block, from its scores and the gradients of its probabilities.
static void soften_back(const struct attention *o, const struct head *h, int64_t row, int64_t queries, const float *delta)
{
    for (int64_t i = 0; i < queries && !o->pairs; i++)
        o->loops->attend_back(h->s + i * o->room, h->dp + i * o->room, h->n, o->room, o->scale, &o->mask, (uint32_t)(row + i),
                              o->lse[row + i], delta[i]);
    for (int64_t i = 0; i < queries && o->pairs; i += 2) {
        struct pairs_rows r = {.s_pairs = h->s_pairs + i / 2 * o->room, .dp_pairs = h->dp_pairs + i / 2 * o->room};
        bool last = i + 1 == queries;  // the second row is zero then, and so are its gradients
        for (int q = 0; q < 2; q++) {
            r.s[q] = h->s + (i + q) * o->room, r.dp[q] = h->dp + (i + q) * o->room;
            r.ds[q] = (uint16_t *)h->narrow + (i + q) * o->room;
            r.lse[q] = q && last ? INFINITY : o->lse[row + i + q], r.delta[q] = q && last ? 0.0f : delta[i + q];
        }
        pairs_attend_back(&r, h->n, o->room, o->scale, &o->mask, (uint32_t)(row + i));
    }
}

static void backward_block(const struct attention *o, const struct head *h, int64_t b, int64_t head, int64_t first)
{
    int64_t queries = h->n - first < QUERIES ? h->n - first : QUERIES, row = (b * o->h + head) * o->t + first;
    struct matrix q = part_of(o, o->qkv, b, head, 0), dq = part_of(o, o->dqkv, b, head, 0);
    struct matrix y = head_of(o, o->y, b, head), dy = head_of(o, o->dy, b, head);
    pack_rows(o, q, first, queries, QUERIES, h->q);
    pack_rows(o, dy, first, queries, QUERIES, h->dy);
    pack_pairs(o, q, first, queries, h->row, h->q_pairs);
    pack_pairs(o, dy, first, queries, h->row, h->dy_pairs);
    score(o, h->q, h->k_words, queries, h->n, h->s);
    score(o, h->dy, h->v_words, queries, h->n, h->dp);
    float delta[QUERIES];
    for (int64_t i = 0; i < queries; i++) delta[i] = dot_rows(o, row_of(o, dy, first + i), row_of(o, y, first + i), h->row);
    soften_back(o, h, row, queries, delta);
    weigh(o, h, h->dp, h->k_pairs, queries);
    for (int64_t i = 0; i < queries; i++)
        o->loops->narrow(o->dtype, h->y + i * o->wide, row_to(o, dq, first + i), o->d);
    collect(o, h, o->pairs ? (const void *)h->s_pairs : h->s, h->dy_pairs, queries, h->dv);
    collect(o, h, o->pairs ? (const void *)h->dp_pairs : h->dp, h->q_pairs, queries, h->dk);
}

static void backward_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct attention *o = context;
    struct head h = {0};
    carve_head(o, &h, (char *)o->step->work + o->each * (size_t)thread, true);
    for (int64_t i = begin; i < end; i++) {
        int64_t b = i / o->h, head = i % o->h, sums = (round_up(o->t, PRODUCT_ROWS) + 2) * o->wide;
        h.n = length_of(o, b);
        pack_words(o, part_of(o, o->qkv, b, head, 1), h.n, h.q, h.k_words);
        pack_words(o, part_of(o, o->qkv, b, head, 2), h.n, h.q, h.v_words);
        pack_pairs(o, part_of(o, o->qkv, b, head, 1), 0, h.n, h.row, h.k_pairs);
        memset(h.dk, 0, (size_t)sums * sizeof(float));
        memset(h.dv, 0, (size_t)sums * sizeof(float));
        for (int64_t first = 0; first < h.n; first += QUERIES) backward_block(o, &h, b, head, first);
        for (int part = 0; part < 3; part++)
            for (int64_t t = part ? 0 : h.n; t < o->t; t++) {
                void *to = row_to(o, part_of(o, o->dqkv, b, head, part), t);
                if (t >= h.n)
                    memset(to, 0, (size_t)o->d * dtype_size(o->dtype));
                else
                    o->loops->narrow(o->dtype, (part == 1 ? h.dk : h.dv) + t * o->wide, to, o->d);
            }
    }
}

static int attention_grad_run(struct cpu_step *s)
{
    struct attention o = {.dy = s->in[0], .y = s->in[2], .lse = s->in[3], .dqkv = s->out[0]};
    begin_attention(&o, s, 1, 4);
    if (o.dqkv) threads_for(cpu_in(s, 1)->shape.dim[0] * o.h, 1, backward_piece, &o);
    return 0;
}

CPU_PREPARE(attention)
CPU_PREPARE(attention_grad)
const struct cpu_op cpu_attention = {.workspace = attention_scratch, .prepare = attention_prepare};
const struct cpu_op cpu_attention_grad = {.workspace = attention_scratch, .prepare = attention_grad_prepare};
