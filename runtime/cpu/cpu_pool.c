// SPDX-License-Identifier: Apache-2.0
// Pooling as a separate operator. 2x2 windows with stride 2 use the fast rows of loops_pool.c. Other windows go pixel by pixel,
// all channels of it; backward, each input pixel gathers from the windows over it, so overlaps are added in one order for any
// number of threads. Cost: one pass, times the overlap backward.
#include "runtime/cpu/cpu_work.h"

enum { CHUNK = 256 };

struct pool {
    const struct loops *loops;
    const struct pool_attr *attr;
    enum dtype dtype;
    int64_t h, w, c, p, q;  // of the input and of the result
    const void *x;
    const uint8_t *at_in;
    void *y;
    uint8_t *at_out;
    bool mean;
    bool halves;  // 2x2 with stride 2
};

static void fill_pool(struct pool *o, const struct cpu_step *s, const struct value *large, const struct value *small)
{
    const int64_t *d = large->shape.dim, *e = small->shape.dim;
    o->loops = s->cpu->loops, o->attr = &s->node->attr.pool, o->dtype = large->dtype;
    o->h = d[1], o->w = d[2], o->c = d[3], o->p = e[1], o->q = e[2];
    const struct pool_attr *a = o->attr;
    o->halves = a->k[0] == 2 && a->k[1] == 2 && a->stride[0] == 2 && a->stride[1] == 2 && !a->pad[0] && !a->pad[1];
}

// The part of a window at `first` (negative within the padding) that lies inside: [*begin, *end) of its k positions.
static void window_inside(int64_t first, int64_t k, int64_t size, int64_t *begin, int64_t *end)
{
    *begin = first < 0 ? -first : 0;
    *end = size - first < k ? size - first : k;
}

// What window (p, q) of a mean pool multiplies its sum by.
static float mean_share(const struct pool *o, int64_t p, int64_t q)
{
    const struct pool_attr *a = o->attr;
    int64_t r0 = 0, r1 = a->k[0], s0 = 0, s1 = a->k[1];
    if (!a->counts_pad) {
        window_inside(p * a->stride[0] - a->pad[0], a->k[0], o->h, &r0, &r1);
        window_inside(q * a->stride[1] - a->pad[1], a->k[1], o->w, &s0, &s1);
    }
    return 1.0f / (float)((r1 - r0) * (s1 - s0));
}

static void mean_pixel(const struct pool *o, const void *image, int64_t p, int64_t q, int64_t to)
{
    const struct pool_attr *a = o->attr;
    int64_t top = p * a->stride[0] - a->pad[0], left = q * a->stride[1] - a->pad[1], r0, r1, s0, s1;
    window_inside(top, a->k[0], o->h, &r0, &r1);
    window_inside(left, a->k[1], o->w, &s0, &s1);
    float sum[CHUNK], share = mean_share(o, p, q);
    for (int64_t c = 0; c < o->c; c += CHUNK) {
        int64_t n = o->c - c < CHUNK ? o->c - c : CHUNK;
        memset(sum, 0, sizeof sum);
        for (int64_t r = r0; r < r1; r++)
            for (int64_t s = s0; s < s1; s++) {
                int64_t pixel = (top + r) * o->w + left + s;
                o->loops->add_scaled(o->dtype, cpu_at(o->dtype, image, pixel * o->c + c), n, 1.0f, sum);
            }
        o->loops->scale(F32, sum, share, sum, n);
        o->loops->narrow(o->dtype, sum, cpu_at(o->dtype, o->y, to + c), n);
    }
}

static void max_pixel(const struct pool *o, const void *image, int64_t p, int64_t q, int64_t to)
{
    const struct pool_attr *a = o->attr;
    int64_t top = p * a->stride[0] - a->pad[0], left = q * a->stride[1] - a->pad[1], r0, r1, s0, s1;
    window_inside(top, a->k[0], o->h, &r0, &r1);
    window_inside(left, a->k[1], o->w, &s0, &s1);
    struct window w;
    w.count = 0;
    for (int64_t r = r0; r < r1; r++)
        for (int64_t s = s0; s < s1; s++, w.count++) {
            w.x[w.count] = cpu_at(o->dtype, image, ((top + r) * o->w + left + s) * o->c);
            w.tap[w.count] = (uint8_t)(r * a->k[1] + s);
        }
    o->loops->pool_max(o->dtype, &w, o->c, o->y ? cpu_at(o->dtype, o->y, to) : NULL, o->at_out ? o->at_out + to : NULL);
}

static void pool_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of the result
{
    (void)thread;
    const struct pool *o = context;
    int64_t row = o->q * o->c, line = o->w * o->c;
    for (int64_t r = begin; r < end; r++) {
        const void *image = cpu_at(o->dtype, o->x, r / o->p * o->h * line);
        int64_t p = r % o->p;
        if (o->halves && !o->mean && o->y) {
            const void *x0 = cpu_at(o->dtype, image, 2 * p * line);
            o->loops->pool2(o->dtype, x0, cpu_at(o->dtype, x0, line), o->q, o->c, cpu_at(o->dtype, o->y, r * row),
                            o->at_out ? o->at_out + r * row : NULL);
            continue;
        }
        for (int64_t q = 0; q < o->q; q++) (o->mean ? mean_pixel : max_pixel)(o, image, p, q, r * row + q * o->c);
    }
}

static int pool_run(struct cpu_step *s, bool mean)
{
    const struct node *n = s->node;
    int any = n->out[0] != NONE ? n->out[0] : n->out[1];
    if (any == NONE) return 0;
    struct pool o = {.x = s->in[0], .y = s->out[0], .at_out = mean ? NULL : s->out[1], .mean = mean};
    fill_pool(&o, s, cpu_in(s, 0), &s->graph->value[any]);
    threads_for(cpu_in(s, 0)->shape.dim[0] * o.p, cpu_grain(o.w * o.c * o.attr->k[0]), pool_piece, &o);
    return 0;
}

static int maxpool_run(struct cpu_step *s)
{
    return pool_run(s, false);
}

static int avgpool_run(struct cpu_step *s)
{
    return pool_run(s, true);
}

// ---- backward
// The windows of `count` that cover position i: [*first, *last].
static void windows_over(int64_t i, int64_t k, int64_t stride, int64_t count, int64_t *first, int64_t *last)
{
    *first = i < k ? 0 : (i - k) / stride + 1;
    *last = i / stride < count ? i / stride : count - 1;
}

static void unmax_pixel(const struct pool *o, int64_t n, int64_t y, int64_t x)
{
    const struct pool_attr *a = o->attr;
    int64_t p0, p1, q0, q1, to = ((n * o->h + y) * o->w + x) * o->c;
    y += a->pad[0], x += a->pad[1];
    windows_over(y, a->k[0], a->stride[0], o->p, &p0, &p1);
    windows_over(x, a->k[1], a->stride[1], o->q, &q0, &q1);
    struct window w;
    w.count = 0;
    for (int64_t p = p0; p <= p1; p++)
        for (int64_t q = q0; q <= q1; q++, w.count++) {
            int64_t from = ((n * o->p + p) * o->q + q) * o->c;
            w.x[w.count] = cpu_at(o->dtype, o->x, from);
            w.at[w.count] = o->at_in + from;
            w.tap[w.count] = (uint8_t)((y - p * a->stride[0]) * a->k[1] + x - q * a->stride[1]);
        }
    o->loops->unpool_max(o->dtype, &w, o->c, cpu_at(o->dtype, o->y, to));
}

static void unmean_pixel(const struct pool *o, int64_t n, int64_t y, int64_t x)
{
    const struct pool_attr *a = o->attr;
    float acc[CHUNK];
    int64_t p0, p1, q0, q1, to = ((n * o->h + y) * o->w + x) * o->c;
    y += a->pad[0], x += a->pad[1];
    windows_over(y, a->k[0], a->stride[0], o->p, &p0, &p1);
    windows_over(x, a->k[1], a->stride[1], o->q, &q0, &q1);
    for (int64_t c = 0; c < o->c; c += CHUNK) {
        int64_t count = o->c - c < CHUNK ? o->c - c : CHUNK;
        memset(acc, 0, sizeof acc);
        for (int64_t p = p0; p <= p1; p++)
            for (int64_t q = q0; q <= q1; q++) {
                const void *dy = cpu_at(o->dtype, o->x, ((n * o->p + p) * o->q + q) * o->c + c);
                o->loops->add_scaled(o->dtype, dy, count, mean_share(o, p, q), acc);
            }
        o->loops->narrow(o->dtype, acc, cpu_at(o->dtype, o->y, to + c), count);
    }
}

static void unpool_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of dx
{
    (void)thread;
    const struct pool *o = context;
    for (int64_t r = begin; r < end; r++)
        for (int64_t x = 0; x < o->w; x++) (o->mean ? unmean_pixel : unmax_pixel)(o, r / o->h, r % o->h, x);
}

static void unpool2_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of dy
{
    (void)thread;
    const struct pool *o = context;
    size_t size = dtype_size(o->dtype), line = (size_t)(o->w * o->c) * size,
           odd = (size_t)((o->w - 2 * o->q) * o->c) * size;
    for (int64_t r = begin; r < end; r++) {
        int64_t p = r % o->p, from = r * o->q * o->c;
        char *dx = (char *)o->y + (size_t)(r / o->p * o->h + 2 * p) * line;
        o->loops->unpool2(size, cpu_at(o->dtype, o->x, from), o->at_in + from, o->q, o->c, dx, dx + line);
        memset(dx + line - odd, 0, odd);
        memset(dx + 2 * line - odd, 0, odd);
        if (p == o->p - 1) memset(dx + 2 * line, 0, (size_t)(o->h - 2 * o->p) * line);
    }
}

static int unpool_run(struct cpu_step *s, bool mean)
{
    const struct value *dx = cpu_out(s, 0), *dy = cpu_in(s, mean ? 0 : 1);
    if (!dx) return 0;
    struct pool o = {.x = s->in[mean ? 0 : 1], .at_in = mean ? NULL : s->in[0], .y = s->out[0], .mean = mean};
    fill_pool(&o, s, dx, dy);
    if (o.halves && !mean && o.h / 2 == o.p && o.w / 2 == o.q)
        threads_for(dy->shape.dim[0] * o.p, cpu_grain(2 * o.w * o.c), unpool2_piece, &o);
    else
        threads_for(dx->shape.dim[0] * o.h, cpu_grain(o.w * o.c), unpool_piece, &o);
    return 0;
}

static int maxpool_grad_run(struct cpu_step *s)
{
    return unpool_run(s, false);
}

static int avgpool_grad_run(struct cpu_step *s)
{
    return unpool_run(s, true);
}

CPU_PREPARE(maxpool)
CPU_PREPARE(maxpool_grad)
CPU_PREPARE(avgpool)
CPU_PREPARE(avgpool_grad)
const struct cpu_op cpu_maxpool = {.prepare = maxpool_prepare};
const struct cpu_op cpu_maxpool_grad = {.prepare = maxpool_grad_prepare};
const struct cpu_op cpu_avgpool = {.prepare = avgpool_prepare};
const struct cpu_op cpu_avgpool_grad = {.prepare = avgpool_grad_prepare};
