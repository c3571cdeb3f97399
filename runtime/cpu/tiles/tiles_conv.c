// SPDX-License-Identifier: Apache-2.0
// x[N,H,W,C] * w[K,R,S,C] -> y[N,P,Q,K]. The rows of a tile are 16 images at one pixel, so a tap outside the image is skipped for
// all of them and edges cost nothing. Three neighbouring outputs by 32 k are six tiles of sums: a filter that was loaded serves
// three outputs, and most of their x lies in the L1 cache already, because the next tap of one output is the last tap of another.
//
// A thread takes bands of rows of 16 images. It copies their x into tiles, [row][column][32 channels][16 images], in the L2
// cache, and reads them once for each 32 k. Filters are tiles as well, [16 k][tap][32 channels]. The order of a sum does not
// depend on its band, so results do not depend on the number of threads.
#include "runtime/cpu/tiles/tiles_inside.h"

#include "runtime/base/threads.h"
#include "runtime/cpu/loops/loops_stem.h"
#include "runtime/cpu/product/direct.h"
#include "runtime/cpu/product/results.h"

enum { LEAST_IMAGES = 12, KB = 32, CB = 32 };  // KB, CB: filters and channels of a block
enum { RUN = 3 };                 // outputs side by side
enum { BAND_BYTES = 640 << 10 };  // of x as tiles; the L2 cache has 2 MB
enum { LEAST_PIECES = 4 };        // for each thread, so that they end together
enum { PAST_CACHE = 16 << 20 };   // results larger than this are written around the caches

struct job {
    const struct dnnl_conv *conv;
    const char *filters;
    struct conv_data data;
    char *work;
    int64_t groups, chunks;      // of 16 images; of 32 channels
    int64_t rows, bands;         // rows of outputs in a band; bands of a group
    size_t pixel, x_bytes;       // bytes of a pixel's tiles; of a band's
    size_t filter, column;       // bytes of 32 channels of a tap; of 16 k
    bool past_cache;
    const struct stem_loops *loops;
};

static int64_t rows_of_x(const struct dnnl_conv *c, int64_t rows) { return (rows - 1) * c->stride[0] + c->r; }

static struct job plan_job(const struct dnnl_conv *c, int threads)
{
    struct job g = {.conv = c, .groups = (c->n + TILE_SIDE - 1) / TILE_SIDE, .chunks = (c->c + CB - 1) / CB};
    int64_t step = c->y_pooled ? 2 : 1;
    g.pixel = (size_t)g.chunks * TILE;
    size_t line = g.pixel * (size_t)c->w;
    g.rows = ((int64_t)(BAND_BYTES / line) - c->r) / c->stride[0] + 1;
    int64_t most = c->p * g.groups / (LEAST_PIECES * threads);
    if (g.rows > most) g.rows = most;
    g.bands = g.rows < step ? (c->p + step - 1) / step : (c->p + g.rows - 1) / g.rows;
    g.rows = ((c->p + g.bands - 1) / g.bands + step - 1) / step * step;
    g.bands = (c->p + g.rows - 1) / g.rows;
    g.x_bytes = plan_round_up(line * (size_t)rows_of_x(c, g.rows));
    g.filter = (size_t)(c->c < CB ? c->c : CB) / 2 * TILE_LINE;
    g.column = (size_t)(c->r * c->s * g.chunks) * g.filter;
    return g;
}

size_t tiles_bytes(const struct dnnl_conv *c, int threads) { return plan_job(c, threads).x_bytes * (size_t)threads; }
size_t tiles_pack_bytes(const struct dnnl_conv *c) { return direct_bytes(c); }

void tiles_pack(const struct dnnl_conv *c, bool transposed, const float *w, void *filters)
{
    direct_pack(c, TILE_SIDE, transposed, w, filters);
}

#if defined __x86_64__

bool tiles_fit(const struct dnnl_conv *c)
{
    if (!tiles_exist() || c->dtype != BF16 || c->groups != 1 || c->n < LEAST_IMAGES) return false;
    if (c->r * c->s == 1 || c->s > 32 || c->k % 8 || (c->c < CB ? c->c % 8 : c->c % CB)) return false;
    if (c->x_pooled && (c->c % CB || c->h % 2 || c->w % 2)) return false;
    if (c->y_pooled && (c->k % KB || c->p % 2 || c->q % 2)) return false;
    return true;
}

// ---- x

// Some rows of x of 16 images. A group has fewer at the end of the batch: the rows of tiles that they lack keep what they hold,
// and nobody reads the sums.
struct source {
    int64_t image, images, first, rows;
};

static VECTORS void copy_pixels(const struct job *g, const struct source *s, char *to)
{
    const struct dnnl_conv *c = g->conv;
    for (int64_t i = 0; i < s->images; i++) {
        const uint16_t *from = (const uint16_t *)g->data.x + ((s->image + i) * c->h + s->first) * c->w * c->c;
        for (int64_t pixel = 0; pixel < s->rows * c->w; pixel++) {
            char *at = to + (size_t)pixel * g->pixel + i * TILE_LINE;
            for (int64_t b = 0; b < c->c; b += CB, at += TILE, from += CB) {
                __mmask32 in = c->c < CB ? (__mmask32)((1u << c->c) - 1) : 0xffffffffu;
                _mm512_store_si512((void *)at, _mm512_maskz_loadu_epi16(in, from));
            }
            if (c->c < CB) from += c->c - CB;
        }
    }
}

// The same of pooled x: a pixel has the value of its window where it was the largest of the four, else zero.
static VECTORS void copy_pooled(const struct job *g, const struct source *s, char *to)
{
    const struct dnnl_conv *c = g->conv;
    for (int64_t i = 0; i < s->images; i++)
        for (int64_t h = s->first; h < s->first + s->rows; h++) {
            int64_t row = ((s->image + i) * c->h / 2 + h / 2) * (c->w / 2) * c->c;
            const uint16_t *value = (const uint16_t *)g->data.x + row;
            const uint8_t *where = g->data.x_at + row;
            const __m256i left = _mm256_set1_epi8((char)(h % 2 * 2)), right = _mm256_set1_epi8((char)(h % 2 * 2 + 1));
            char *at = to + (size_t)((h - s->first) * c->w) * g->pixel + i * TILE_LINE;
            for (int64_t w = 0; w < c->w; w += 2, at += g->pixel)
                for (int64_t b = 0; b < c->c; b += CB, at += TILE, value += CB, where += CB) {
                    __m256i spot = _mm256_loadu_si256((const void *)where);
                    __m512i v = _mm512_loadu_si512(value);
                    _mm512_store_si512((void *)at, _mm512_maskz_mov_epi16(_mm256_cmpeq_epi8_mask(spot, left), v));
                    _mm512_store_si512((void *)(at + g->pixel), _mm512_maskz_mov_epi16(_mm256_cmpeq_epi8_mask(spot, right), v));
                }
        }
}

// ---- sums

// Outputs side by side, at 16 or 32 k. Addresses are of tap (0, 0), which may lie outside.
struct run {
    const char *x, *w;
    int64_t r0, r1;                  // the taps inside the image
    int64_t x_row, x_pixel, x_step;  // from an output to the next
    int64_t left, width, stride;     // the column of tap (0, 0); of x
};

// Adds 32 channels of a tap. in: the outputs whose tap lies inside.
TILES ALWAYS static inline void add_tap(const int wide, const bool two, const char *x, int64_t step, const char *w, size_t column,
                                        unsigned in)
{
    _tile_loadd(7, w, TILE_LINE);
    if (in & 1) {
        _tile_loadd(6, x, TILE_LINE);
        _tile_dpbf16ps(0, 6, 7);
    }
    if (wide > 1 && in & 2) {
        _tile_loadd(6, x + step, TILE_LINE);
        _tile_dpbf16ps(1, 6, 7);
    }
    if (wide > 2 && in & 4) {
        _tile_loadd(6, x + 2 * step, TILE_LINE);
        _tile_dpbf16ps(2, 6, 7);
    }
    if (!two) return;
    _tile_loadd(7, w + column, TILE_LINE);
    if (in & 1) {
        _tile_loadd(6, x, TILE_LINE);
        _tile_dpbf16ps(3, 6, 7);
    }
    if (wide > 1 && in & 2) {
        _tile_loadd(6, x + step, TILE_LINE);
        _tile_dpbf16ps(4, 6, 7);
    }
    if (wide > 2 && in & 4) {
        _tile_loadd(6, x + 2 * step, TILE_LINE);
        _tile_dpbf16ps(5, 6, 7);
    }
}

// sums[wide][2][16 images][16 k]
TILES ALWAYS static inline void sum_run(const struct job *g, const int wide, const bool two, const struct run *run, float *sums)
{
    const struct dnnl_conv *c = g->conv;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    unsigned in[32];
    for (int64_t s = 0; s < c->s; s++) {
        in[s] = 0;
        for (int i = 0; i < wide; i++) {
            int64_t at = run->left + i * run->stride + s;
            in[s] |= (unsigned)(at >= 0 && at < run->width) << i;
        }
    }
    for (int64_t r = run->r0; r < run->r1; r++)
        for (int64_t b = 0; b < g->chunks; b++)
            for (int64_t s = 0; s < c->s; s++)
                add_tap(wide, two, run->x + r * run->x_row + s * run->x_pixel + b * TILE, run->x_step,
                        run->w + (size_t)((r * c->s + s) * g->chunks + b) * g->filter, g->column, in[s]);
    _tile_stored(0, sums, TILE_LINE);
    if (two) _tile_stored(3, sums + 256, TILE_LINE);
    if (wide > 1) _tile_stored(1, sums + 512, TILE_LINE);
    if (wide > 1 && two) _tile_stored(4, sums + 768, TILE_LINE);
    if (wide > 2) _tile_stored(2, sums + 1024, TILE_LINE);
    if (wide > 2 && two) _tile_stored(5, sums + 1280, TILE_LINE);
}

#define SUM(wide, two)                                                                                                 \
    TILES static void sum_##wide##_##two(const struct job *g, const struct run *run, float *sums)                      \
    {                                                                                                                  \
        sum_run(g, wide, two, run, sums);                                                                              \
    }
SUM(1, 0) SUM(2, 0) SUM(3, 0) SUM(1, 1) SUM(2, 1) SUM(3, 1)
#undef SUM
static void (*const sum[2][RUN])(const struct job *, const struct run *, float *) = {{sum_1_0, sum_2_0, sum_3_0},
                                                                                     {sum_1_1, sum_2_1, sum_3_1}};

// ---- results

// Adds the bias to `count` outputs and activates them.
static VECTORS void finish_sums(const struct job *g, int64_t k, int count, float *sums)
{
    const struct dnnl_conv *c = g->conv;
    if (g->data.bias)
        for (int j = 0; j < 2; j++) {
            __m512 bias = _mm512_maskz_loadu_ps(vectors_below(c->k, k + 16 * j), g->data.bias + k + 16 * j);
            for (int i = 0; i < count; i++)
                for (float *at = sums + (2 * i + j) * 256, *end = at + 256; at < end; at += 16)
                    _mm512_store_ps(at, _mm512_add_ps(_mm512_load_ps(at), bias));
        }
    if (c->act != ACT_NONE && !c->y_pooled) g->loops->activate(sums, count * 512, c->act);
}

// Writes an output of some images.
static VECTORS void write_output(const struct job *g, const float *sums, int64_t images, uint16_t *y, int64_t k)
{
    const struct dnnl_conv *c = g->conv;
    int64_t image = c->p * c->q * c->k;
    __mmask32 in = c->k - k >= KB ? 0xffffffffu : (__mmask32)((1u << (c->k - k)) - 1);
    for (int64_t i = 0; i < images; i++, sums += 16, y += image) {
        __m512i line = (__m512i)_mm512_cvtne2ps_pbh(_mm512_load_ps(sums + 256), _mm512_load_ps(sums));
        if (in == 0xffffffffu) results_store(g->past_cache, y, line);
        else _mm512_mask_storeu_epi16(y, in, line);
    }
}

// Writes the largest of four outputs of some images, activated, and its position. sums: [row][column][2][16 images][16 k].
static VECTORS void write_pooled(const struct job *g, const float *sums, int64_t images, int64_t at)
{
    const struct dnnl_conv *c = g->conv;
    uint16_t *y = g->data.y;
    uint8_t *y_at = g->data.y_at;
    for (int64_t i = 0; i < images; i++, sums += 16, at += c->p / 2 * (c->q / 2) * c->k) {
        struct results_pool best = results_pool_first(_mm512_load_ps(sums), _mm512_load_ps(sums + 256));
        for (int j = 1; j < 4; j++)
            results_pool_next(&best, j, _mm512_load_ps(sums + j * 512), _mm512_load_ps(sums + j * 512 + 256));
        if (y_at) _mm256_storeu_si256((void *)(y_at + at), _mm512_cvtepi16_epi8(best.where));
        if (!y) continue;
        if (c->act != ACT_NONE) {
            float plain[KB] __attribute__((aligned(64)));
            results_widen(best.value, plain);
            g->loops->activate(plain, KB, c->act);
            best.value = results_round(plain);
        }
        results_store(g->past_cache, y + at, best.value);
    }
}

// ---- bands

struct band {
    struct source x;
    const char *tiles;
    int64_t first, end;  // rows of outputs
};

static struct run run_at(const struct job *g, const struct band *b, int64_t p, int64_t q, int64_t k)
{
    const struct dnnl_conv *c = g->conv;
    int64_t top = p * c->stride[0] - c->before[0], pixel = (int64_t)g->pixel, row = c->w * pixel;
    struct run run = {.left = q * c->stride[1] - c->before[1], .width = c->w, .stride = c->stride[1], .x_pixel = pixel,
                      .x_row = row, .x_step = pixel * c->stride[1], .w = g->filters + (size_t)(k / 16) * g->column};
    run.r0 = top < 0 ? -top : 0, run.r1 = c->h - top < c->r ? c->h - top : c->r;
    // As integers, because tap (0, 0) may lie before the array.
    run.x = (const char *)((uintptr_t)b->tiles + (uintptr_t)((top - b->x.first) * row + run.left * pixel));
    return run;
}

// A row of outputs at 32 k, or the 16 or fewer that are left.
static void run_row(const struct job *g, const struct band *b, int64_t p, int64_t k)
{
    const struct dnnl_conv *c = g->conv;
    float sums[RUN * 512] __attribute__((aligned(64)));
    bool two = c->k - k > TILE_SIDE;
    uint16_t *y = (uint16_t *)g->data.y + ((b->x.image * c->p + p) * c->q) * c->k + k;
    for (int64_t q = 0, wide; q < c->q; q += wide, y += wide * c->k) {
        int64_t left = c->q - q, runs = (left + RUN - 1) / RUN;
        wide = (left + runs - 1) / runs;
        struct run run = run_at(g, b, p, q, k);
        sum[two][wide - 1](g, &run, sums);
        finish_sums(g, k, (int)wide, sums);
        for (int64_t i = 0; i < wide; i++) write_output(g, sums + i * 512, b->x.images, y + i * c->k, k);
    }
}

// Two rows of outputs at 32 k, pooled.
static void run_pooled_rows(const struct job *g, const struct band *b, int64_t p, int64_t k)
{
    const struct dnnl_conv *c = g->conv;
    float sums[4 * 512] __attribute__((aligned(64)));
    int64_t at = (b->x.image * (c->p / 2) + p / 2) * (c->q / 2) * c->k + k;
    for (int64_t q = 0; q < c->q; q += 2, at += c->k) {
        for (int i = 0; i < 2; i++) {
            struct run run = run_at(g, b, p + i, q, k);
            sum_2_1(g, &run, sums + i * 1024);
        }
        finish_sums(g, k, 4, sums);
        write_pooled(g, sums, b->x.images, at);
    }
}

static void run_band(const struct job *g, struct band *b, char *tiles)
{
    const struct dnnl_conv *c = g->conv;
    int64_t top = b->first * c->stride[0] - c->before[0], bottom = (b->end - 1) * c->stride[0] - c->before[0] + c->r;
    b->x.first = top < 0 ? 0 : top;
    b->x.rows = (bottom > c->h ? c->h : bottom) - b->x.first;
    b->tiles = tiles;
    (c->x_pooled ? copy_pooled : copy_pixels)(g, &b->x, tiles);
    for (int64_t k = 0; k < c->k; k += KB)
        for (int64_t p = b->first; p < b->end; p += c->y_pooled ? 2 : 1) (c->y_pooled ? run_pooled_rows : run_row)(g, b, p, k);
}

// A piece is a band.
static void run_bands(void *context, int64_t begin, int64_t end, int thread)
{
    const struct job *g = context;
    const struct dnnl_conv *c = g->conv;
    char *tiles = g->work + (size_t)thread * g->x_bytes;
    tiles_begin((int)(c->c < CB ? c->c : CB) * 2);
    for (int64_t i = begin; i < end; i++) {
        int64_t image = i / g->bands * TILE_SIDE, first = i % g->bands * g->rows;
        struct band b = {.x = {.image = image, .images = c->n - image < TILE_SIDE ? c->n - image : TILE_SIDE},
                         .first = first, .end = first + g->rows < c->p ? first + g->rows : c->p};
        run_band(g, &b, tiles);
    }
    tiles_end();
    _mm_sfence();  // completes the non-temporal stores before the threads join
}

#else

bool tiles_fit(const struct dnnl_conv *c)
{
    (void)c;
    return false;
}

static void run_bands(void *context, int64_t begin, int64_t end, int thread)
{
    (void)context, (void)begin, (void)end, (void)thread;
    BUG("tiles_run without tiles");
}

#endif

void tiles_run(const struct dnnl_conv *c, int threads, const void *filters, const struct conv_data *data, void *work)
{
    struct job g = plan_job(c, threads);
    g.filters = filters, g.data = *data, g.work = work, g.loops = stem_loops();
    int64_t results = c->n * c->p * c->q * c->k / (c->y_pooled ? 4 : 1);
    g.past_cache = c->k % KB == 0 && (uintptr_t)data->y % 64 == 0 && results * (int64_t)sizeof(uint16_t) >= PAST_CACHE;
    threads_for(g.groups * g.bands, 1, run_bands, &g);
}
