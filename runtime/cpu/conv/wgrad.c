// SPDX-License-Identifier: Apache-2.0
// dw[k,r,s,c] as a sum of outer products over pixels. A register tile is 64 k by 6 (or 4) c. A pixel takes four vectors of dy,
// six broadcasts of x and 24 multiply-adds, so the multipliers are the bottleneck.
//
// The bf16 instruction adds two products into each f32 lane. Both products come from the same pixel of two images: a pair is
// (image 2i, image 2i + 1), so a tap's shift is the same for both and only taps inside the image are computed. Both arrays are
// first interleaved into such 4-byte units, in blocks that a tile reads from end to end. (An f32 unit is one number of one
// image; the rest of the code is the same.)
//   x units  [c block of 16][image unit][h][w][16]      dy units  [k block of 64][image unit][p][q][64]
// A group of image units is packed to fit the L2 cache, then every tile runs over the whole group. Each thread sums its own
// images, and the threads' sums are added in order: same number of threads, same bytes.
#include "runtime/cpu/conv/wgrad.h"

#include "runtime/common/base/threads.h"

enum { KB = 64, CB = 16, UNIT = 4 };
enum { GROUP_BYTES = 448 << 10, GROUP_LIMIT = 8 << 20 };  // of packed units; the L2 cache has 1 MB
// From these sums on, going over all of them once per group costs more than reading larger groups from beyond the L2 cache.
enum { LARGE_SUMS = 4 << 20, LARGE_GROUP = 2 << 20 };
enum { BAND_PIXELS = 256 };  // pixels that a tile reads before the next tile starts
enum { AHEAD = 4096 };  // prefetch distance of packing in bytes; without prefetching it takes three times as long

struct wgrad {
    const struct dnnl_conv *conv;
    const void *x, *dy;
    float *dw;
    char *work;
    int threads, used;     // used: those that have a group
    int64_t images;        // per unit: 2 in bf16, 1 in f32
    int64_t units, group;  // image units in the batch; and in a group
    int64_t k_blocks, c_blocks;
    size_t sum_bytes, x_bytes, dy_bytes;  // per thread
};

static struct wgrad plan_wgrad(const struct dnnl_conv *c, int threads)
{
    struct wgrad g = {.conv = c, .threads = threads, .images = c->dtype == BF16 ? 2 : 1};
    g.units = (c->n + g.images - 1) / g.images;
    g.k_blocks = c->k / KB, g.c_blocks = (c->c + CB - 1) / CB;
    size_t x_unit = (size_t)(c->h * c->w * g.c_blocks * CB) * UNIT, dy_unit = (size_t)(c->p * c->q * c->k) * UNIT;
    g.sum_bytes = plan_round_up((size_t)(c->k * c->r * c->s * g.c_blocks * CB) * sizeof(float));
    g.group = (g.sum_bytes >= LARGE_SUMS ? LARGE_GROUP : GROUP_BYTES) / (int64_t)(x_unit + dy_unit);
    if (g.group < 1) g.group = 1;
    int64_t share = (g.units + threads - 1) / threads;
    if (g.group > share) g.group = share;
    g.x_bytes = plan_round_up(x_unit * (size_t)g.group), g.dy_bytes = plan_round_up(dy_unit * (size_t)g.group);
    int64_t groups = (g.units + g.group - 1) / g.group;
    g.used = groups < threads ? (int)groups : threads;
    return g;
}

size_t wgrad_bytes(const struct dnnl_conv *c, int threads)
{
    struct wgrad g = plan_wgrad(c, threads);
    return (g.sum_bytes + g.x_bytes + g.dy_bytes) * (size_t)threads;
}

#if defined __x86_64__

#include "runtime/cpu/product/transpose16.h"
#include "runtime/cpu/product/avx512.h"

bool wgrad_fits(const struct dnnl_conv *c)
{
    if (c->groups != 1 || c->k % KB || c->c % 4 || c->c < 16 || (c->dtype != BF16 && c->dtype != F32)) return false;
    if (!avx512_fit(c->dtype == BF16)) return false;
    return (c->h * c->w * (c->c + CB) + c->p * c->q * c->k) * UNIT <= GROUP_LIMIT;
}

// The pixels whose tap (r, s) lies inside the image: `rows` of `columns`, from the first one. Steps are in bytes.
struct region {
    int64_t units, rows, columns;
    const char *x, *dy;
    int64_t x_unit, x_row, x_column, dy_unit, dy_row;
};

// sum[CT][64] += x[pixel][CT] dy[pixel][64] over the region.
static inline AVX512 ALWAYS void sum_tile(const int ct, const bool bf16, const struct region *g, float *sum)
{
    __m512 a[6][4];
#pragma GCC unroll 6
    for (int i = 0; i < ct; i++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) a[i][j] = _mm512_loadu_ps(sum + i * KB + j * 16);
    for (int64_t u = 0; u < g->units; u++) {
        for (int64_t row = 0; row < g->rows; row++) {
            const char *x = g->x + u * g->x_unit + row * g->x_row, *dy = g->dy + u * g->dy_unit + row * g->dy_row;
            for (int64_t i = 0; i < g->columns; i++, x += g->x_column, dy += KB * UNIT) {
                __m512 d[4];
#pragma GCC unroll 4
                for (int j = 0; j < 4; j++) d[j] = _mm512_loadu_ps(dy + j * 64);
#pragma GCC unroll 6
                for (int c = 0; c < ct; c++) {
                    float one;
                    memcpy(&one, x + c * UNIT, UNIT);
                    __m512 b = _mm512_set1_ps(one);
#pragma GCC unroll 4
                    for (int j = 0; j < 4; j++)
                        a[c][j] = bf16 ? _mm512_dpbf16_ps(a[c][j], (__m512bh)d[j], (__m512bh)b)
                                       : _mm512_fmadd_ps(d[j], b, a[c][j]);
                }
            }
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < ct; i++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) _mm512_storeu_ps(sum + i * KB + j * 16, a[i][j]);
}

static AVX512 void tile6_bf16(const struct region *g, float *sum) { sum_tile(6, true, g, sum); }
static AVX512 void tile4_bf16(const struct region *g, float *sum) { sum_tile(4, true, g, sum); }
static AVX512 void tile6_f32(const struct region *g, float *sum) { sum_tile(6, false, g, sum); }
static AVX512 void tile4_f32(const struct region *g, float *sum) { sum_tile(4, false, g, sum); }

// Packs one image unit from [pixels][channels] to [channels / block][pixels][block]; blocks are `apart` bytes apart. `b` is the
// second image of a pair, or NULL (its halves are then 0).
static AVX512 void pack_bf16(const uint16_t *a, const uint16_t *b, int64_t pixels, int64_t channels, int block,
                              char *to, int64_t apart)
{
    for (int64_t i = 0; i < pixels; i++)
        for (int64_t c = 0; c < channels; c += 16) {
            __mmask16 in = channels - c >= 16 ? 0xffff : (__mmask16)((1u << (channels - c)) - 1);
            _mm_prefetch((const char *)(a + i * channels + c) + AHEAD, _MM_HINT_T0);
            if (b) _mm_prefetch((const char *)(b + i * channels + c) + AHEAD, _MM_HINT_T0);
            __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(in, a + i * channels + c));
            __m512i high = b ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(in, b + i * channels + c))
                             : _mm512_setzero_si512();
            _mm512_storeu_si512(to + (c / block) * apart + (i * block + c % block) * UNIT,
                                _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
        }
}

static AVX512 void pack_f32(const float *a, int64_t pixels, int64_t channels, int block, char *to, int64_t apart)
{
    for (int64_t i = 0; i < pixels; i++)
        for (int64_t c = 0; c < channels; c += 16) {
            __mmask16 in = channels - c >= 16 ? 0xffff : (__mmask16)((1u << (channels - c)) - 1);
            _mm_prefetch((const char *)(a + i * channels + c) + AHEAD, _MM_HINT_T0);
            _mm512_storeu_ps(to + (c / block) * apart + (i * block + c % block) * UNIT,
                             _mm512_maskz_loadu_ps(in, a + i * channels + c));
        }
}

// Packs units [first, first + units) of an array of images into the blocks of a group.
static void pack_units(const struct wgrad *g, const void *from, int64_t pixels, int64_t channels, int block, int64_t first,
                 int64_t units, char *to)
{
    int64_t apart = g->group * pixels * block * UNIT, image = pixels * channels;
    for (int64_t u = 0; u < units; u++) {
        int64_t n = (first + u) * g->images;
        char *at = to + u * pixels * block * UNIT;
        if (g->images == 1) {
            pack_f32((const float *)from + n * image, pixels, channels, block, at, apart);
        } else {
            const uint16_t *a = (const uint16_t *)from + n * image;
            pack_bf16(a, n + 1 < g->conv->n ? a + image : NULL, pixels, channels, block, at, apart);
        }
    }
}

// The outputs whose tap at offset `tap` is inside: [*first, *first + count).
static int64_t outputs_inside(int64_t outputs, int64_t inputs, int stride, int64_t tap, int64_t *first)
{
    int64_t low = tap < 0 ? (-tap + stride - 1) / stride : 0;
    int64_t high = inputs - 1 - tap < 0 ? -1 : (inputs - 1 - tap) / stride;
    if (high > outputs - 1) high = outputs - 1;
    *first = low;
    return high < low ? 0 : high - low + 1;
}

// All channels of one tap over the region.
static void tap_sum(bool bf16, struct region *region, int64_t channels, float *sum)
{
    const char *x = region->x;
    for (int64_t i = 0; i < channels;) {  // 16 is 6 + 6 + 4, 12 is 6 + 6, 8 is 4 + 4
        int wide = channels - i >= 10 || channels - i == 6 ? 6 : 4;
        region->x = x + i * UNIT;
        if (bf16) (wide == 6 ? tile6_bf16 : tile4_bf16)(region, sum + i * KB);
        else (wide == 6 ? tile6_f32 : tile4_f32)(region, sum + i * KB);
        i += wide;
    }
}

// All taps of one block of k and one of c, for output rows [top, bottom) of a few image units.
static void band_sum(const struct wgrad *g, int64_t units, int64_t top, int64_t bottom, const char *x, const char *dy,
                     int64_t channels, float *sum)
{
    const struct dnnl_conv *c = g->conv;
    struct region region = {.units = units,
                            .x_unit = c->h * c->w * CB * UNIT,
                            .x_row = c->stride[0] * c->w * CB * UNIT,
                            .x_column = c->stride[1] * CB * UNIT,
                            .dy_unit = c->p * c->q * KB * UNIT,
                            .dy_row = c->q * KB * UNIT};
    for (int64_t r = 0; r < c->r; r++)
        for (int64_t s = 0; s < c->s; s++, sum += CB * KB) {
            int64_t p, q, down = r - c->before[0], right = s - c->before[1];
            int64_t end = outputs_inside(c->p, c->h, c->stride[0], down, &p);
            end += p;
            if (p < top) p = top;
            if (end > bottom) end = bottom;
            region.rows = end - p;
            region.columns = outputs_inside(c->q, c->w, c->stride[1], right, &q);
            if (region.rows <= 0 || region.columns <= 0) continue;
            region.dy = dy + (p * c->q + q) * KB * UNIT;
            region.x = x + ((p * c->stride[0] + down) * c->w + q * c->stride[1] + right) * CB * UNIT;
            tap_sum(g->images == 2, &region, channels, sum);
        }
}

// A band is small enough to keep the input of all taps of a block in the L1 cache.
static void block_sum(const struct wgrad *g, int64_t units, const char *x, const char *dy, int64_t channels, float *sum)
{
    const struct dnnl_conv *c = g->conv;
    int64_t rows = BAND_PIXELS / c->q < 1 ? 1 : BAND_PIXELS / c->q, few = BAND_PIXELS / (c->p * c->q);
    if (few < 1) few = 1;
    for (int64_t u = 0; u < units; u += few)
        for (int64_t top = 0; top < c->p; top += rows)
            band_sum(g, units - u < few ? units - u : few, top, top + rows < c->p ? top + rows : c->p,
                     x + u * c->h * c->w * CB * UNIT, dy + u * c->p * c->q * KB * UNIT, channels, sum);
}

static float *thread_sums(const struct wgrad *g, int thread)
{
    return (float *)(g->work + (size_t)thread * (g->sum_bytes + g->x_bytes + g->dy_bytes));
}

static void add_groups(void *context, int64_t begin, int64_t end, int thread)
{
    const struct wgrad *g = context;
    const struct dnnl_conv *c = g->conv;
    float *sum = thread_sums(g, thread);
    char *x = (char *)sum + g->sum_bytes, *dy = x + g->x_bytes;
    int64_t taps = c->r * c->s;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * g->group, units = g->units - first < g->group ? g->units - first : g->group;
        pack_units(g, g->x, c->h * c->w, c->c, CB, first, units, x);
        pack_units(g, g->dy, c->p * c->q, c->k, KB, first, units, dy);
        for (int64_t kb = 0; kb < g->k_blocks; kb++)
            for (int64_t cb = 0; cb < g->c_blocks; cb++) {
                float *to = sum + (kb * g->c_blocks + cb) * taps * CB * KB;
                if (i == begin) memset(to, 0, (size_t)(taps * CB * KB) * sizeof *to);
                block_sum(g, units, x + cb * g->group * c->h * c->w * CB * UNIT,
                          dy + kb * g->group * c->p * c->q * KB * UNIT, c->c - cb * CB < CB ? c->c - cb * CB : CB, to);
            }
    }
}

// Adds the threads' sums of a tile, [16 c][64 k], and writes them as 64 k rows of `channels` c. Whole lines go around the
// caches: the gradients of all filters are larger than these, and the update reads them later.
static AVX512 void join_tile(const struct wgrad *g, int64_t tile, int64_t channels, float *to, int64_t apart)
{
    float total[CB * KB] __attribute__((aligned(64)));
    memcpy(total, thread_sums(g, 0) + tile * CB * KB, sizeof total);  // from end to end, as the prefetcher likes it
    for (int t = 1; t < g->used; t++) {
        const float *more = thread_sums(g, t) + tile * CB * KB;
        for (int i = 0; i < CB * KB; i += 16)
            _mm512_store_ps(total + i, _mm512_add_ps(_mm512_load_ps(total + i), _mm512_loadu_ps(more + i)));
    }
    bool whole = channels >= CB && ((uintptr_t)to | (uintptr_t)(apart * (int64_t)sizeof *to)) % 64 == 0;
    __mmask16 in = channels >= CB ? 0xffff : (__mmask16)((1u << channels) - 1);
    for (int64_t k = 0; k < KB; k += 16) {
        __m512i v[16];
        for (int c = 0; c < CB; c++) v[c] = _mm512_load_si512(total + c * KB + k);
        transpose16(v);
        if (whole)
            for (int i = 0; i < 16; i++) _mm512_stream_si512((void *)(to + (k + i) * apart), v[i]);
        else
            for (int i = 0; i < 16; i++) _mm512_mask_storeu_epi32(to + (k + i) * apart, in, v[i]);
    }
}

// A piece is (k block, c block, tap).
static void join_sums(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct wgrad *g = context;
    const struct dnnl_conv *c = g->conv;
    int64_t taps = c->r * c->s;
    for (int64_t i = begin; i < end; i++) {
        int64_t tap = i % taps, cb = i / taps % g->c_blocks, kb = i / taps / g->c_blocks;
        int64_t channels = c->c - cb * CB < CB ? c->c - cb * CB : CB;
        join_tile(g, i, channels, g->dw + (kb * KB * taps + tap) * c->c + cb * CB, taps * c->c);
    }
    _mm_sfence();
}

#else

bool wgrad_fits(const struct dnnl_conv *c)
{
    (void)c;
    return false;
}

static void add_groups(void *context, int64_t begin, int64_t end, int thread)
{
    (void)context, (void)begin, (void)end, (void)thread;
    BUG("wgrad_run without AVX-512");
}

static void join_sums(void *context, int64_t begin, int64_t end, int thread) { add_groups(context, begin, end, thread); }

#endif

void wgrad_run(const struct dnnl_conv *c, int threads, const void *x, const void *dy, float *dw, void *work)
{
    struct wgrad g = plan_wgrad(c, threads);
    g.x = x, g.dy = dy, g.dw = dw, g.work = work;
    threads_for((g.units + g.group - 1) / g.group, 1, add_groups, &g);
    threads_for(g.k_blocks * g.c_blocks * c->r * c->s, 16, join_sums, &g);
}
