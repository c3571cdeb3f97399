// SPDX-License-Identifier: Apache-2.0
// x[N,H,W,C] * w[K,R,S,C] -> y[N,P,Q,K]. A register tile is 6 images by 64 k (or 8 by 48, 12 by 32) at one output pixel. All
// lanes are at the same pixel, so a tap outside the image is skipped for all of them and edges cost nothing. Each step over c
// loads four vectors of filters, broadcasts six values of x, and does 24 multiply-adds.
//
// Filters are first packed into units of 4 bytes, [k block][tap][c unit][k of the block]. A unit is two channels in bf16 (the
// instruction adds two products into each f32 lane) and one in f32. A thread takes rows of image tiles and finishes all k of a
// row before the next, so x is read from memory once. Sums do not depend on the number of threads.
#include "runtime/cpu/conv/direct.h"

#include "runtime/common/base/threads.h"
#include "runtime/cpu/loops/loops_stem.h"
#include "runtime/cpu/past_cache.h"

enum { KB = 64, UNIT = 4, WIDEST = 12 };
enum { LEAST_IMAGES = 12 };        // smaller batches make tiles too narrow to keep the multipliers busy
// 1x1 filters from here on: a product of matrices, where oneDNN is up to twice as fast, if there are enough pixels for it to
// make up for packing the filters, which takes oneDNN longer.
enum { LARGE_PRODUCT = 128 * 512, MANY_PIXELS = 1024 };

struct direct {
    const struct dnnl_conv *conv;
    bool transposed;
    struct direct_order order;
    const char *x;
    const float *w, *bias;
    char *y, *work;
    int64_t c_units, taps, size;  // size: bytes of an element of x and y
    bool past_cache;  // y leaves every cache before it is read again: write it without fetching its old lines
    const struct stem_loops *loops;
};

static int64_t channels_in_unit(const struct dnnl_conv *c) { return c->dtype == BF16 ? 2 : 1; }

size_t direct_bytes(const struct dnnl_conv *c)
{
    int64_t k = (c->k + 15) / 16 * 16;
    return (size_t)(k * c->r * c->s * (c->c / channels_in_unit(c))) * UNIT;
}

#if defined __x86_64__

#include "runtime/cpu/product/transpose16.h"
#include "runtime/cpu/product/avx512.h"

bool direct_fits(const struct dnnl_conv *c)
{
    if (c->r * c->s == 1 && c->c * c->k >= LARGE_PRODUCT && c->n * c->p * c->q >= MANY_PIXELS) return false;
    if (c->groups != 1 || c->n < LEAST_IMAGES || c->c < 8 || c->k < 16) return false;
    if (c->dtype != F32 && (c->dtype != BF16 || c->c % 2)) return false;
    return avx512_fit(c->dtype == BF16);
}

// Packs fewer than 16 filters of a tap, zeros behind them; `units` units of channels each.
static void pack_some(bool bf16, const float *from, int64_t k_step, int64_t count, int64_t units, char *to, int64_t apart)
{
    for (int64_t u = 0; u < units; u++, to += apart) {
        memset(to, 0, 16 * UNIT);
        for (int64_t k = 0; k < count; k++) {
            const float *row = from + k * k_step;
            if (bf16) {
                uint16_t pair[2] = {f32_to_bf16(row[2 * u]), f32_to_bf16(row[2 * u + 1])};
                memcpy(to + k * UNIT, pair, 4);
            } else {
                memcpy(to + k * UNIT, &row[u], 4);
            }
        }
    }
}

// Packs 16 filters of a tap, `units` units of channels each. from[k * k_step + c * c_step]; one of the steps is 1.
static AVX512 void pack_sixteen(bool bf16, const float *from, int64_t k_step, int64_t units, char *to, int64_t apart)
{
    for (int64_t u = 0; u < units; u += 16, to += 16 * apart) {
        int left = units - u < 16 ? (int)(units - u) : 16;
        __m512i v[16];
        if (bf16) {
            __mmask16 low = (__mmask16)((1u << (2 * left < 16 ? 2 * left : 16)) - 1);
            __mmask16 high = (__mmask16)(left > 8 ? (1u << (2 * left - 16)) - 1 : 0);
            for (int k = 0; k < 16; k++) {
                const float *row = from + k * k_step + 2 * u;
                v[k] = (__m512i)_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high, row + 16), _mm512_maskz_loadu_ps(low, row));
            }
        } else {
            __mmask16 in = (__mmask16)((1u << left) - 1);
            for (int k = 0; k < 16; k++) v[k] = _mm512_maskz_loadu_epi32(in, from + k * k_step + u);
        }
        transpose16(v);
        for (int i = 0; i < left; i++) _mm512_storeu_si512(to + i * apart, v[i]);
    }
}

// The same of transposed filters, whose k are adjacent; `wide` of 16 exist.
static AVX512 void pack_rows(bool bf16, const float *from, int64_t c_step, int64_t units, int64_t wide, char *to,
                              int64_t apart)
{
    __mmask16 in = wide >= 16 ? 0xffff : (__mmask16)((1u << wide) - 1);
    for (int64_t u = 0; u < units; u++, to += apart) {
        if (!bf16) {
            _mm512_storeu_si512(to, _mm512_maskz_loadu_epi32(in, from + u * c_step));
            continue;
        }
        const float *two = from + 2 * u * c_step;
        __m512 even = _mm512_maskz_loadu_ps(in, two), odd = _mm512_maskz_loadu_ps(in, two + c_step);
        __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(even));
        __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(odd));
        _mm512_storeu_si512(to, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
}

// Packs a chunk of channels from unit `u` on, of `wide` filters from `first` on, at a tap.
static void pack_chunk(const struct direct *d, int64_t first, int64_t wide, int64_t tap, int64_t u, char *to)
{
    const struct dnnl_conv *c = d->conv;
    bool bf16 = c->dtype == BF16;
    int64_t units = d->c_units - u < d->order.units ? d->c_units - u : d->order.units, channel = u * channels_in_unit(c);
    int64_t apart = (wide + 15) / 16 * 16 * UNIT, row = d->taps * c->c;
    memset(to + units * apart, 0, (size_t)((d->order.units - units) * apart));
    for (int64_t k = 0; k < wide; k += 16, to += 16 * UNIT) {
        const float *from = d->w + (first + k) * row + tap * c->c + channel;
        if (d->transposed) {
            from = d->w + (channel * d->taps + d->taps - 1 - tap) * c->k + first + k;
            pack_rows(bf16, from, d->taps * c->k, units, wide - k, to, apart);
        } else if (wide - k >= 16) {
            pack_sixteen(bf16, from, row, units, to, apart);
        } else {
            pack_some(bf16, from, row, wide - k, units, to, apart);
        }
    }
}

// Packs the filters of (k block, tap) pairs.
static void pack_filters(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct direct *d = context;
    const struct dnnl_conv *c = d->conv;
    int64_t taps = d->taps, k = d->order.k, chunks = (d->c_units + d->order.units - 1) / d->order.units;
    for (int64_t i = begin; i < end; i++) {
        int64_t tap = i % taps, first = i / taps * k, wide = c->k - first < k ? c->k - first : k;
        int64_t lanes = (wide + 15) / 16 * 16, chunk = d->order.units * lanes * UNIT;
        char *to = d->work + first * taps * chunks * d->order.units * UNIT + (tap / c->s * chunks * c->s + tap % c->s) * chunk;
        for (int64_t u = 0; u < d->c_units; u += d->order.units, to += c->s * chunk) pack_chunk(d, first, wide, tap, u, to);
    }
}

// One tile at one pixel. Strides are in bytes.
struct spot {
    const char *x, *w;          // at tap (0, 0), which may lie outside; of the k block
    int64_t r0, r1, s0, s1;     // the taps inside the image
    int64_t x_image, x_row, x_pixel;
    int64_t c_units, taps_wide; // taps_wide: s of the filter
    char *y;
    int64_t y_image;
    const float *bias;          // of the k block, or NULL
    int64_t k;                  // number of k to write in the block
    bool past_cache;            // write y around the caches
    enum act act;
    const struct stem_loops *loops;
};

static inline AVX512 ALWAYS __mmask16 lanes_of(int64_t left)
{
    return left >= 16 ? 0xffff : left <= 0 ? 0 : (__mmask16)((1u << left) - 1);
}

static inline AVX512 ALWAYS void store_tile(const int kv, const bool bf16, const struct spot *g, char *y, const __m512 *v)
{
    if (kv == 4 && g->past_cache) {  // whole lines, 64 k of them
#pragma GCC unroll 4
        for (int j = 0; j < 4; j += bf16 ? 2 : 1)
            _mm512_stream_si512((void *)(y + j * (bf16 ? 32 : 64)),
                                bf16 ? (__m512i)_mm512_cvtne2ps_pbh(v[j + 1], v[j]) : _mm512_castps_si512(v[j]));
        return;
    }
#pragma GCC unroll 4
    for (int j = 0; j < kv; j++) {
        __mmask16 in = lanes_of(g->k - j * 16);
        if (bf16) _mm256_mask_storeu_epi16(y + j * 32, in, (__m256i)_mm512_cvtneps_pbh(v[j]));
        else _mm512_mask_storeu_ps(y + j * 64, in, v[j]);
    }
}

static inline AVX512 ALWAYS void sum_tile(const int ct, const int kv, const bool bf16, const struct spot *g)
{
    __m512 a[WIDEST][4];
    __m512 b[4];
#pragma GCC unroll 4
    for (int j = 0; j < kv; j++)
        b[j] = g->bias ? _mm512_maskz_loadu_ps(lanes_of(g->k - j * 16), g->bias + j * 16) : _mm512_setzero_ps();
#pragma GCC unroll 12
    for (int i = 0; i < ct; i++)
#pragma GCC unroll 4
        for (int j = 0; j < kv; j++) a[i][j] = b[j];
    for (int64_t r = g->r0; r < g->r1; r++) {
        for (int64_t s = g->s0; s < g->s1; s++) {
            const char *w = g->w + (r * g->taps_wide + s) * g->c_units * kv * 64;
            const char *x[WIDEST / 3];  // every third image; the addressing mode reaches those between
#pragma GCC unroll 4
            for (int i = 0; i < (ct + 2) / 3; i++) x[i] = g->x + r * g->x_row + s * g->x_pixel + 3 * i * g->x_image;
            int64_t image = g->x_image;
            for (int64_t c = 0; c < g->c_units; c++, w += kv * 64) {
                __m512 f[4];
#pragma GCC unroll 4
                for (int j = 0; j < kv; j++) f[j] = _mm512_loadu_ps(w + j * 64);
#pragma GCC unroll 12
                for (int i = 0; i < ct; i++) {
                    float one;
                    memcpy(&one, x[i / 3] + (i % 3) * image, UNIT);
                    __m512 o = _mm512_set1_ps(one);
#pragma GCC unroll 4
                    for (int j = 0; j < kv; j++)
                        a[i][j] = bf16 ? _mm512_dpbf16_ps(a[i][j], (__m512bh)f[j], (__m512bh)o)
                                       : _mm512_fmadd_ps(f[j], o, a[i][j]);
                }
#pragma GCC unroll 4
                for (int i = 0; i < (ct + 2) / 3; i++) x[i] += UNIT;
            }
        }
    }
    if (g->act == ACT_NONE) {
#pragma GCC unroll 12
        for (int i = 0; i < ct; i++) store_tile(kv, bf16, g, g->y + i * g->y_image, a[i]);
        return;
    }
    float plain[WIDEST * KB];
#pragma GCC unroll 12
    for (int i = 0; i < ct; i++)
#pragma GCC unroll 4
        for (int j = 0; j < kv; j++) _mm512_storeu_ps(plain + (i * kv + j) * 16, a[i][j]);
    g->loops->activate(plain, ct * kv * 16, g->act);
    for (int i = 0; i < ct; i++) {
        __m512 v[4];
#pragma GCC unroll 4
        for (int j = 0; j < kv; j++) v[j] = _mm512_loadu_ps(plain + (i * kv + j) * 16);
        store_tile(kv, bf16, g, g->y + i * g->y_image, v);
    }
}

#define TILE(ct, kv)                                                                                                   \
    static AVX512 void tile_##ct##_##kv##_bf16(const struct spot *g) { sum_tile(ct, kv, true, g); }                       \
    static AVX512 void tile_##ct##_##kv##_f32(const struct spot *g) { sum_tile(ct, kv, false, g); }
TILE(6, 4) TILE(4, 4) TILE(1, 4)
TILE(8, 3) TILE(4, 3) TILE(1, 3)
TILE(12, 2) TILE(4, 2) TILE(1, 2)
TILE(12, 1) TILE(4, 1) TILE(1, 1)
#undef TILE

// For 1 to 4 vectors of k: the widest tile, a tile of 4 images and a tile of 1 for the remainder.
#define TILES(ct, kv)                                                                                                  \
    {{tile_##ct##_##kv##_f32, tile_4_##kv##_f32, tile_1_##kv##_f32},                                                   \
     {tile_##ct##_##kv##_bf16, tile_4_##kv##_bf16, tile_1_##kv##_bf16}}
static void (*const tiles[4][2][3])(const struct spot *) = {TILES(12, 1), TILES(12, 2), TILES(8, 3), TILES(6, 4)};
static const int widths[4] = {12, 12, 8, 6};

// All tiles of `images` images at one pixel.
static void run_spot(const struct spot *from, bool bf16, int64_t images)
{
    struct spot g = *from;
    int kv = (int)((g.k + 15) / 16);
    for (int64_t i = 0; i < images;) {
        int pick = images - i >= widths[kv - 1] ? 0 : images - i >= 4 ? 1 : 2;
        int wide = pick == 0 ? widths[kv - 1] : pick == 1 ? 4 : 1;
        tiles[kv - 1][bf16][pick](&g);
        g.x += wide * g.x_image, g.y += wide * g.y_image, i += wide;
    }
}

// Prefetches the input row that the next output row reads first, at the same column.
static void prefetch_row(const struct direct *d, int64_t image, int64_t images, int64_t p, int64_t q)
{
    const struct dnnl_conv *c = d->conv;
    int64_t row = (p + 1) * c->stride[0] + c->r - 1 - c->before[0];
    if (row >= c->h) {  // the next images start where these end
        row -= c->h, image += images;
        images = c->n - image < images ? c->n - image : images;
    }
    if (row < 0 || row >= c->h) return;
    int64_t bytes = c->c * d->size * c->stride[1];
    for (int64_t i = 0; i < images; i++) {
        const char *at = d->x + (((image + i) * c->h + row) * c->w + q * c->stride[1]) * c->c * d->size;
        for (int64_t b = 0; b < bytes; b += 64) _mm_prefetch(at + b, _MM_HINT_T1);
    }
}

static int64_t larger_of(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }

// One row of outputs of some images, one block of k.
static void run_row(const struct direct *d, int64_t image, int64_t images, int64_t p, int64_t first)
{
    const struct dnnl_conv *c = d->conv;
    int64_t pixel = c->c * d->size, top = p * c->stride[0] - c->before[0];
    struct spot g = {
        .r0 = larger_of(0, -top), .r1 = smaller_of(c->r, c->h - top),
        .x_image = c->h * c->w * pixel, .x_row = c->w * pixel, .x_pixel = pixel,
        .w = d->work + first * d->taps * d->c_units * UNIT, .c_units = d->c_units, .taps_wide = c->s,
        .y_image = c->p * c->q * c->k * d->size, .k = smaller_of(KB, c->k - first), .past_cache = d->past_cache,
        .bias = d->bias ? d->bias + first : NULL, .act = c->act, .loops = d->loops,
    };
    for (int64_t q = 0; q < c->q; q++) {
        int64_t left = q * c->stride[1] - c->before[1];
        g.s0 = larger_of(0, -left), g.s1 = smaller_of(c->s, c->w - left);
        // As integers, because tap (0, 0) may lie before the array.
        g.x = (const char *)((uintptr_t)d->x + (uintptr_t)(((image * c->h + top) * c->w + left) * pixel));
        g.y = d->y + (((image * c->p + p) * c->q + q) * c->k + first) * d->size;
        if (first == 0) prefetch_row(d, image, images, p, q);
        run_spot(&g, c->dtype == BF16, images);
    }
}

// How a batch is cut into tiles: `whole` of `wide` images, then `rest` of 4 (the last takes one more if one is left over).
// A tile of 4 is as fast an image as one of 6, a tile of 1 takes as long as a tile of 2 would: 32 is 6 6 6 6 4 4.
struct cut {
    int64_t wide, whole, rest;
};

static struct cut cut_batch(const struct dnnl_conv *c)
{
    if (c->k % KB) {  // a multiple of the tile's width, or of all widths; run_spot cuts what remains
        int64_t wide = c->k <= 32 ? 12 : c->k <= 48 ? 8 : 24;
        return (struct cut){wide, (c->n + wide - 1) / wide, 0};
    }
    struct cut cut = {6, c->n / 6, 0};
    int64_t left = c->n % 6;
    if (left == 2 || left == 3) cut.whole--, cut.rest = 2;  // there are two whole ones at least (LEAST_IMAGES)
    else if (left >= 4) cut.rest = 1;
    else if (left == 1) cut.whole -= 2, cut.rest = 3;
    return cut;
}

// A piece is a range of rows of tiles.
static void run_rows(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct direct *d = context;
    const struct dnnl_conv *c = d->conv;
    struct cut cut = cut_batch(c);
    while (begin < end) {
        int64_t tile = begin / c->p, p = begin % c->p, rows = smaller_of(c->p - p, end - begin), more = tile - cut.whole;
        int64_t image = more < 0 ? tile * cut.wide : cut.whole * cut.wide + 4 * more;
        int64_t images = more == cut.rest - 1 ? c->n - image : more < 0 ? smaller_of(cut.wide, c->n - image) : 4;
        for (int64_t first = 0; first < c->k; first += KB)
            for (int64_t i = 0; i < rows; i++) run_row(d, image, images, p + i, first);
        begin += rows;
    }
    past_cache_end();
}

static int64_t count_tile_rows(const struct dnnl_conv *c)
{
    struct cut cut = cut_batch(c);
    return (cut.whole + cut.rest) * c->p;
}

#else

bool direct_fits(const struct dnnl_conv *c)
{
    (void)c;
    return false;
}

static void run_rows(void *context, int64_t begin, int64_t end, int thread)
{
    (void)context, (void)begin, (void)end, (void)thread;
    BUG("direct_run without AVX-512");
}

static void pack_filters(void *context, int64_t begin, int64_t end, int thread) { run_rows(context, begin, end, thread); }

static int64_t count_tile_rows(const struct dnnl_conv *c) { return c->n; }

#endif

void direct_pack(const struct dnnl_conv *c, struct direct_order order, bool transposed, const float *w, void *filters)
{
    struct direct d = {
        .conv = c, .transposed = transposed, .order = order, .w = w, .work = filters,
        .c_units = c->c / channels_in_unit(c), .taps = c->r * c->s,
    };
    if (order.units == 0) d.order.units = d.c_units;
    threads_for((c->k + order.k - 1) / order.k * d.taps, 1, pack_filters, &d);
}

void direct_run(const struct dnnl_conv *c, bool transposed, const void *x, const float *w, const float *bias, void *y,
                void *work)
{
    struct direct d = {
        .conv = c, .x = x, .bias = bias, .y = y, .work = work, .c_units = c->c / channels_in_unit(c), .taps = c->r * c->s,
        .size = (int64_t)dtype_size(c->dtype), .loops = stem_loops(),
    };
    d.past_cache = c->k % KB == 0 && (uintptr_t)y % 64 == 0 && c->n * c->p * c->q * c->k * d.size >= PAST_CACHE;
    direct_pack(c, (struct direct_order){.k = KB}, transposed, w, work);
    threads_for(count_tile_rows(c), 1, run_rows, &d);
}
