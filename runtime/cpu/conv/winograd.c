// SPDX-License-Identifier: Apache-2.0
// x[N,H,W,C] * w[K,3,3,C] -> y[N,P,Q,K] and, with transposed filters, the gradient of x.
//
// Filters are transformed first, to [k block of 64][position][pair of channels][64]. A thread takes bands of tiles. It
// transforms the inputs of a band to V[position][tile][C] in bf16. Then, for one block of k at a time, it computes the 16
// products M[position][tile][64] in f32 (rows.c) and transforms them into outputs. V, M and the filters of a position stay in
// the L2 cache. One or a few images have less work than filters: each thread takes blocks of k, so that every filter is read by
// one core, and transforms all inputs, which is faster than to fetch V from other cores. The sum of an output does not depend on
// its band, so results do not depend on the number of threads.
//
// The transform of inputs takes 32 channels at a time as 16 words: even channels are the low halves, odd ones the high halves.
// V keeps the order even, odd within such a block, and so do the filters.
#include "runtime/cpu/conv/winograd_inside.h"

#include "runtime/common/base/threads.h"
#include "runtime/cpu/conv/results.h"
#include "runtime/cpu/loops/loops_stem.h"
#include "runtime/cpu/past_cache.h"

enum { SKEW = 192 };                // keeps the same row of 16 positions out of the same set of a cache
enum { BAND_BYTES = 768 << 10, BAND_TILES = 24 };  // of V and M; the L2 cache has 1 MB
enum { LEAST_TILES = 64 };          // fewer are not worth packing the filters

struct job {
    const struct dnnl_conv *conv;
    const char *filters;
    const uint16_t *x;
    const uint8_t *x_at;
    const float *bias;
    uint16_t *y;
    uint8_t *y_at;
    char *work;
    bool by_k;  // one band, and threads that take blocks of k
    int64_t rows, columns, band;  // tiles of an image; rows of tiles in a band
    uint8_t needs[WINOGRAD_MOST_TILES];  // winograd_rows() of the columns
    size_t v_row, v_spot, m_spot;  // bytes of a tile's channels; of a position
    size_t v_bytes, m_bytes;
    bool past_cache;
    const struct stem_loops *loops;
};

static struct job plan_job(const struct dnnl_conv *c, int threads)
{
    struct job g = {.conv = c, .rows = winograd_tiles(c->p), .columns = winograd_tiles(c->q)};
    g.v_row = (size_t)((c->c + CB - 1) / CB * CB) * sizeof(uint16_t);
    int64_t tiles = BAND_BYTES / (int64_t)(WINOGRAD_SPOTS * (g.v_row + KB * sizeof(float)));
    int64_t wanted = c->tiles ? 2 * BAND_TILES : BAND_TILES;  // fill tiles of 16
    if (tiles > wanted) tiles = wanted;
    int64_t all = c->n * g.rows, most = tiles > g.columns ? tiles / g.columns : 1;
    g.by_k = threads > 1 && all <= most && c->k >= 2 * KB;
    int64_t bands = (all + most - 1) / most;
    if (!g.by_k) bands = (bands + threads - 1) / threads * threads;  // as much for every thread
    g.band = (all + bands - 1) / bands;
    winograd_columns(c, g.needs);
    tiles = g.band * g.columns;
    g.v_spot = (size_t)tiles * g.v_row + SKEW;
    g.m_spot = (size_t)tiles * KB * sizeof(float) + SKEW;
    g.v_bytes = plan_round_up(WINOGRAD_SPOTS * g.v_spot + g.v_row);  // the last row: positions that are not computed
    g.m_bytes = plan_round_up(WINOGRAD_SPOTS * g.m_spot);
    return g;
}

size_t winograd_bytes(const struct dnnl_conv *c, int threads)
{
    struct job g = plan_job(c, threads);
    return (g.v_bytes + g.m_bytes) * (size_t)threads;
}

#if defined __x86_64__

bool winograd_fits(const struct dnnl_conv *c, bool kept)
{
    if (!winograd_shape(c) || c->k % KB || c->c % 8 || c->c < 16) return false;
    if (!kept && c->n * winograd_tiles(c->p) * winograd_tiles(c->q) < LEAST_TILES) return false;
    return avx512_fit(true) && winograd_is_faster(c, 2.0, 2.5);
}

// ---- inputs

// The 4 x 4 pixels that a tile reads. If x is pooled, a pixel is `value` where `at` is its position in the window, else zero.
struct patch {
    const uint16_t *value[16];
    const uint8_t *at[16];
};

// 32 channels of a pixel of pooled x, or the `in` of them. tap: its position in the window.
static inline AVX512 ALWAYS __m512i load_pooled(const bool whole, const uint16_t *value, const uint8_t *at, __mmask32 in,
                                                 __m256i tap)
{
    if (whole) return _mm512_maskz_loadu_epi16(_mm256_cmpeq_epi8_mask(_mm256_loadu_si256((const void *)at), tap), value);
    return _mm512_maskz_loadu_epi16(_mm256_mask_cmpeq_epi8_mask(in, _mm256_maskz_loadu_epi8(in, at), tap), value);
}

// Four pixels as f32, from `first` on: even channels in [0] to [3], odd ones in [4] to [7]. taps: NULL, or positions by the
// parity of row and column.
static inline AVX512 ALWAYS void load_row(const bool whole, const __m256i *taps, const struct patch *patch, int first,
                                           int64_t c, int64_t wide, __m512 d[8])
{
    const __m512i top = _mm512_set1_epi32((int)0xffff0000);
    __mmask16 in = whole ? 0xffff : (__mmask16)((1u << wide / 2) - 1);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const uint16_t *value = patch->value[first + i] + c;
        __m512i both = taps ? load_pooled(whole, value, patch->at[first + i] + c, (__mmask32)((1u << wide % CB) - 1),
                                          taps[first / 4 % 2 * 2 + i % 2])
                            : _mm512_maskz_loadu_epi32(in, value);
        d[i] = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
        d[4 + i] = _mm512_castsi512_ps(_mm512_and_si512(both, top));
    }
}

// The four positions of a row, whose inputs are d. Whole blocks of channels are written at once.
static inline AVX512 ALWAYS void store_row(const bool whole, __m512 d[8], int64_t at, int64_t wide, char *const to[4])
{
    winograd_input_row(&d[0], &d[1], &d[2], &d[3]);
    winograd_input_row(&d[4], &d[5], &d[6], &d[7]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        if (whole) {
            _mm512_storeu_si512(to[i] + at, (__m512i)_mm512_cvtne2ps_pbh(d[4 + i], d[i]));
        } else {  // the second write may begin inside the first
            _mm256_storeu_si256((void *)(to[i] + at), (__m256i)_mm512_cvtneps_pbh(d[i]));
            _mm256_storeu_si256((void *)(to[i] + at + wide), (__m256i)_mm512_cvtneps_pbh(d[4 + i]));
        }
    }
}

// V of one tile, `wide` channels from c on. Two rows of inputs are loaded at a time: all of them exceed the registers.
static inline AVX512 ALWAYS void spread_block(const bool whole, const __m256i *taps, const struct patch *patch, int64_t c,
                                               int64_t wide, char *const to[16])
{
    __m512 a[8], b[8], d[8];
    load_row(whole, taps, patch, 0, c, wide, a);
    load_row(whole, taps, patch, 8, c, wide, b);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) d[i] = _mm512_sub_ps(a[i], b[i]);
    store_row(whole, d, 2 * c, wide, to);
    load_row(whole, taps, patch, 4, c, wide, a);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) d[i] = _mm512_add_ps(a[i], b[i]);
    store_row(whole, d, 2 * c, wide, to + 4);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) d[i] = _mm512_sub_ps(b[i], a[i]);
    store_row(whole, d, 2 * c, wide, to + 8);
    load_row(whole, taps, patch, 12, c, wide, b);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) d[i] = _mm512_sub_ps(b[i], a[i]);
    store_row(whole, d, 2 * c, wide, to + 12);
}

// V of one tile, all channels.
static AVX512 void spread_tile(const struct patch *patch, int64_t channels, char *const to[16])
{
    int64_t c = 0;
    for (; c + CB <= channels; c += CB) spread_block(true, NULL, patch, c, CB, to);
    if (c < channels) spread_block(false, NULL, patch, c, channels - c, to);
}

// The same of pooled x. flip: the position in its window of the first pixel of each tile.
static AVX512 void spread_pooled_tile(const struct patch *patch, int flip, int64_t channels, char *const to[16])
{
    __m256i taps[4];
    for (int i = 0; i < 4; i++) taps[i] = _mm256_set1_epi8((char)(i ^ flip));
    int64_t c = 0;
    for (; c + CB <= channels; c += CB) spread_block(true, taps, patch, c, CB, to);
    if (c < channels) spread_block(false, taps, patch, c, channels - c, to);
}

// The patch of tile (ty, tx) of pooled x.
static void pooled_patch(const struct job *g, int64_t image, int64_t ty, int64_t tx, struct patch *patch)
{
    const struct dnnl_conv *c = g->conv;
    int64_t row[4], column[4];  // -1: outside
    for (int i = 0; i < 4; i++) {
        int64_t h = 2 * ty - c->before[0] + i, w = 2 * tx - c->before[1] + i;
        row[i] = h >= 0 && h < c->h ? (image * (c->h / 2) + h / 2) * (c->w / 2) * c->c : -1;
        column[i] = w >= 0 && w < c->w ? w / 2 * c->c : -1;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            bool inside = row[i] >= 0 && column[j] >= 0;
            patch->value[4 * i + j] = inside ? g->x + row[i] + column[j] : winograd_zeros;
            patch->at[4 * i + j] = inside ? g->x_at + row[i] + column[j] : (const uint8_t *)winograd_zeros;
        }
}

// Walks the tiles of a band. next[i] is the row of position i for the next tile that computes it.
struct walk {
    int64_t image, ty;
    unsigned rows;
    char *next[WINOGRAD_SPOTS];
};

// How many tiles of the rows [first, end) compute each position.
static void count_tiles(const struct job *g, int64_t first, int64_t end, int64_t count[16])
{
    for (int i = 0; i < WINOGRAD_SPOTS; i++) count[i] = 0;
    for (int64_t row = first; row < end; row++) {
        unsigned rows = winograd_rows(row % g->rows, g->conv->p, g->conv->h, g->conv->before[0]);
        for (int64_t tx = 0; tx < g->columns; tx++)
            for (int i = 0; i < WINOGRAD_SPOTS; i++) count[i] += rows >> i / 4 & g->needs[tx] >> i % 4 & 1;
    }
}

// Begins a walk at row `first` of tiles. base[position][tile] begins with row `origin`; a tile takes `size` bytes.
static void begin_walk(struct walk *w, const struct job *g, int64_t origin, int64_t first, char *base, size_t spot,
                       size_t size)
{
    int64_t count[WINOGRAD_SPOTS];
    count_tiles(g, origin, first, count);
    *w = (struct walk){.image = first / g->rows, .ty = first % g->rows};
    w->rows = winograd_rows(w->ty, g->conv->p, g->conv->h, g->conv->before[0]);
    for (int i = 0; i < WINOGRAD_SPOTS; i++) w->next[i] = base + (size_t)i * spot + (size_t)count[i] * size;
}

static void next_row(struct walk *w, const struct job *g)
{
    if (++w->ty == g->rows) w->ty = 0, w->image++;
    w->rows = winograd_rows(w->ty, g->conv->p, g->conv->h, g->conv->before[0]);
}

// The rows of tile tx at the 16 positions; `none` at those that are not computed.
static inline void take_rows(struct walk *w, const struct job *g, int64_t tx, size_t row, char *none, char *to[16])
{
    unsigned columns = g->needs[tx];
    if (w->rows == 15 && columns == 15) {
        for (int i = 0; i < WINOGRAD_SPOTS; i++) to[i] = w->next[i], w->next[i] += row;
        return;
    }
    for (int i = 0; i < WINOGRAD_SPOTS; i++) {
        to[i] = none;
        if (w->rows >> i / 4 & columns >> i % 4 & 1) to[i] = w->next[i], w->next[i] += row;
    }
}

// V of some rows of a band that begins with row `origin`.
static void spread_band(const struct job *g, int64_t origin, int64_t first, int64_t rows, char *v, char *none)
{
    const struct dnnl_conv *c = g->conv;
    struct walk w;
    begin_walk(&w, g, origin, first, v, g->v_spot, g->v_row);
    for (int64_t i = 0; i < rows; i++, next_row(&w, g)) {
        for (int64_t tx = 0; tx < g->columns; tx++) {
            struct patch patch;
            char *to[16];
            take_rows(&w, g, tx, g->v_row, none, to);
            if (c->x_pooled) {
                pooled_patch(g, w.image, w.ty, tx, &patch);
                spread_pooled_tile(&patch, c->before[0] % 2 * 2 + c->before[1] % 2, c->c, to);
            } else {
                winograd_pixels(c, g->x + w.image * c->h * c->w * c->c, w.ty, tx, patch.value);
                spread_tile(&patch, c->c, to);
            }
        }
    }
}

// ---- outputs

// A' m A of vector j of 64 k.
static inline AVX512 ALWAYS void join_spots(char *const m[16], int j, __m512 y[4])
{
    __m512 s[4], t[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m512 a = _mm512_loadu_ps(m[i] + 64 * j), b = _mm512_loadu_ps(m[4 + i] + 64 * j);
        __m512 c = _mm512_loadu_ps(m[8 + i] + 64 * j), e = _mm512_loadu_ps(m[12 + i] + 64 * j);
        s[i] = _mm512_add_ps(a, _mm512_add_ps(b, c));
        t[i] = _mm512_add_ps(_mm512_sub_ps(b, c), e);
    }
    y[0] = _mm512_add_ps(s[0], _mm512_add_ps(s[1], s[2])), y[1] = _mm512_add_ps(_mm512_sub_ps(s[1], s[2]), s[3]);
    y[2] = _mm512_add_ps(t[0], _mm512_add_ps(t[1], t[2])), y[3] = _mm512_add_ps(_mm512_sub_ps(t[1], t[2]), t[3]);
}

// The outputs of a tile at 64 k; y[i] is NULL outside the image.
static AVX512 void join_tile(const struct job *g, char *const m[16], const float *bias, uint16_t *const y[4])
{
    float plain[4][KB];
    bool act = g->conv->act != ACT_NONE;
#pragma GCC unroll 2
    for (int j = 0; j < 4; j += 2) {
        __m512 low[4], high[4];
        join_spots(m, j, low);
        join_spots(m, j + 1, high);
        __m512 b = bias ? _mm512_loadu_ps(bias + 16 * j) : _mm512_setzero_ps();
        __m512 d = bias ? _mm512_loadu_ps(bias + 16 * j + 16) : _mm512_setzero_ps();
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            low[i] = _mm512_add_ps(low[i], b), high[i] = _mm512_add_ps(high[i], d);
            if (act) _mm512_storeu_ps(plain[i] + 16 * j, low[i]), _mm512_storeu_ps(plain[i] + 16 * j + 16, high[i]);
            else if (y[i]) results_store(g->past_cache, y[i] + 16 * j, (__m512i)_mm512_cvtne2ps_pbh(high[i], low[i]));
        }
    }
    if (!act) return;
    g->loops->activate(plain[0], 4 * KB, g->conv->act);
    for (int i = 0; i < 4; i++)
        for (int j = 0; y[i] && j < 4; j += 2) results_store(g->past_cache, y[i] + 16 * j, results_round(plain[i] + 16 * j));
}

// The largest output of a tile at 64 k, activated, and its position. Outputs are rounded first, so this is a max pool
// (loops_pool.c).
static AVX512 void join_pooled_tile(const struct job *g, char *const m[16], const float *bias, uint16_t *y, uint8_t *at)
{
    float plain[KB];
    bool act = y && g->conv->act != ACT_NONE;
#pragma GCC unroll 2
    for (int j = 0; j < 4; j += 2) {
        __m512 low[4], high[4];
        join_spots(m, j, low);
        join_spots(m, j + 1, high);
        __m512 b = bias ? _mm512_loadu_ps(bias + 16 * j) : _mm512_setzero_ps();
        __m512 d = bias ? _mm512_loadu_ps(bias + 16 * j + 16) : _mm512_setzero_ps();
        struct results_pool best = results_pool_first(_mm512_add_ps(low[0], b), _mm512_add_ps(high[0], d));
#pragma GCC unroll 3
        for (int i = 1; i < 4; i++) results_pool_next(&best, i, _mm512_add_ps(low[i], b), _mm512_add_ps(high[i], d));
        if (act) results_widen(best.value, plain + 16 * j);
        else if (y) results_store(g->past_cache, y + 16 * j, best.value);
        if (at) _mm256_storeu_si256((void *)(at + 16 * j), _mm512_cvtepi16_epi8(best.where));
    }
    if (!act) return;
    g->loops->activate(plain, KB, g->conv->act);
    for (int j = 0; j < 4; j += 2) results_store(g->past_cache, y + 16 * j, results_round(plain + 16 * j));
}

// The outputs of a band at 64 k from `k` on.
static void join_band(const struct job *g, int64_t first, int64_t rows, char *m, int64_t k)
{
    static const float none[KB];
    const struct dnnl_conv *c = g->conv;
    struct walk w;
    begin_walk(&w, g, first, first, m, g->m_spot, KB * sizeof(float));
    for (int64_t i = 0; i < rows; i++, next_row(&w, g)) {
        uint16_t *row = c->y_pooled ? NULL : g->y + ((w.image * c->p + 2 * w.ty) * c->q) * c->k + k;
        int64_t pooled = (w.image * g->rows + w.ty) * g->columns * c->k + k;
        bool below = 2 * w.ty + 1 < c->p;
        for (int64_t tx = 0; tx < g->columns; tx++, pooled += c->k) {
            char *from[16];
            take_rows(&w, g, tx, KB * sizeof(float), (char *)(uintptr_t)none, from);
            if (c->y_pooled) {
                join_pooled_tile(g, from, g->bias ? g->bias + k : NULL, g->y ? g->y + pooled : NULL,
                                 g->y_at ? g->y_at + pooled : NULL);
                continue;
            }
            uint16_t *at = row + 2 * tx * c->k;
            bool right = 2 * tx + 1 < c->q;
            uint16_t *y[4] = {at, right ? at + c->k : NULL, below ? at + c->q * c->k : NULL,
                              right && below ? at + (c->q + 1) * c->k : NULL};
            join_tile(g, from, g->bias ? g->bias + k : NULL, y);
        }
    }
}

// All outputs of a band at 64 k from `k` on.
static void run_block(const struct job *g, int64_t first, int64_t rows, const char *v, const int64_t count[16], char *m,
                      int64_t k)
{
    for (int i = 0; i < WINOGRAD_SPOTS; i++)
        rows_multiply(g->conv->tiles, v + (size_t)i * g->v_spot, g->v_row, count[i],
                      g->filters + winograd_filters_at(g->conv, k, 0, i), g->conv->c / 2, (float *)(m + (size_t)i * g->m_spot));
    join_band(g, first, rows, m, k);
}

// Prefetches part `i` of `parts` of the inputs that the rows of tiles [first, end) read; they are adjacent. Without it, the
// transform takes twice as long.
static void prefetch_inputs(const struct job *g, int64_t first, int64_t end, int64_t i, int64_t parts)
{
    const struct dnnl_conv *c = g->conv;
    int64_t each = c->x_pooled ? 1 : 2, height = c->h * each / 2, row = c->w * each / 2 * c->c, last = end - 1;
    int64_t from = (first / g->rows * height + first % g->rows * each) * row;
    int64_t part = ((last / g->rows * height + last % g->rows * each + each + 2) * row - from + parts - 1) / parts;
    uintptr_t at = (uintptr_t)g->x + (uintptr_t)(from + i * part) * sizeof *g->x;
    for (int64_t b = 0; b < part * (int64_t)sizeof *g->x; b += 64) _mm_prefetch((const char *)(at + (uintptr_t)b), _MM_HINT_T0);
    at = (uintptr_t)g->x_at + (uintptr_t)(from + i * part);
    for (int64_t b = 0; c->x_pooled && b < part; b += 64) _mm_prefetch((const char *)(at + (uintptr_t)b), _MM_HINT_T0);
    __asm__ volatile("");  // gcc drops calls of a function that only prefetches
}

// A piece is a band of rows of tiles, over all images.
static void run_bands(void *context, int64_t begin, int64_t end, int thread)
{
    const struct job *g = context;
    char *v = g->work + (size_t)thread * (g->v_bytes + g->m_bytes), *m = v + g->v_bytes;
    int64_t all = g->conv->n * g->rows;
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * g->band, rows = all - first < g->band ? all - first : g->band, count[WINOGRAD_SPOTS];
        count_tiles(g, first, first + rows, count);
        spread_band(g, first, first, rows, v, v + WINOGRAD_SPOTS * g->v_spot);
        for (int64_t k = 0; k < g->conv->k; k += KB) {
            int64_t more = first + rows, last = more + g->band < all ? more + g->band : all;
            if (more < all) prefetch_inputs(g, more, last, k / KB, g->conv->k / KB);
            run_block(g, first, rows, v, count, m, k);
        }
    }
    past_cache_end();
}

// The same of one band. A piece is a block of k. Every thread transforms all inputs.
static void run_blocks(void *context, int64_t begin, int64_t end, int thread)
{
    const struct job *g = context;
    int64_t all = g->conv->n * g->rows, count[WINOGRAD_SPOTS];
    char *v = g->work + (size_t)thread * (g->v_bytes + g->m_bytes), *m = v + g->v_bytes;
    count_tiles(g, 0, all, count);
    spread_band(g, 0, 0, all, v, v + WINOGRAD_SPOTS * g->v_spot);
    for (int64_t k = begin; k < end; k++) run_block(g, 0, all, v, count, m, k * KB);
    past_cache_end();
}

#else

bool winograd_fits(const struct dnnl_conv *c, bool kept)
{
    (void)c, (void)kept;
    return false;
}

static void run_bands(void *context, int64_t begin, int64_t end, int thread)
{
    (void)context, (void)begin, (void)end, (void)thread;
    BUG("winograd_run without AVX-512");
}

static void run_blocks(void *context, int64_t begin, int64_t end, int thread) { run_bands(context, begin, end, thread); }

#endif

void winograd_run(const struct dnnl_conv *c, int threads, const void *filters, const struct conv_data *data, void *work)
{
    struct job g = plan_job(c, threads);
    g.filters = filters, g.work = work, g.loops = stem_loops();
    g.x = data->x, g.x_at = data->x_at, g.bias = data->bias, g.y = data->y, g.y_at = data->y_at;
    int64_t results = c->n * c->p * c->q * c->k / (c->y_pooled ? 4 : 1);
    g.past_cache = (uintptr_t)g.y % 64 == 0 && results * (int64_t)sizeof(uint16_t) >= PAST_CACHE;
    int64_t all = c->n * g.rows;
    if (g.by_k) {
        threads_for(c->k / KB, 1, run_blocks, &g);
    } else {
        threads_for((all + g.band - 1) / g.band, 1, run_bands, &g);
    }
}
