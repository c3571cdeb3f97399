// SPDX-License-Identifier: Apache-2.0
// The parts that LSTM and GRU share: see cpu_scan.h.
#include "runtime/cpu/cpu_scan.h"
#include "runtime/cpu/tiles/tiles.h"

void scan_size(struct scan *o, const struct cpu_device *cpu, const struct graph *g, const struct node *n, int parts)
{
    const struct value *x = &g->value[n->in[0]];
    o->dtype = x->dtype, o->pairs = x->dtype == BF16 && cpu->bf16 && pairs_fit(), o->tiles = o->pairs && cpu->tiles;
    o->samples = x->shape.dim[0], o->t = x->shape.dim[1], o->d = n->attr.recurrent.directions;
    o->h = x->shape.dim[2] / parts / o->d, o->lanes = loops_lanes(o->h);
    int64_t reads = o->back ? o->gates * o->lanes : o->h;
    o->depth = o->pairs ? (reads + 1) / 2 : reads;
    o->wide = o->back ? o->lanes : o->gates * o->lanes;
}

static size_t carve_rows(const struct scan *o, struct rows *r, void *base)
{
    struct cpu_scratch s = {.base = base};
    r->gates = cpu_take(&s, o->rows * SCAN_PARTS * o->lanes, sizeof(float));
    r->product = o->back ? cpu_take(&s, o->rows * o->lanes, sizeof(float)) : r->gates;
    r->reset = cpu_take(&s, o->back && o->gates == 3 ? o->rows * o->lanes : 0, sizeof(float));
    r->units = cpu_take(&s, o->rows * o->depth, sizeof(uint32_t));
    r->c = cpu_take(&s, o->rows * o->lanes, sizeof(float));
    float **row[] = {&r->h, &r->now, &r->before};
    for (int i = 0; i < 3; i++) *row[i] = cpu_take(&s, o->lanes, sizeof(float));
    r->narrow = cpu_take(&s, SCAN_PARTS * o->lanes, sizeof(float));
    return s.used;
}

size_t scan_carve(struct scan *o, void *base, int threads)
{
    struct cpu_scratch s = {.base = base};
    struct rows r;
    o->weights = cpu_take(&s, o->recurs ? o->d * o->depth * o->wide : 0, sizeof(uint32_t));
    o->biases = cpu_take(&s, o->d * o->gates * o->lanes, sizeof(float));
    o->scratch_each = carve_rows(o, &r, NULL);
    o->scratch = cpu_take(&s, threads, o->scratch_each);
    return s.used;
}

static struct rows rows_of(const struct scan *o, int thread)
{
    struct rows r;
    carve_rows(o, &r, o->scratch + o->scratch_each * (size_t)thread);
    return r;
}

static void clear_rows(const struct scan *o, const struct rows *r)
{
    memset(r->gates, 0, (size_t)(o->rows * SCAN_PARTS * o->lanes) * sizeof(float));
    memset(r->units, 0, (size_t)(o->rows * o->depth) * sizeof *r->units);
    if (o->back) memset(r->product, 0, (size_t)(o->rows * o->lanes) * sizeof(float));
    memset(r->c, 0, (size_t)(o->rows * o->lanes) * sizeof(float));
    memset(r->now, 0, (size_t)o->lanes * sizeof(float));
    memset(r->before, 0, (size_t)o->lanes * sizeof(float));
    memset(r->h, 0, (size_t)o->lanes * sizeof(float));
}

// ---- weights: w[gates][h][h] of a direction, of gates by states. Forward the product reads states and makes gates, so w is
// transposed, 16 gates at a time; backward it reads gradients of gates and makes gradients of states. Lanes past the last unit
// have weights of zero.
enum { COLUMNS = 16 };

// A row of w as the units of a product; `half` holds it in 16 bits.
static void units_of(const struct scan *o, const float *row, uint16_t *half, uint32_t *to)
{
    memset(to, 0, (size_t)o->depth * sizeof *to);
    if (!row) return;
    if (o->dtype == F32) {
        memcpy(to, row, (size_t)o->h * sizeof *to);
        return;
    }
    o->loops->narrow(o->dtype, row, half, o->h);
    if (o->pairs) memcpy(to, half, (size_t)o->h * sizeof *half);
    else o->loops->widen(o->dtype, half, (float *)to, o->h);
}

static void pack_columns(void *context, int64_t begin, int64_t end, int thread)  // of all directions, by 16
{
    const struct scan *o = context;
    struct rows r = rows_of(o, thread);
    uint32_t *units = (uint32_t *)r.gates;
    for (int64_t i = begin; i < end; i++) {
        const int64_t d = i / (o->wide / COLUMNS), first = i % (o->wide / COLUMNS) * COLUMNS, gate = first / o->lanes;
        const float *w = (const float *)o->step->in[1] + (d * o->gates + gate) * o->h * o->h;
        uint32_t *to = o->weights + d * o->depth * o->wide + first;
        for (int64_t j = 0; j < COLUMNS; j++) {
            const int64_t unit = first % o->lanes + j;
            units_of(o, unit < o->h ? w + unit * o->h : NULL, r.narrow, units + j * o->depth);
        }
        for (int64_t u = 0; u < o->depth; u++, to += o->wide)
            for (int64_t j = 0; j < COLUMNS; j++) to[j] = units[j * o->depth + u];
    }
}

static void pack_rows(void *context, int64_t begin, int64_t end, int thread)  // units of all directions
{
    const struct scan *o = context;
    struct rows r = rows_of(o, thread);
    float *line = r.gates;
    uint16_t *half[2] = {(uint16_t *)(line + o->wide), (uint16_t *)(line + 2 * o->wide)};
    for (int64_t i = begin; i < end; i++) {
        const float *w = (const float *)o->step->in[1] + i / o->depth * o->gates * o->h * o->h;
        uint32_t *to = o->weights + i * o->wide;
        for (int k = 0; k <= o->pairs; k++) {
            const int64_t reads = o->pairs ? 2 * (i % o->depth) + k : i % o->depth, unit = reads % o->lanes;
            memset(line, 0, (size_t)o->wide * sizeof *line);
            if (reads < o->gates * o->lanes && unit < o->h)
                memcpy(line, w + (reads / o->lanes * o->h + unit) * o->h, (size_t)o->h * sizeof *line);
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

static void pack(struct scan *o)
{
    memset(o->biases, 0, (size_t)(o->d * o->gates * o->lanes) * sizeof(float));
    for (int64_t i = 0; i < o->d * o->gates && o->bias; i++)
        memcpy(o->biases + i * o->lanes, o->bias + i * o->h, (size_t)o->h * sizeof(float));
    if (o->recurs && o->back) threads_for(o->d * o->depth, 1, pack_rows, o);
    if (o->recurs && !o->back) threads_for(o->d * o->wide / COLUMNS, 1, pack_columns, o);
}

// ---- one task
static struct task task_of(const struct scan *o, int64_t i)
{
    struct task k = {.d = i % o->d, .first = i / o->d * o->rows};
    k.rows = o->samples - k.first < o->rows ? o->samples - k.first : o->rows;
    for (int64_t b = 0; b < k.rows; b++) {
        int64_t n = o->length ? o->length[k.first + b] : o->t;
        k.n[b] = n < 0 ? 0 : n > o->t ? o->t : n;
        if (k.n[b] > k.most) k.most = k.n[b];
    }
    return k;
}

static void do_tasks(void *context, int64_t begin, int64_t end, int thread)
{
    const struct scan *o = context;
    const struct rows r = rows_of(o, thread);
    for (int64_t i = begin; i < end; i++) {
        const struct task k = task_of(o, i);
        clear_rows(o, &r);
        o->each(o, &k, &r);
    }
    past_cache_end();
}

// True if the results are written around the caches: they begin at whole lines and are large. Forward, most of them are read by
// the backward pass alone, so half of PAST_CACHE is enough.
static bool is_past_cache(const struct scan *o)
{
    const struct cpu_step *s = o->step;
    int64_t bytes = 0, size = (int64_t)dtype_size(o->dtype), rest = o->h * size;
    for (int i = 0; i < MAX_OUT; i++)
        if (s->node->out[i] != NONE) bytes += cpu_count(cpu_out(s, i)) * size, rest |= (int64_t)(uintptr_t)s->out[i];
    return bytes >= (o->back ? PAST_CACHE : PAST_CACHE / 2) && rest % PAST_CACHE_LINE == 0;
}

void scan_run(struct scan *o, void (*each)(const struct scan *, const struct task *, const struct rows *))
{
    const struct cpu_step *s = o->step;
    o->each = each, o->past_cache = is_past_cache(o);
    scan_carve(o, s->work, s->cpu->threads);
    pack(o);
    threads_for(o->d * ((o->samples + o->rows - 1) / o->rows), 1, do_tasks, o);
}

int64_t scan_offset(const struct scan *o, const struct task *k, int64_t b, int64_t i, int64_t parts)
{
    int64_t row = (k->first + b) * o->t + (k->d && i < k->n[b] ? k->n[b] - 1 - i : i);
    return (row * o->d + k->d) * parts * o->h;
}

void scan_multiply(const struct scan *o, const struct task *k, const struct rows *r, struct scan_parts parts, bool adds)
{
    const int64_t skip = parts.first * o->lanes, count = parts.count * o->lanes, unit = o->pairs ? 2 : 1;
    const float *b = (const float *)o->weights + k->d * o->depth * o->wide;
    struct product p = {.a = (const float *)r->units, .b = b + skip, .c = r->gates + skip, .rows = o->rows, .columns = count,
                        .depth = o->depth, .a_row = o->depth, .a_unit = 1, .b_row = o->wide, .c_row = SCAN_PARTS * o->lanes,
                        .adds = adds};
    if (o->back) p.b = b + skip / unit * o->wide, p.c = r->product, p.columns = p.c_row = o->wide, p.depth = count / unit;
    multiply_units(o->loops, o->pairs, o->tiles, &p);
}

const void *scan_set_units(const struct scan *o, const struct rows *r, int64_t b, const float *from, int64_t n)
{
    uint32_t *to = r->units + b * o->depth;
    if (o->dtype == F32) return memcpy(to, from, (size_t)n * sizeof *to);
    o->loops->narrow(o->dtype, from, r->narrow, n);
    if (o->pairs)
        memcpy(to, r->narrow, (size_t)n * sizeof(uint16_t));
    else
        o->loops->widen(o->dtype, r->narrow, (float *)to, n);
    return r->narrow;
}

void scan_prefetch(const struct scan *o, const struct task *k, int64_t b, int64_t i, int parts)
{
    const struct cpu_step *s = o->step;
    if (i < 0 || i >= k->n[b]) return;
    int64_t at = scan_offset(o, k, b, i, 1);
    cpu_prefetch(o->dtype, s->in[0], parts * at, parts * o->h);
    for (int j = 2; j < 4 && o->back && parts == SCAN_PARTS; j++)
        if (s->in[j] != o->length) cpu_prefetch(o->dtype, s->in[j], at, o->h);
    cpu_prefetch(o->dtype, o->dh, at, o->h);
}
