// SPDX-License-Identifier: Apache-2.0
// x[N,H,W,C] * w[K,R,S,C] -> y[N,P,Q,K]. The rows of a tile are 16 images at one pixel, so a tap outside the image is skipped for
// all of them and edges cost nothing. Two neighbouring outputs by 32 k are four tiles of sums. They share the columns of x that
// they read: a tap of one output is the next tap of the other.
//
// A thread takes bands of rows of 16 images, or some k of them. It copies their x into tiles, [row][32 channels][column][16
// images], in the L2 cache, and reads them once for each 32 k. Filters are tiles as well, [16 k][row of taps][32 channels][tap].
// Results are written while the next sums are computed. The order of a sum does not depend on its band, so results do not depend
// on the number of threads.
#include "runtime/cpu/tiles/tiles_inside.h"

#include "runtime/common/base/threads.h"
#include "runtime/cpu/conv/direct.h"
#include "runtime/cpu/conv/results.h"
#include "runtime/cpu/loops/loops_stem.h"
#include "runtime/cpu/past_cache.h"

enum { LEAST_IMAGES = 12, LEAST_CHANNELS = 8, KB = 32, CB = 32 };  // KB, CB: filters and channels of a block
enum { MOST_OUTPUTS = 3 };        // side by side
enum { MOST_TAPS = 32 };          // of a row
enum { BAND_BYTES = 640 << 10, BAND_LIMIT = 16 << 20 };  // of x as tiles; the L2 cache has 2 MB
enum { LEAST_PIECES = 4 };        // for each thread, so that they end together

struct job {
    const struct dnnl_conv *conv;
    const char *filters;
    struct conv_data data;
    char *work;
    int64_t groups, chunks;      // of 16 images; of 32 channels
    int64_t rows, bands;         // rows of outputs in a band; bands of a group
    int64_t wide, parts;         // k that a piece computes, of all
    size_t chunk, row, x_bytes;  // bytes of 32 channels of a row of x; of the row; of a band
    size_t column;               // bytes of 16 k of the filters
    bool past_cache;
    const struct stem_loops *loops;
};

static int64_t rows_of_x(const struct dnnl_conv *c, int64_t rows) { return (rows - 1) * c->stride[0] + c->r; }

static struct job plan_job(const struct dnnl_conv *c, int threads)
{
    struct job g = {.conv = c, .groups = (c->n + TILE_SIDE - 1) / TILE_SIDE, .chunks = (c->c + CB - 1) / CB};
    int64_t step = c->y_pooled ? 2 : 1;
    g.chunk = (size_t)c->w * TILE, g.row = g.chunk * (size_t)g.chunks;
    g.rows = ((int64_t)(BAND_BYTES / g.row) - c->r) / c->stride[0] + 1;
    int64_t most = c->p * g.groups / (LEAST_PIECES * threads);
    if (g.rows > most) g.rows = most;
    g.bands = g.rows < step ? (c->p + step - 1) / step : (c->p + g.rows - 1) / g.rows;
    g.rows = ((c->p + g.bands - 1) / g.bands + step - 1) / step * step;
    g.bands = (c->p + g.rows - 1) / g.rows;
    int64_t blocks = (c->k + KB - 1) / KB, pieces = g.groups * g.bands, each = blocks;
    if (pieces < threads) each = (blocks * pieces + threads - 1) / threads;
    g.parts = (blocks + each - 1) / each, g.wide = each * KB;
    g.x_bytes = plan_round_up(g.row * (size_t)rows_of_x(c, g.rows));
    g.column = (size_t)(c->r * c->s * g.chunks) * TILE;
    return g;
}

size_t tiles_bytes(const struct dnnl_conv *c, int threads) { return plan_job(c, threads).x_bytes * (size_t)threads; }
size_t tiles_pack_bytes(const struct dnnl_conv *c)
{
    return plan_job(c, 1).column * (size_t)((c->k + TILE_SIDE - 1) / TILE_SIDE);
}

void tiles_pack(const struct dnnl_conv *c, bool transposed, const float *w, void *filters)
{
    direct_pack(c, (struct direct_order){TILE_SIDE, CB / 2}, transposed, w, filters);
}

#if defined __x86_64__

bool tiles_fit(const struct dnnl_conv *c)
{
    if (c->dtype != BF16 || c->groups != 1 || c->n < LEAST_IMAGES) return false;
    if (c->r * c->s == 1 || c->c < LEAST_CHANNELS || c->s > MOST_TAPS || c->k % 2 || c->c % 2) return false;
    if (c->x_pooled && (c->c % CB || c->h % 2 || c->w % 2)) return false;
    if (c->y_pooled && (c->k % KB || c->p % 2 || c->q % 2)) return false;
    return plan_job(c, 1).x_bytes <= BAND_LIMIT;
}

// ---- x

// Some rows of x of 16 images. A group has fewer at the end of the batch: the rows of tiles that they lack keep what they hold,
// and nobody reads the sums.
struct source {
    int64_t image, images, first, rows;
};

static AVX512 void copy_pixels(const struct job *g, const struct source *s, char *to)
{
    const struct dnnl_conv *c = g->conv;
    const __mmask32 rest = (__mmask32)((1u << c->c % CB) - 1);  // of the last 32 channels; the others are zeros
    for (int64_t row = 0; row < s->rows; row++, to += g->row)
        for (int64_t i = 0; i < s->images; i++) {
            const uint16_t *from = (const uint16_t *)g->data.x + ((s->image + i) * c->h + s->first + row) * c->w * c->c;
            for (int64_t w = 0; w < c->w; w++, from += c->c) {
                char *at = to + w * TILE + i * TILE_LINE;
                int64_t b = 0;
                for (; b + CB <= c->c; b += CB, at += g->chunk) _mm512_store_si512((void *)at, _mm512_loadu_si512(from + b));
                if (b < c->c) _mm512_store_si512((void *)at, _mm512_maskz_loadu_epi16(rest, from + b));
            }
        }
}

// The same of pooled x: a pixel has the value of its window where it was the largest of the four, else zero.
static AVX512 void copy_pooled(const struct job *g, const struct source *s, char *to)
{
    const struct dnnl_conv *c = g->conv;
    for (int64_t i = 0; i < s->images; i++)
        for (int64_t h = s->first; h < s->first + s->rows; h++) {
            int64_t row = ((s->image + i) * c->h / 2 + h / 2) * (c->w / 2) * c->c;
            const uint16_t *value = (const uint16_t *)g->data.x + row;
            const uint8_t *where = g->data.x_at + row;
            const __m256i left = _mm256_set1_epi8((char)(h % 2 * 2)), right = _mm256_set1_epi8((char)(h % 2 * 2 + 1));
            char *line = to + (size_t)(h - s->first) * g->row + i * TILE_LINE;
            for (int64_t w = 0; w < c->w; w += 2, line += 2 * TILE) {
                char *at = line;
                for (int64_t b = 0; b < c->c; b += CB, at += g->chunk, value += CB, where += CB) {
                    __m256i spot = _mm256_loadu_si256((const void *)where);
                    __m512i v = _mm512_loadu_si512(value);
                    _mm512_store_si512((void *)at, _mm512_maskz_mov_epi16(_mm256_cmpeq_epi8_mask(spot, left), v));
                    _mm512_store_si512((void *)(at + TILE), _mm512_maskz_mov_epi16(_mm256_cmpeq_epi8_mask(spot, right), v));
                }
            }
        }
}

// ---- sums

// Outputs side by side, at 16 or 32 k. Addresses are of tap (0, 0), which may lie outside.
struct run {
    const char *x, *w;
    int64_t r0, r1;                  // the taps inside the image
    int64_t x_step;                  // from an output to the next
    int64_t left, width, stride;     // the column of tap (0, 0); of x
};

// ---- results

// Sums whose results are not written yet. They are written while the next sums are computed: the vector units have nothing else
// to do then. A step is an image of an output, or of a pooled window.
struct pending {
    const float *sums;    // [outputs][2][16 images][16 k]; a window has four outputs
    int64_t outputs, k, at;  // at: of the first image and output in y
    int64_t done, end;       // steps
};

// 32 sums of an image, with the bias.
static inline AVX512 ALWAYS void load_results(const struct job *g, int64_t k, const float *sums, __m512 *low, __m512 *high)
{
    *low = _mm512_load_ps(sums), *high = g->conv->k - k > TILE_SIDE ? _mm512_load_ps(sums + 256) : _mm512_setzero_ps();
    if (g->data.bias == NULL) return;
    *low = _mm512_add_ps(*low, _mm512_maskz_loadu_ps(avx512_below(g->conv->k, k), g->data.bias + k));
    *high = _mm512_add_ps(*high, _mm512_maskz_loadu_ps(avx512_below(g->conv->k, k + 16), g->data.bias + k + 16));
}

static inline AVX512 ALWAYS __m512i activate_line(const struct job *g, __m512 low, __m512 high)
{
    float plain[KB] __attribute__((aligned(64)));
    _mm512_store_ps(plain, low), _mm512_store_ps(plain + 16, high);
    g->loops->activate(plain, KB, g->conv->act);
    return results_round(plain);
}

// An image of an output.
static AVX512 void write_output(const struct job *g, const struct pending *w, int64_t step)
{
    const struct dnnl_conv *c = g->conv;
    int64_t output = step % w->outputs, image = step / w->outputs;
    uint16_t *y = (uint16_t *)g->data.y + w->at + image * c->p * c->q * c->k + output * c->k;
    __m512 low, high;
    load_results(g, w->k, w->sums + output * 512 + image * 16, &low, &high);
    __m512i line = c->act == ACT_NONE ? (__m512i)_mm512_cvtne2ps_pbh(high, low) : activate_line(g, low, high);
    if (c->k - w->k >= KB) results_store(g->past_cache, y, line);
    else _mm512_mask_storeu_epi16(y, (__mmask32)((1u << (c->k - w->k)) - 1), line);
}

// An image of a window: the largest of its four outputs, activated, and its position.
static AVX512 void write_pooled(const struct job *g, const struct pending *w, int64_t image)
{
    const struct dnnl_conv *c = g->conv;
    const float *sums = w->sums + image * 16;
    int64_t at = w->at + image * (c->p / 2) * (c->q / 2) * c->k;
    __m512 low, high;
    load_results(g, w->k, sums, &low, &high);
    struct results_pool best = results_pool_first(low, high);
    for (int j = 1; j < 4; j++) {
        load_results(g, w->k, sums + j * 512, &low, &high);
        results_pool_next(&best, j, low, high);
    }
    if (g->data.y_at) _mm256_storeu_si256((void *)(g->data.y_at + at), _mm512_cvtepi16_epi8(best.where));
    if (g->data.y == NULL) return;
    if (c->act != ACT_NONE) {
        float plain[KB] __attribute__((aligned(64)));
        results_widen(best.value, plain);
        best.value = activate_line(g, _mm512_load_ps(plain), _mm512_load_ps(plain + 16));
    }
    results_store(g->past_cache, (uint16_t *)g->data.y + at, best.value);
}

static void write_some(const struct job *g, struct pending *w, int64_t steps)
{
    int64_t end = w->done + steps < w->end ? w->done + steps : w->end;
    for (; w->done < end; w->done++) (g->conv->y_pooled ? write_pooled : write_output)(g, w, w->done);
}

// Two buffers in turn: one is filled while the results of the other are written.
enum { MOST_SUMS = 4 * 512 };  // of a window
struct sums {
    float at[2][MOST_SUMS] __attribute__((aligned(64)));
    struct pending last;
    int turn;
};

// The buffer that was filled has the results `next`; all before them are written.
static void turn_sums(struct sums *s, struct pending next)
{
    next.sums = s->at[s->turn];
    s->last = next;
    s->turn ^= 1;
}

// Adds 32 channels of the three taps of a row to two outputs side by side, at 32 k. Their x are four columns, of which the first
// or the last may lie outside. A column is loaded once: the tap of one output is the next tap of the other.
TILES ALWAYS static inline void add_row(const bool left, const bool right, const char *x, const char *w, size_t column)
{
    if (left) _tile_loadd(4, x, TILE_LINE);
    _tile_loadd(6, w, TILE_LINE);
    _tile_loadd(5, x + TILE, TILE_LINE);
    _tile_loadd(7, w + column, TILE_LINE);
    if (left) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(2, 4, 7);
    }
    _tile_dpbf16ps(1, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    _tile_loadd(6, w + TILE, TILE_LINE);
    _tile_loadd(4, x + 2 * TILE, TILE_LINE);
    _tile_loadd(7, w + TILE + column, TILE_LINE);
    _tile_dpbf16ps(0, 5, 6);
    _tile_dpbf16ps(2, 5, 7);
    _tile_dpbf16ps(1, 4, 6);
    _tile_dpbf16ps(3, 4, 7);
    _tile_loadd(6, w + 2 * TILE, TILE_LINE);
    if (right) _tile_loadd(5, x + 3 * TILE, TILE_LINE);
    _tile_loadd(7, w + 2 * TILE + column, TILE_LINE);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 4, 7);
    if (right) {
        _tile_dpbf16ps(1, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
}

// sums[2][2][16 images][16 k]
TILES ALWAYS static inline void sum_pair(const struct job *g, const bool left, const bool right, const struct run *run,
                                         float *sums, struct pending *last, int64_t each)
{
    const char *x = run->x + run->r0 * (int64_t)g->row, *w = run->w + (size_t)(run->r0 * g->chunks * 3) * TILE;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t i = run->r0 * g->chunks; i < run->r1 * g->chunks; i++, x += g->chunk, w += 3 * TILE) {
        add_row(left, right, x, w, g->column);
        write_some(g, last, each);
    }
    _tile_stored(0, sums, TILE_LINE);
    _tile_stored(2, sums + 256, TILE_LINE);
    _tile_stored(1, sums + 512, TILE_LINE);
    _tile_stored(3, sums + 768, TILE_LINE);
}

// Adds 32 channels of a tap to up to three outputs. in: those whose tap lies inside.
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

// The same of any filters and columns: sums[wide][2][16 images][16 k].
TILES ALWAYS static inline void sum_run(const struct job *g, const int wide, const bool two, const struct run *run, float *sums,
                                        struct pending *last, int64_t each)
{
    const struct dnnl_conv *c = g->conv;
    unsigned in[MOST_TAPS];
    for (int64_t s = 0; s < c->s; s++) {
        in[s] = 0;
        for (int i = 0; i < wide; i++) {
            int64_t at = run->left + i * run->stride + s;
            in[s] |= (unsigned)(at >= 0 && at < run->width) << i;
        }
    }
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    for (int64_t i = run->r0 * g->chunks; i < run->r1 * g->chunks; i++) {
        for (int64_t s = 0; s < c->s; s++)
            add_tap(wide, two, run->x + i * (int64_t)g->chunk + s * TILE, run->x_step, run->w + (size_t)(i * c->s + s) * TILE,
                    g->column, in[s]);
        write_some(g, last, each);
    }
    _tile_stored(0, sums, TILE_LINE);
    if (two) _tile_stored(3, sums + 256, TILE_LINE);
    if (wide > 1) _tile_stored(1, sums + 512, TILE_LINE);
    if (wide > 1 && two) _tile_stored(4, sums + 768, TILE_LINE);
    if (wide > 2) _tile_stored(2, sums + 1024, TILE_LINE);
    if (wide > 2 && two) _tile_stored(5, sums + 1280, TILE_LINE);
}

#define SUM(wide, two)                                                                                                 \
    TILES static void sum_##wide##_##two(const struct job *g, const struct run *run, float *sums, struct pending *last,     \
                                          int64_t each)                                                                \
    {                                                                                                                  \
        sum_run(g, wide, two, run, sums, last, each);                                                                 \
    }
SUM(1, 0) SUM(2, 0) SUM(3, 0) SUM(1, 1) SUM(2, 1) SUM(3, 1)
#undef SUM
#define PAIR(left, right)                                                                                              \
    TILES static void pair_##left##_##right(const struct job *g, const struct run *run, float *sums, struct pending *last,     \
                                          int64_t each)                                                                \
    {                                                                                                                  \
        sum_pair(g, left, right, run, sums, last, each);                                                              \
    }
PAIR(0, 0) PAIR(0, 1) PAIR(1, 0) PAIR(1, 1)
#undef PAIR

typedef void (*sum)(const struct job *, const struct run *, float *, struct pending *, int64_t);
static const sum runs[2][MOST_OUTPUTS] = {{sum_1_0, sum_2_0, sum_3_0}, {sum_1_1, sum_2_1, sum_3_1}};
static const sum pairs[2][2] = {{pair_0_0, pair_0_1}, {pair_1_0, pair_1_1}};

// Sums of `wide` outputs, while `steps` of the last results are written.
static void sum_outputs(const struct job *g, int64_t wide, bool two, const struct run *run, float *sums, struct pending *last,
                        int64_t steps)
{
    int64_t rows = (run->r1 - run->r0) * g->chunks, before = last->done;
    if (steps > last->end - before) steps = last->end - before;
    int64_t each = rows > 0 ? (steps + rows - 1) / rows : 0;
    bool left = run->left >= 0, right = run->left + 3 < run->width;
    bool three = g->conv->s == 3 && run->stride == 1, inside = run->left >= -1 && run->left + 2 < run->width;
    (three && inside && wide == 2 && two ? pairs[left][right] : runs[two][wide - 1])(g, run, sums, last, each);
    write_some(g, last, before + steps - last->done);
}

// ---- bands

struct band {
    struct source x;
    const char *tiles;
    int64_t first, end;    // rows of outputs
    int64_t k, k_end;
};

static struct run run_at(const struct job *g, const struct band *b, int64_t p, int64_t q, int64_t k)
{
    const struct dnnl_conv *c = g->conv;
    int64_t top = p * c->stride[0] - c->before[0];
    struct run run = {.left = q * c->stride[1] - c->before[1], .width = c->w, .stride = c->stride[1],
                      .x_step = TILE * c->stride[1], .w = g->filters + (size_t)(k / 16) * g->column};
    run.r0 = top < 0 ? -top : 0, run.r1 = c->h - top < c->r ? c->h - top : c->r;
    // As integers, because tap (0, 0) may lie before the array.
    run.x = (const char *)((uintptr_t)b->tiles + (uintptr_t)((top - b->x.first) * (int64_t)g->row + run.left * TILE));
    return run;
}

// A row of outputs at 32 k, or the 16 or fewer that are left.
static void run_row(const struct job *g, const struct band *b, int64_t p, int64_t k, struct sums *sums)
{
    const struct dnnl_conv *c = g->conv;
    int64_t at = ((b->x.image * c->p + p) * c->q) * c->k + k;
    for (int64_t q = 0, wide; q < c->q; q += wide, at += wide * c->k) {
        wide = c->q - q <= MOST_OUTPUTS ? c->q - q : 2;
        struct run run = run_at(g, b, p, q, k);
        sum_outputs(g, wide, c->k - k > TILE_SIDE, &run, sums->at[sums->turn], &sums->last, sums->last.end);
        turn_sums(sums, (struct pending){.outputs = wide, .k = k, .at = at, .end = b->x.images * wide});
    }
}

// Two rows of outputs at 32 k, pooled.
static void run_pooled_rows(const struct job *g, const struct band *b, int64_t p, int64_t k, struct sums *sums)
{
    const struct dnnl_conv *c = g->conv;
    int64_t at = (b->x.image * (c->p / 2) + p / 2) * (c->q / 2) * c->k + k;
    for (int64_t q = 0; q < c->q; q += 2, at += c->k) {
        for (int i = 0; i < 2; i++) {
            struct run run = run_at(g, b, p + i, q, k);
            sum_outputs(g, 2, true, &run, sums->at[sums->turn] + i * 1024, &sums->last,
                        i == 0 ? TILE_SIDE / 2 : sums->last.end);
        }
        turn_sums(sums, (struct pending){.outputs = 1, .k = k, .at = at, .end = b->x.images});
    }
}

static void run_band(const struct job *g, struct band *b, char *tiles, struct sums *sums)
{
    const struct dnnl_conv *c = g->conv;
    int64_t top = b->first * c->stride[0] - c->before[0], bottom = (b->end - 1) * c->stride[0] - c->before[0] + c->r;
    b->x.first = top < 0 ? 0 : top;
    b->x.rows = (bottom > c->h ? c->h : bottom) - b->x.first;
    b->tiles = tiles;
    (c->x_pooled ? copy_pooled : copy_pixels)(g, &b->x, tiles);
    tiles_filled();
    for (int64_t k = b->k; k < b->k_end; k += KB)
        for (int64_t p = b->first; p < b->end; p += c->y_pooled ? 2 : 1)
            (c->y_pooled ? run_pooled_rows : run_row)(g, b, p, k, sums);
}

// A piece is a band, or some k of it where there are more threads than bands.
static void run_bands(void *context, int64_t begin, int64_t end, int thread)
{
    const struct job *g = context;
    const struct dnnl_conv *c = g->conv;
    char *tiles = g->work + (size_t)thread * g->x_bytes;
    struct sums sums;
    sums.last = (struct pending){.end = 0}, sums.turn = 0;
    tiles_begin(TILE_SIDE, TILE_SIDE);
    for (int64_t i = begin; i < end; i++) {
        int64_t band = i / g->parts, image = band / g->bands * TILE_SIDE, first = band % g->bands * g->rows;
        int64_t k = i % g->parts * g->wide;
        struct band b = {.x = {.image = image, .images = c->n - image < TILE_SIDE ? c->n - image : TILE_SIDE},
                         .first = first, .end = first + g->rows < c->p ? first + g->rows : c->p,
                         .k = k, .k_end = k + g->wide < c->k ? k + g->wide : c->k};
        run_band(g, &b, tiles, &sums);
    }
    write_some(g, &sums.last, sums.last.end);
    tiles_end();
    past_cache_end();
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
    threads_for(g.groups * g.bands * g.parts, 1, run_bands, &g);
}
