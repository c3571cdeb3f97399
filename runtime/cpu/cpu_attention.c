// SPDX-License-Identifier: Apache-2.0
// Attention, one head of one sample at a time; heads are split over threads. Keys and values of the head are packed once, or
// stay where they are (in_place), then QUERIES queries at a time are multiplied by the keys: all keys, or PAIRS_KEYS at a time
// in the backward pass of bf16 pairs. Their scores are the only part of T x T that exists. Gradients of keys and values are
// summed over the blocks of queries in order, so no result depends on the number of threads. Causal: a block of queries meets
// the keys up to the last one that its last query sees, so that blocks above the diagonal are not computed.
//
// Products take 4-byte units (loops.h): f32 numbers, or pairs of bf16 where the processor multiplies them (pairs_product.h),
// which is another path from the packing on. A matrix is packed as
//   words   [unit][row]      its rows become columns of the product: units lie along a row
//   pairs   [unit][column]   units lie down a column
// Rows of scores are a vector longer than needed, and never a multiple of 4 KB, which one cache set would have to hold.
#include "runtime/cpu/cpu_work.h"
#include "runtime/cpu/tiles/tiles.h"
#include "runtime/element.h"

#include <math.h>

enum { QUERIES = 48 };

enum part { Q, K, V, PARTS };

// Queries, keys or values of all samples and heads: rows `pitch` elements apart.
struct part_rows {
    const char *at;
    char *grad;  // or NULL
    int64_t rows, pitch;
};

struct attending {
    const struct cpu_step *step;
    const struct loops *loops;
    struct part_rows part[PARTS];
    const char *y, *dy;
    char *to;
    const float *lse;
    float *lse_to;
    const int32_t *length, *q_length;
    struct attention_mask mask;
    enum dtype dtype;
    bool pairs, tiles, causal;
    int64_t t, keys, h, d;        // queries and keys of a sample; heads; of a head
    int64_t units, wide, padded;    // units of a row of q; columns of d and of the scores, padded
    float scale;
    size_t each;                  // bytes of scratch a thread
};

// A matrix of a head: rows `pitch` elements apart in the tensor.
struct matrix {
    const char *at;
    int64_t pitch, rows;
};

// Rows of a factor, `row` numbers apart.
struct factor {
    float *at;
    int64_t row;
};

enum { AHEAD = 9 };
struct head {
    uint32_t *k_words, *v_words;    // [units][padded]
    uint32_t *k_pairs, *v_pairs;    // [keys][wide]
    struct factor columns;          // f32: of values, backward of keys
    uint32_t *q, *dy;               // [QUERIES][units]
    uint32_t *q_pairs, *dy_pairs;   // [QUERIES][wide]
    float *s, *dp;                  // [QUERIES][padded]; pairs need PAIRS_QUERIES rows of s and no dp
    uint16_t *narrow;               // pairs: the probabilities [QUERIES][padded], backward ds [QUERIES][PAIRS_ROW]
    uint32_t *p_pairs, *ds_pairs;   // [QUERIES / 2][PAIRS_ROW]
    float *y, *dk, *dv;             // [QUERIES][wide]; [keys][wide]
    float *row[2];                  // [wide]: rows of the tensor in f32
    int64_t n, queries, start;      // keys and queries below their lengths; the first block of queries that sees a key
    bool cleared;                   // dk and dv were set to zeros
    struct matrix ahead[AHEAD];     // what the thread's next head reads and writes
    int aheads;
};

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static bool takes_pairs(const struct cpu_device *cpu, enum dtype t)
{
    return t == BF16 && cpu->bf16 && pairs_fit();
}

// Columns of the scores of n keys: whole vectors, and as many rows as the product of their gradients reads.
static int64_t score_columns(int64_t n) { return round_up(n, PRODUCT_LANES) + PRODUCT_LANES; }

// kv: NULL where q holds all.
static void size_attention(struct attending *o, const struct cpu_device *cpu, const struct value *q, const struct value *kv,
                           int heads)
{
    const int64_t *dim = q->shape.dim, width = kv ? dim[2] : dim[2] / 3;
    o->dtype = q->dtype, o->pairs = takes_pairs(cpu, q->dtype);
    o->tiles = o->pairs && cpu->tiles;
    o->t = dim[1], o->keys = kv ? kv->shape.dim[1] : dim[1], o->h = heads, o->d = width / heads;
    o->units = o->pairs ? (o->d + 1) / 2 : o->d;
    o->wide = round_up(o->d, PRODUCT_LANES);
    o->padded = score_columns(o->keys);
    o->scale = (float)(1.0 / sqrt((double)o->d));
}

static size_t carve_head(const struct attending *o, struct head *h, void *base, bool back)
{
    struct cpu_scratch s = {.base = base};
    int64_t keys = round_up(o->keys, PRODUCT_ROWS) + 2;
    h->k_words = cpu_take(&s, o->units * o->padded, 4);
    if (back) h->v_words = cpu_take(&s, o->units * o->padded, 4);
    if (back) h->k_pairs = cpu_take(&s, keys * o->wide, 4);
    else h->v_pairs = cpu_take(&s, keys * o->wide, 4);
    h->q = cpu_take(&s, QUERIES * o->units, 4);
    h->s = cpu_take(&s, (o->pairs ? PAIRS_QUERIES : QUERIES) * o->padded, 4);
    h->y = cpu_take(&s, QUERIES * o->wide, 4);
    for (int i = 0; i < 2; i++) h->row[i] = cpu_take(&s, o->wide, 4);
    if (o->pairs) h->narrow = cpu_take(&s, QUERIES * (back ? PAIRS_ROW : o->padded), 2);
    if (!back) return s.used;
    h->dy = cpu_take(&s, QUERIES * o->units, 4);
    h->q_pairs = cpu_take(&s, QUERIES * o->wide, 4);
    h->dy_pairs = cpu_take(&s, QUERIES * o->wide, 4);
    h->dk = cpu_take(&s, keys * o->wide, 4);
    h->dv = cpu_take(&s, keys * o->wide, 4);
    if (!o->pairs) {
        h->dp = cpu_take(&s, QUERIES * o->padded, 4);
        return s.used;
    }
    h->p_pairs = cpu_take(&s, QUERIES / 2 * PAIRS_ROW, 4);
    h->ds_pairs = cpu_take(&s, QUERIES / 2 * PAIRS_ROW, 4);
    return s.used;
}

static size_t attention_scratch(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    bool back = n->op == OP_ATTENTION_GRAD;
    struct attending o = {0};
    struct head h = {0};
    size_attention(&o, cpu, node_in(g, n, back), node_in(g, n, back + 1), n->attr.attention.heads);
    return carve_head(&o, &h, NULL, back) * (size_t)cpu->threads;
}

static struct matrix matrix_in(const struct attending *o, const struct part_rows *p, const char *at, int64_t b, int64_t h)
{
    return (struct matrix){cpu_at(o->dtype, at, b * p->rows * p->pitch + h * o->d), p->pitch, p->rows};
}

static struct matrix part_of(const struct attending *o, enum part part, int64_t b, int64_t h)
{
    return matrix_in(o, &o->part[part], o->part[part].at, b, h);
}

static struct matrix grad_of_part(const struct attending *o, enum part part, int64_t b, int64_t h)
{
    return matrix_in(o, &o->part[part], o->part[part].grad, b, h);
}

static struct matrix head_of(const struct attending *o, const void *y, int64_t b, int64_t h)
{
    return (struct matrix){cpu_at(o->dtype, y, (b * o->t * o->h + h) * o->d), o->h * o->d, o->t};
}

static const void *row_of(const struct attending *o, struct matrix m, int64_t i) { return cpu_at(o->dtype, m.at, i * m.pitch); }
static void *row_to(const struct attending *o, struct matrix m, int64_t i) { return cpu_at(o->dtype, m.at, i * m.pitch); }

static struct pairs_matrix rows_of(const struct attending *o, struct matrix m, int64_t first, int64_t n)
{
    return (struct pairs_matrix){row_to(o, m, first), m.pitch, n, o->d};
}

static void clear_rows(const struct attending *o, struct matrix m, int64_t first, int64_t end)
{
    for (int64_t t = first; t < end; t++) memset(row_to(o, m, t), 0, (size_t)o->d * dtype_size(o->dtype));
}

static int64_t length_of(const int32_t *length, int64_t b, int64_t most)
{
    int64_t n = length ? length[b] : most;
    return n < 0 ? 0 : n > most ? most : n;
}

// Rows of a head are short and kilobytes apart, which no prefetcher of a processor follows. While a block of queries is computed,
// its rows of the next head come into the second cache, and as large a part of the keys below their length: a cache of keys that
// grows word by word is mostly empty.
static void begin_ahead(const struct attending *o, struct head *h, int64_t next, int64_t end)
{
    int64_t b = next / o->h, head = next % o->h;
    h->aheads = 0;
    if (next == end) return;
    for (enum part part = Q; part < PARTS; part++) {
        int64_t rows = part == Q ? o->t : length_of(o->length, b, o->keys);
        h->ahead[h->aheads] = part_of(o, part, b, head), h->ahead[h->aheads++].rows = rows;
        if (!o->part[part].grad) continue;
        h->ahead[h->aheads] = grad_of_part(o, part, b, head), h->ahead[h->aheads++].rows = rows;
    }
    for (int i = 0; i < 3; i++) {
        const void *y = i == 0 ? o->y : i == 1 ? o->dy : o->to;
        if (y) h->ahead[h->aheads++] = head_of(o, y, b, head);
    }
}

static void fetch_ahead(const struct attending *o, const struct head *h, int64_t first)
{
    enum { LINE = 64, SECOND_CACHE = 2 };
    int64_t size = (int64_t)dtype_size(o->dtype), last = least_of(first + QUERIES, o->t);
    for (int i = 0; i < h->aheads; i++) {
        const struct matrix *m = &h->ahead[i];
        int64_t begin = first * m->rows / o->t, rows = last * m->rows / o->t - begin, pitch = m->pitch * size;
        const char *row = row_of(o, *m, begin);
        for (int64_t t = 0; t < rows; t++, row += pitch)
            for (int64_t at = 0; at < o->d * size; at += LINE) __builtin_prefetch(row + at, 0, SECOND_CACHE);
    }
}

// How many keys a query sees.
static int64_t seen_by(const struct attending *o, const struct head *h, int64_t query)
{
    int64_t seen = query + 1 + h->n - h->queries;
    return !o->causal || seen > h->n ? h->n : seen < 0 ? 0 : seen;
}

// The number of (sample, head, query), which draws the mask of a row.
static int64_t number_of(const struct attending *o, int64_t b, int64_t head, int64_t query)
{
    return (b * o->h + head) * o->t + query;
}

// ---- f32 numbers: packing
// The tensor's own rows are a factor where they are f32 and near each other.
static bool in_place(const struct attending *o, struct matrix m)
{
    enum { NEAR = 1024 };  // with rows of 4 KB or more, few sets of the first cache would hold them all
    return o->dtype == F32 && m.pitch < NEAR;
}

// Rows [first, first + n) as rows of units, and one more if n is odd, which a product reads for nothing.
static struct factor pack_rows(const struct attending *o, struct matrix m, int64_t first, int64_t n, uint32_t *to)
{
    if (in_place(o, m) && (n % 2 == 0 || first + n < m.rows)) return (struct factor){row_to(o, m, first), m.pitch};
    for (int64_t i = 0; i < n; i++) o->loops->widen(o->dtype, row_of(o, m, first + i), (float *)(to + i * o->units), o->d);
    if (n % 2) memset(to + n * o->units, 0, (size_t)o->units * 4);
    return (struct factor){(float *)to, o->units};
}

// Rows [0, n) as columns: to[unit][row]. Columns of zeros follow up to `padded`. `row` holds QUERIES rows of units.
static void pack_words(const struct attending *o, struct matrix m, int64_t n, uint32_t *row, uint32_t *to)
{
    for (int64_t k = 0; k < n; k += QUERIES) {
        int64_t count = least_of(n - k, QUERIES);
        struct factor f = pack_rows(o, m, k, count, row);
        o->loops->turn(f.at, count, o->units, f.row, (float *)to + k, o->padded);
    }
    for (int64_t u = 0; u < o->units; u++) memset(to + u * o->padded + n, 0, (size_t)(o->padded - n) * 4);
}

// Rows [first, first + n) as unit[n][column].
static struct factor pack_columns(const struct attending *o, struct matrix m, int64_t first, int64_t n, uint32_t *to)
{
    if (o->d == o->wide && in_place(o, m)) return (struct factor){row_to(o, m, first), m.pitch};
    for (int64_t i = 0; i < n; i++) {
        uint32_t *unit = to + i * o->wide;
        for (int64_t c = o->d; c < o->wide; c++) unit[c] = 0;
        o->loops->widen(o->dtype, row_of(o, m, first + i), (float *)unit, o->d);
    }
    return (struct factor){(float *)to, o->wide};
}

static void write_rows(const struct attending *o, const float *x, int64_t n, struct matrix to, int64_t first)
{
    for (int64_t i = 0; i < n; i++) o->loops->narrow(o->dtype, x + i * o->wide, row_to(o, to, first + i), o->d);
}

// ---- f32 numbers: products
// c (+)= a b; see struct product. Strides are in units.
static void multiply(const struct attending *o, struct product p)
{
    p.rows = round_up(p.rows, 2);  // even, as a product wants them
    o->loops->product(&p);
}

// s[queries][padded] = q k'
static void score(const struct attending *o, struct factor q, const uint32_t *k_words, int64_t queries, int64_t n, float *s)
{
    multiply(o, (struct product){.a = q.at, .b = (const float *)k_words, .c = s, .rows = queries,
                                 .columns = round_up(n, PRODUCT_LANES), .depth = o->units, .a_row = q.row, .a_unit = 1,
                                 .b_row = o->padded, .c_row = o->padded});
}

// Rows [first, first + queries) of y = s[queries][n] b[n][wide]
static void weigh(const struct attending *o, const struct head *h, const float *s, struct factor b, int64_t queries, int64_t n,
                  struct matrix y, int64_t first)
{
    bool here = o->d == o->wide && queries % 2 == 0 && in_place(o, y);
    struct factor to = here ? (struct factor){row_to(o, y, first), y.pitch} : (struct factor){h->y, o->wide};
    multiply(o, (struct product){.a = s, .b = b.at, .c = to.at, .rows = queries, .columns = o->wide, .depth = n,
                                 .a_row = o->padded, .a_unit = 1, .b_row = b.row, .c_row = to.row});
    if (!here) write_rows(o, h->y, queries, y, first);
}

// sum[n][wide] += s' b, s[queries][n]
static void collect(const struct attending *o, const float *s, struct factor b, int64_t queries, int64_t n, float *sum)
{
    multiply(o, (struct product){.a = s, .b = b.at, .c = sum, .rows = n, .columns = o->wide, .depth = queries,
                                 .a_row = 1, .a_unit = o->padded, .b_row = b.row, .c_row = o->wide, .adds = true});
}

// ---- f32 numbers: blocks of queries, the last of which sees a key
static void forward_block(const struct attending *o, const struct head *h, int64_t b, int64_t head, int64_t first)
{
    int64_t queries = least_of(h->queries - first, QUERIES), row = number_of(o, b, head, first);
    int64_t n = seen_by(o, h, first + queries - 1);
    score(o, pack_rows(o, part_of(o, Q, b, head), first, queries, h->q), h->k_words, queries, n, h->s);
    for (int64_t i = 0; i < queries; i++) {
        float lse = 0.0f, *s = h->s + i * o->padded;
        int64_t seen = seen_by(o, h, first + i);
        if (seen > 0) o->loops->attend(s, seen, score_columns(n), o->scale, &o->mask, (uint32_t)(row + i), &lse);
        else memset(s, 0, (size_t)score_columns(n) * sizeof *s);
        if (o->lse_to) o->lse_to[row + i] = lse;
    }
    if (!o->to) return;
    weigh(o, h, h->s, h->columns, queries, n, head_of(o, o->to, b, head), first);
}

static float dot_rows(const struct attending *o, const void *a, const void *b, float *const row[2])
{
    const float *x = a, *y = b;
    double sum[4] = {0};
    if (o->dtype != F32) {
        o->loops->widen(o->dtype, a, row[0], o->d), x = row[0];
        o->loops->widen(o->dtype, b, row[1], o->d), y = row[1];
    }
    for (int64_t i = 0; i < o->d; i++) sum[i % 4] += (double)x[i] * (double)y[i];
    return (float)(sum[0] + sum[1] + sum[2] + sum[3]);
}

static void backward_block(const struct attending *o, const struct head *h, int64_t b, int64_t head, int64_t first)
{
    int64_t queries = least_of(h->queries - first, QUERIES), row = number_of(o, b, head, first);
    int64_t n = seen_by(o, h, first + queries - 1);
    struct matrix q = part_of(o, Q, b, head), y = head_of(o, o->y, b, head), dy = head_of(o, o->dy, b, head);
    score(o, pack_rows(o, q, first, queries, h->q), h->k_words, queries, n, h->s);
    score(o, pack_rows(o, dy, first, queries, h->dy), h->v_words, queries, n, h->dp);
    for (int64_t i = 0; i < queries; i++)
        o->loops->attend_back(h->s + i * o->padded, h->dp + i * o->padded, seen_by(o, h, first + i), score_columns(n), o->scale,
                              &o->mask, (uint32_t)(row + i), o->lse[row + i],
                              dot_rows(o, row_of(o, dy, first + i), row_of(o, y, first + i), h->row));
    if (o->part[Q].grad) weigh(o, h, h->dp, h->columns, queries, n, grad_of_part(o, Q, b, head), first);
    if (!o->part[K].grad) return;
    collect(o, h->s, pack_columns(o, dy, first, queries, h->dy_pairs), queries, n, h->dv);
    collect(o, h->dp, pack_columns(o, q, first, queries, h->q_pairs), queries, n, h->dk);
}

// ---- pairs of bf16: blocks of queries
// Rows of `narrow` past the queries, up to the tile of the product that reads them.
static void clear_tile(const struct head *h, int64_t queries, int64_t pitch)
{
    int64_t rows = round_up(queries, PAIRS_TILE) - queries;
    memset(h->narrow + queries * pitch, 0, (size_t)(rows * pitch) * sizeof *h->narrow);
}

static void forward_pairs(const struct attending *o, const struct head *h, int64_t b, int64_t head, int64_t first)
{
    int64_t queries = least_of(h->queries - first, QUERIES), row = number_of(o, b, head, first);
    int64_t n = seen_by(o, h, first + queries - 1);
    struct pairs_matrix q = rows_of(o, part_of(o, Q, b, head), first, queries);
    struct pairs_scores scores = {.k_words = h->k_words, .units = o->units, .padded = o->padded, .scale = o->scale, 
                                  .mask = &o->mask, .causal = o->causal, .tiles = o->tiles};
    float lse[QUERIES], weight[QUERIES];
    pairs_pack_rows(&q, o->units, h->q);
    for (int64_t i = 0; i < queries; i += PAIRS_QUERIES) {
        scores.q = h->q + i * o->units, scores.row = (uint32_t)(row + i), scores.seen = first + i + 1 + h->n - h->queries;
        pairs_attend(&scores, least_of(queries - i, PAIRS_QUERIES), n, h->s, h->narrow + i * o->padded, lse + i, weight + i);
    }
    if (o->lse_to) memcpy(o->lse_to + row, lse, (size_t)queries * sizeof *lse);
    if (!o->to) return;
    clear_tile(h, queries, o->padded);
    struct product p = {.a = (const float *)h->narrow, .b = (const float *)h->v_pairs, .c = h->y,
                        .rows = round_up(queries, PAIRS_TILE), .columns = o->wide, .depth = (n + 1) / 2,
                        .a_row = o->padded / 2, .a_unit = 1, .b_row = o->wide, .c_row = o->wide};
    multiply_units(o->loops, true, o->tiles, &p);
    struct pairs_matrix y = rows_of(o, head_of(o, o->to, b, head), first, queries);
    pairs_narrow(&y, h->y, o->wide, weight, 1);
}

// Gradients of the queries of a block from `keys` keys from `key` on, and of these keys and values from the queries.
static void backward_products(const struct attending *o, const struct head *h, int64_t first, int64_t queries, int64_t key,
                              int64_t keys)
{
    struct product p = {.a = (const float *)h->narrow, .b = (const float *)h->k_pairs + key / 2 * o->wide, .c = h->y,
                        .rows = round_up(queries, PAIRS_TILE), .columns = o->wide, .depth = (keys + 1) / 2,
                        .a_row = PAIRS_ROW / 2, .a_unit = 1, .b_row = o->wide, .c_row = o->wide, .adds = key > 0};
    multiply_units(o->loops, true, o->tiles, &p);
    p = (struct product){.rows = round_up(keys, PAIRS_TILE), .columns = o->wide, .depth = (queries + 1) / 2, .a_row = 1,
                         .a_unit = PAIRS_ROW, .b_row = o->wide, .c_row = o->wide, .adds = h->cleared || first > 0};
    p.a = (const float *)h->p_pairs, p.b = (const float *)h->dy_pairs, p.c = h->dv + key * o->wide;
    multiply_units(o->loops, true, o->tiles, &p);
    p.a = (const float *)h->ds_pairs, p.b = (const float *)h->q_pairs, p.c = h->dk + key * o->wide;
    multiply_units(o->loops, true, o->tiles, &p);
}

static void backward_pairs(const struct attending *o, const struct head *h, int64_t b, int64_t head, int64_t first)
{
    int64_t queries = least_of(h->queries - first, QUERIES), even = round_up(queries, 2), row = number_of(o, b, head, first);
    int64_t n = seen_by(o, h, first + queries - 1);
    struct pairs_matrix q = rows_of(o, part_of(o, Q, b, head), first, queries);
    struct pairs_matrix y = rows_of(o, head_of(o, o->y, b, head), first, queries);
    struct pairs_matrix dy = rows_of(o, head_of(o, o->dy, b, head), first, queries);
    struct pairs_scores scores = {.k_words = h->k_words, .v_words = h->v_words, .units = o->units, .padded = o->padded,
                                  .scale = o->scale, .mask = &o->mask, .causal = o->causal, .tiles = o->tiles};
    float lse[QUERIES], delta[QUERIES], one = 1.0f;
    pairs_pack_rows(&q, o->units, h->q);
    pairs_pack_rows(&dy, o->units, h->dy);
    pairs_pack_pairs(&q, o->wide, h->q_pairs);
    pairs_pack_pairs(&dy, o->wide, h->dy_pairs);
    pairs_dots(&dy, &y, delta);
    memcpy(lse, o->lse + row, (size_t)queries * sizeof *lse);
    // An odd last query has a row of zeros behind it. Its probabilities are 2^-126, multiplied by rows of zeros.
    if (queries < even) lse[queries] = INFINITY, delta[queries] = 0.0f;
    clear_tile(h, even, PAIRS_ROW);
    for (int64_t key = 0; key < n; key += PAIRS_KEYS) {
        int64_t keys = least_of(n - key, PAIRS_KEYS);
        for (int64_t i = 0; i < even; i += PAIRS_QUERIES) {
            struct pairs_gradients g = {.lse = lse + i, .delta = delta + i, .p_pairs = h->p_pairs + i / 2 * PAIRS_ROW,
                                        .ds_pairs = h->ds_pairs + i / 2 * PAIRS_ROW, .ds = h->narrow + i * PAIRS_ROW};
            scores.q = h->q + i * o->units, scores.dy = h->dy + i * o->units, scores.row = (uint32_t)(row + i);
            scores.seen = first + i + 1 + h->n - h->queries;
            pairs_attend_back(&scores, least_of(even - i, PAIRS_QUERIES), key, keys, &g);
        }
        backward_products(o, h, first, queries, key, keys);
    }
    if (!o->part[Q].grad) return;
    struct pairs_matrix dq = rows_of(o, grad_of_part(o, Q, b, head), first, queries);
    pairs_narrow(&dq, h->y, o->wide, &one, 0);
}

// ---- a head
static void begin_head(const struct attending *o, struct head *h, int64_t b)
{
    h->n = length_of(o->length, b, o->keys);
    h->queries = length_of(o->q_length, b, o->t);
    int64_t blind = h->n == 0 ? h->queries : o->causal && h->queries > h->n ? h->queries - h->n : 0;
    h->start = blind == h->queries ? blind : blind / QUERIES * QUERIES;
}

static void forward_head(const struct attending *o, struct head *h, int64_t b, int64_t head)
{
    struct matrix k = part_of(o, K, b, head), v = part_of(o, V, b, head);
    struct pairs_matrix k_rows = rows_of(o, k, 0, h->n), v_rows = rows_of(o, v, 0, h->n);
    if (o->pairs) {
        pairs_pack_words(&k_rows, o->padded, h->k_words);
        pairs_pack_pairs(&v_rows, o->wide, h->v_pairs);
    } else {
        pack_words(o, k, h->n, h->q, h->k_words);
        h->columns = pack_columns(o, v, 0, h->n, h->v_pairs);
    }
    for (int64_t first = h->start; first < h->queries; first += QUERIES) {
        fetch_ahead(o, h, first);
        (o->pairs ? forward_pairs : forward_block)(o, h, b, head, first);
    }
}

static void forward_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct attending *o = context;
    struct head h = {0};
    carve_head(o, &h, (char *)o->step->work + o->each * (size_t)thread, false);
    for (int64_t i = begin; i < end; i++) {
        int64_t b = i / o->h, head = i % o->h;
        begin_head(o, &h, b);
        begin_ahead(o, &h, i + 1, end);
        forward_head(o, &h, b, head);
        for (int64_t t = 0; t < o->t && o->lse_to; t++)
            if (t < h.start || t >= h.queries) o->lse_to[i * o->t + t] = 0.0f;
        if (!o->to) continue;
        clear_rows(o, head_of(o, o->to, b, head), 0, h.start);
        clear_rows(o, head_of(o, o->to, b, head), h.queries, o->t);
    }
}

static void backward_head_floats(const struct attending *o, struct head *h, int64_t b, int64_t head)
{
    struct matrix k = part_of(o, K, b, head), v = part_of(o, V, b, head);
    size_t sums = (size_t)(round_up(o->keys, PRODUCT_ROWS) + 2) * (size_t)o->wide;
    pack_words(o, k, h->n, h->q, h->k_words);
    pack_words(o, v, h->n, h->q, h->v_words);
    h->columns = pack_columns(o, k, 0, h->n, h->k_pairs);
    memset(h->dk, 0, sums * sizeof(float));
    memset(h->dv, 0, sums * sizeof(float));
    for (int64_t first = h->start; first < h->queries; first += QUERIES) {
        fetch_ahead(o, h, first);
        backward_block(o, h, b, head, first);
    }
    if (!o->part[K].grad) return;
    write_rows(o, h->dk, h->n, grad_of_part(o, K, b, head), 0);
    write_rows(o, h->dv, h->n, grad_of_part(o, V, b, head), 0);
}

static void backward_head_pairs(const struct attending *o, struct head *h, int64_t b, int64_t head)
{
    struct pairs_matrix k = rows_of(o, part_of(o, K, b, head), 0, h->n), v = rows_of(o, part_of(o, V, b, head), 0, h->n);
    size_t sums = (size_t)(round_up(o->keys, PRODUCT_ROWS) + 2) * (size_t)o->wide;
    float one = 1.0f, factor = o->mask.key ? o->mask.factor : 1.0f;
    pairs_pack_words(&k, o->padded, h->k_words);
    pairs_pack_words(&v, o->padded, h->v_words);
    pairs_pack_pairs(&k, o->wide, h->k_pairs);
    h->cleared = o->causal || h->start == h->queries;  // else the first block of queries meets every key
    if (h->cleared) {
        memset(h->dk, 0, sums * sizeof(float));
        memset(h->dv, 0, sums * sizeof(float));
    }
    for (int64_t first = h->start; first < h->queries; first += QUERIES) {
        fetch_ahead(o, h, first);
        backward_pairs(o, h, b, head, first);
    }
    if (!o->part[K].grad) return;
    struct pairs_matrix dk = rows_of(o, grad_of_part(o, K, b, head), 0, h->n);
    struct pairs_matrix dv = rows_of(o, grad_of_part(o, V, b, head), 0, h->n);
    pairs_narrow(&dk, h->dk, o->wide, &one, 0);
    pairs_narrow(&dv, h->dv, o->wide, &factor, 0);
}

static void backward_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct attending *o = context;
    struct head h = {0};
    carve_head(o, &h, (char *)o->step->work + o->each * (size_t)thread, true);
    for (int64_t i = begin; i < end; i++) {
        int64_t b = i / o->h, head = i % o->h;
        begin_head(o, &h, b);
        begin_ahead(o, &h, i + 1, end);
        (o->pairs ? backward_head_pairs : backward_head_floats)(o, &h, b, head);
        for (enum part part = Q; part < PARTS; part++)
            if (o->part[part].grad)
                clear_rows(o, grad_of_part(o, part, b, head), part == Q ? h.queries : h.n, o->part[part].rows);
        if (o->part[Q].grad) clear_rows(o, grad_of_part(o, Q, b, head), 0, h.start);
    }
}

// ---- operators
// Input `q` is followed by kv, inputs from `lengths` on are lengths, q_lengths, key and step; output `grad` by the gradient of
// kv.
static void begin_attention(struct attending *o, const struct cpu_step *s, int q, int lengths, int grad)
{
    const struct attention_attr *a = &s->node->attr.attention;
    const struct value *kv = cpu_in(s, q + 1);
    size_attention(o, s->cpu, cpu_in(s, q), kv, a->heads);
    o->step = s, o->loops = s->cpu->loops, o->causal = a->causal;
    o->length = s->in[lengths], o->q_length = kv ? s->in[lengths + 1] : o->length;
    o->each = s->work_bytes / (size_t)s->cpu->threads;
    for (enum part part = Q; part < PARTS; part++) {
        int apart = kv && part != Q, number = kv ? part != Q ? part - 1 : 0 : part;  // the tensor; the position in its rows
        int64_t width = o->h * o->d;
        char *dx = grad == NONE ? NULL : s->out[grad + apart];
        o->part[part] = (struct part_rows){cpu_at(o->dtype, s->in[q + apart], number * width),
                                           dx ? cpu_at(o->dtype, dx, number * width) : NULL, part == Q ? o->t : o->keys,
                                           (kv ? 1 + apart : 3) * width};
    }
    if (s->in[lengths + 2])
        o->mask = (struct attention_mask){s->in[lengths + 2], *(const uint32_t *)s->in[lengths + 3], (uint32_t)a->site,
                                          element_least(a->p), element_factor(a->p)};
}

static int attention_run(struct cpu_step *s)
{
    struct attending o = {.to = s->out[0], .lse_to = s->out[1]};
    begin_attention(&o, s, 0, 2, NONE);
    threads_for(cpu_in(s, 0)->shape.dim[0] * o.h, 1, forward_piece, &o);
    return 0;
}

static int attention_grad_run(struct cpu_step *s)
{
    struct attending o = {.dy = s->in[0], .y = s->in[3], .lse = s->in[4]};
    begin_attention(&o, s, 1, 5, 0);
    if (s->out[0] || s->out[1]) threads_for(cpu_in(s, 1)->shape.dim[0] * o.h, 1, backward_piece, &o);
    return 0;
}

CPU_PREPARE(attention)
CPU_PREPARE(attention_grad)
const struct cpu_op cpu_attention = {.workspace = attention_scratch, .prepare = attention_prepare};
const struct cpu_op cpu_attention_grad = {.workspace = attention_scratch, .prepare = attention_grad_prepare};
