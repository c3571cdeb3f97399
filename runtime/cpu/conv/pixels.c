// SPDX-License-Identifier: Apache-2.0
// x[N,H,W,C] * w[K,R,S,C] -> y[N,P,Q,K]. At each tap, the pixels of x inside the image are rows of a product with the filters of
// that tap (rows.c). A result is the sum of its pixel's rows in the order of the taps. So every filter is read once, and taps
// outside the image cost nothing.
//
// A thread takes blocks of 64 k and copies all rows for itself; the copies are smaller than its filters. Results do not depend
// on the number of threads.
#include "runtime/cpu/conv/pixels.h"

#include "runtime/common/base/threads.h"
#include "runtime/cpu/loops/loops_stem.h"
#include "runtime/cpu/product/rows.h"
#include "runtime/cpu/product/avx512.h"

enum { MOST_PIXELS = 64, MOST_TAPS = 9 };

struct job {
    const struct dnnl_conv *conv;
    const char *filters;
    const uint16_t *x;
    const float *bias;
    uint16_t *y;
    char *work;
    int64_t taps, rows;             // of x, over all taps
    int64_t first[MOST_TAPS + 1];   // row of a tap
    size_t row_bytes, x_bytes, sum_bytes;
    const struct stem_loops *loops;
};

// The pixel of x that result (p, q) reads at a tap, from the first of its image on; -1: outside.
static int64_t pixel_at(const struct dnnl_conv *c, int64_t p, int64_t q, int64_t tap)
{
    int64_t h = p * c->stride[0] - c->before[0] + tap / c->s, w = q * c->stride[1] - c->before[1] + tap % c->s;
    return h >= 0 && h < c->h && w >= 0 && w < c->w ? h * c->w + w : -1;
}

static struct job plan_job(const struct dnnl_conv *c)
{
    struct job g = {.conv = c, .taps = c->r * c->s, .row_bytes = (size_t)c->c * sizeof(uint16_t)};
    for (int64_t tap = 0; tap < g.taps; tap++) {
        int64_t inside = 0;
        for (int64_t i = 0; i < c->p * c->q; i++) inside += pixel_at(c, i / c->q, i % c->q, tap) >= 0;
        g.first[tap + 1] = g.first[tap] + c->n * inside;
    }
    g.rows = g.first[g.taps];
    g.x_bytes = plan_round_up((size_t)g.rows * g.row_bytes);
    g.sum_bytes = plan_round_up((size_t)g.rows * ROWS_WIDE * sizeof(float));
    return g;
}

size_t pixels_bytes(const struct dnnl_conv *c, int threads)
{
    struct job g = plan_job(c);
    return (g.x_bytes + g.sum_bytes) * (size_t)threads;
}

#if defined __x86_64__

bool pixels_fit(const struct dnnl_conv *c)
{
    if (c->pass != DNNL_FORWARD || c->dtype != BF16 || c->groups != 1 || c->k % ROWS_WIDE || c->c % 2) return false;
    return c->n * c->p * c->q <= MOST_PIXELS && c->r * c->s <= MOST_TAPS && avx512_fit(true);
}

static void copy_rows(const struct job *g, char *to)
{
    const struct dnnl_conv *c = g->conv;
    for (int64_t tap = 0; tap < g->taps; tap++)
        for (int64_t i = 0; i < c->n * c->p * c->q; i++) {
            int64_t image = i / (c->p * c->q), pixel = pixel_at(c, i / c->q % c->p, i % c->q, tap);
            if (pixel < 0) continue;
            memcpy(to, g->x + (image * c->h * c->w + pixel) * c->c, g->row_bytes);
            to += g->row_bytes;
        }
}

// The results of 64 k from `k` on, of the products of each row.
static AVX512 void sum_rows(const struct job *g, const float *sums, int64_t k)
{
    const struct dnnl_conv *c = g->conv;
    int64_t next[MOST_TAPS];
    memcpy(next, g->first, sizeof next);
    for (int64_t i = 0; i < c->n * c->p * c->q; i++) {
        __m512 v[4];
        for (int j = 0; j < 4; j++) v[j] = g->bias ? _mm512_loadu_ps(g->bias + k + 16 * j) : _mm512_setzero_ps();
        for (int64_t tap = 0; tap < g->taps; tap++) {
            if (pixel_at(c, i / c->q % c->p, i % c->q, tap) < 0) continue;
            const float *row = sums + next[tap]++ * ROWS_WIDE;
            for (int j = 0; j < 4; j++) v[j] = _mm512_add_ps(v[j], _mm512_loadu_ps(row + 16 * j));
        }
        float plain[ROWS_WIDE];
        for (int j = 0; j < 4; j++) _mm512_storeu_ps(plain + 16 * j, v[j]);
        g->loops->activate(plain, ROWS_WIDE, c->act);
        for (int j = 0; j < ROWS_WIDE; j += 16)
            _mm256_storeu_si256((void *)(g->y + i * c->k + k + j), (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(plain + j)));
    }
}

static void run_blocks(void *context, int64_t begin, int64_t end, int thread)
{
    const struct job *g = context;
    const int64_t units = g->conv->c / 2;
    char *x = g->work + (size_t)thread * (g->x_bytes + g->sum_bytes);
    float *sums = (float *)(x + g->x_bytes);
    copy_rows(g, x);
    for (int64_t k = begin; k < end; k++) {
        for (int64_t tap = 0; tap < g->taps; tap++)
            rows_multiply(g->conv->tiles, x + (size_t)g->first[tap] * g->row_bytes, g->row_bytes,
                          g->first[tap + 1] - g->first[tap],
                          g->filters + (k * g->taps + tap) * units * ROWS_WIDE * ROWS_UNIT, units,
                          sums + g->first[tap] * ROWS_WIDE);
        sum_rows(g, sums, k * ROWS_WIDE);
    }
}

#else

bool pixels_fit(const struct dnnl_conv *c)
{
    (void)c;
    return false;
}

static void run_blocks(void *context, int64_t begin, int64_t end, int thread)
{
    (void)context, (void)begin, (void)end, (void)thread;
    BUG("pixels_run without AVX-512");
}

#endif

void pixels_run(const struct dnnl_conv *c, const void *filters, const void *x, const float *bias, void *y, void *work)
{
    struct job g = plan_job(c);
    g.filters = filters, g.x = x, g.bias = bias, g.y = y, g.work = work, g.loops = stem_loops();
    threads_for(c->k / ROWS_WIDE, 1, run_blocks, &g);
}
