// SPDX-License-Identifier: Apache-2.0
// dw[k,r,s,c] by the transposed transforms of F(2x2, 3x3): at each of 16 positions a sum over tiles of outer products,
//
//   S = sum of (A dy A') (B' d B)'    dw = G' S G    columns of A: y0, y0 + y1, y0 - y1, y1
//
// The bf16 instruction adds two products into each f32 lane. They come from the same tile of two images, as in wgrad.c, so that
// both compute the same positions. Transformed tiles lie as 4-byte units of a pair of images:
//   x units  [position][c block of 16][tile][16]      dy units  [position][k block of 64][tile][64]
// A group of tiles is transformed, then each position is summed over the whole group: a block of dy units and its sums fit the
// L1 cache. Each thread sums its own groups, and the threads' sums are added in order: same number of threads, same bytes.
#include "runtime/cpu/conv/winograd_inside.h"

#include "runtime/common/base/threads.h"

enum { XB = 16, UNIT = 4, SKEW = 192 };  // XB: channels of x in a block
enum { GROUP_TILES = 128 };  // pairs of tiles: 32 kB of dy units at a position and a block of k
enum { LEAST_IMAGES = 12, LEAST_TILES = 64 };
enum { LARGEST_SUMS = 8 << 20 };  // bytes of a thread: larger ones cost more to read and write than is gained

struct wgrad {
    const struct dnnl_conv *conv;
    const uint16_t *x, *dy;
    const uint8_t *dy_at;
    float *dw;
    char *work;
    int64_t pairs, rows, columns;  // pairs of images; tiles of an image
    int64_t group, groups;         // rows of tiles in a group; groups in the batch
    int64_t capacity;                  // tiles of a group
    uint8_t needs[WINOGRAD_MOST_TILES];  // winograd_rows() of the columns
    int used;                      // threads that have a group
    int64_t k_blocks, c_blocks;
    size_t x_block, dy_block, x_spot, dy_spot, x_bytes, dy_bytes, sum_bytes;  // of a block, a position, a thread
};

static struct wgrad plan_wgrad(const struct dnnl_conv *c, int threads)
{
    struct wgrad g = {.conv = c, .pairs = (c->n + 1) / 2, .rows = winograd_tiles(c->p), .columns = winograd_tiles(c->q)};
    g.k_blocks = c->k / KB, g.c_blocks = (c->c + XB - 1) / XB;
    g.group = g.columns < GROUP_TILES ? GROUP_TILES / g.columns : 1;
    g.groups = (g.pairs * g.rows + g.group - 1) / g.group;
    g.capacity = g.group * g.columns;
    g.used = g.groups < threads ? (int)g.groups : threads;
    winograd_columns(c, g.needs);
    g.x_block = (size_t)g.capacity * XB * UNIT, g.dy_block = (size_t)g.capacity * KB * UNIT;
    g.x_spot = (size_t)g.c_blocks * g.x_block + SKEW, g.dy_spot = (size_t)g.k_blocks * g.dy_block + SKEW;
    g.x_bytes = plan_round_up((WINOGRAD_SPOTS + 1) * g.x_spot);  // and one for positions that are not needed
    g.dy_bytes = plan_round_up((WINOGRAD_SPOTS + 1) * g.dy_spot);
    g.sum_bytes = plan_round_up((size_t)(WINOGRAD_SPOTS * c->k * g.c_blocks * XB) * sizeof(float));
    return g;
}

size_t winograd_wgrad_bytes(const struct dnnl_conv *c, int threads)
{
    struct wgrad g = plan_wgrad(c, threads);
    return (g.sum_bytes + g.x_bytes + g.dy_bytes) * (size_t)threads;
}

#if defined __x86_64__

#include "runtime/cpu/product/transpose16.h"

bool winograd_wgrad_fits(const struct dnnl_conv *c)
{
    if (!winograd_shape(c) || c->k % KB || c->c % 4 || c->c < 16 || c->n < LEAST_IMAGES) return false;
    if (c->n * winograd_tiles(c->p) * winograd_tiles(c->q) < LEAST_TILES) return false;
    if (c->k * c->c > LARGEST_SUMS / (WINOGRAD_SPOTS * (int64_t)sizeof(float))) return false;
    return avx512_fit(true) && winograd_is_faster(c, 3.0, 1.5);
}

// ---- transforms

// 16 channels of 16 pixels, as f32.
static inline AVX512 ALWAYS __m512 load_channels(const uint16_t *from, __mmask16 in)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(in, from)), 16));
}

// Prefetches the same channels of the row of tiles below.
static inline AVX512 ALWAYS void fetch_below(const uint16_t *pixel, int64_t below)
{
    _mm_prefetch((const char *)((uintptr_t)pixel + (uintptr_t)below * sizeof *pixel), _MM_HINT_T0);
}

// Units of a tile of x in two images; blocks of 16 channels are `apart` bytes apart. The next row of tiles is `below` away.
static AVX512 void spread_inputs(const uint16_t *const a[16], const uint16_t *const b[16], int64_t channels, int64_t below,
                                  char *const to[16], size_t apart)
{
    for (int64_t c = 0; c < channels; c += XB) {
        __mmask16 in = channels - c >= XB ? 0xffff : (__mmask16)((1u << (channels - c)) - 1);
        __m512 first[16], d[16];
#pragma GCC unroll 2
        for (int i = 9; i < 11; i++) {  // the last two rows, and the columns that no other tile reads
            fetch_below(a[i] + c, below), fetch_below(a[i + 4] + c, below);
            fetch_below(b[i] + c, below), fetch_below(b[i + 4] + c, below);
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) first[i] = load_channels(a[i] + c, in);
        winograd_input(first);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) d[i] = load_channels(b[i] + c, in);
        winograd_input(d);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) _mm512_storeu_si512(to[i] + (size_t)(c / XB) * apart, winograd_pairs(first[i], d[i]));
    }
}

// p = A y A'
static inline AVX512 ALWAYS void spread_output(const __m512 y[4], __m512 p[16])
{
    __m512 t[8];
#pragma GCC unroll 2
    for (int j = 0; j < 2; j++) {
        t[j] = y[j], t[2 + j] = _mm512_add_ps(y[j], y[2 + j]), t[4 + j] = _mm512_sub_ps(y[j], y[2 + j]), t[6 + j] = y[2 + j];
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m512 a = t[2 * i], b = t[2 * i + 1];
        p[4 * i] = a, p[4 * i + 1] = _mm512_add_ps(a, b), p[4 * i + 2] = _mm512_sub_ps(a, b), p[4 * i + 3] = b;
    }
}

// Units of a tile of dy in two images; blocks of 64 channels are `apart` bytes apart.
static AVX512 void spread_outputs(const uint16_t *const a[4], const uint16_t *const b[4], int64_t channels, int64_t below,
                                   char *const to[16], size_t apart)
{
    for (int64_t k = 0; k < channels; k += 16) {
        __m512 y[4], first[16], p[16];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) fetch_below(a[i] + k, below), fetch_below(b[i] + k, below);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) y[i] = load_channels(a[i] + k, 0xffff);
        spread_output(y, first);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) y[i] = load_channels(b[i] + k, 0xffff);
        spread_output(y, p);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            _mm512_storeu_si512(to[i] + (size_t)(k / KB) * apart + k % KB * UNIT, winograd_pairs(first[i], p[i]));
    }
}

// Values of dy and their positions in a tile, of which the other three outputs are zeros: A dy A' is 0, y or -y everywhere.
struct pooled {
    const uint16_t *y;
    const uint8_t *at;
};

// 16 channels of two images, of which the first is in the low halves.
static inline AVX512 ALWAYS __m512i join_halves(__m512i low, __m512i high)
{
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

// Units of a tile of pooled dy in two images.
static AVX512 void spread_pooled(struct pooled a, struct pooled b, int64_t channels, int64_t below, char *const to[16],
                                  size_t apart)
{
    const __m512i sign = _mm512_set1_epi16(INT16_MIN);
    for (int64_t k = 0; k < channels; k += 16) {
        fetch_below(a.y + k, below), fetch_below(b.y + k, below);
        __m512i y = join_halves(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(a.y + k))),
                                _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(b.y + k))));
        __m512i at = join_halves(_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(a.at + k))),
                                 _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(b.at + k))));
        __mmask32 low = _mm512_test_epi16_mask(at, _mm512_set1_epi16(2));
        __mmask32 right = _mm512_test_epi16_mask(at, _mm512_set1_epi16(1));
        __m512i t[4] = {_mm512_maskz_mov_epi16(~low, y), y, _mm512_mask_mov_epi16(y, low, _mm512_xor_si512(y, sign)),
                        _mm512_maskz_mov_epi16(low, y)};
        char *const *line = to;
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++, line += 4) {
            size_t offset = (size_t)(k / KB) * apart + k % KB * UNIT;
            _mm512_storeu_si512(line[0] + offset, _mm512_maskz_mov_epi16(~right, t[i]));
            _mm512_storeu_si512(line[1] + offset, t[i]);
            _mm512_storeu_si512(line[2] + offset, _mm512_mask_mov_epi16(t[i], right, _mm512_xor_si512(t[i], sign)));
            _mm512_storeu_si512(line[3] + offset, _mm512_maskz_mov_epi16(right, t[i]));
        }
    }
}

// The pooled output of a tile; zero of the image that an odd batch lacks.
static struct pooled pooled_output(const struct wgrad *g, int64_t image, int64_t ty, int64_t tx)
{
    if (image >= g->conv->n) return (struct pooled){winograd_zeros, (const uint8_t *)winograd_zeros};
    int64_t from = ((image * g->rows + ty) * g->columns + tx) * g->conv->k;
    return (struct pooled){g->dy + from, g->dy_at + from};
}

// The four outputs of a tile; zeros outside, and of the image that an odd batch lacks.
static void output_pixels(const struct wgrad *g, const uint16_t *image, int64_t ty, int64_t tx, const uint16_t *pixel[4])
{
    const struct dnnl_conv *c = g->conv;
    for (int i = 0; i < 4; i++) {
        int64_t p = 2 * ty + i / 2, q = 2 * tx + i % 2;
        pixel[i] = image && p < c->p && q < c->q ? image + (p * c->q + q) * c->k : winograd_zeros;
    }
}

static void input_pixels(const struct wgrad *g, const uint16_t *image, int64_t ty, int64_t tx, const uint16_t *pixel[16])
{
    if (image) winograd_pixels(g->conv, image, ty, tx, pixel);
    else for (int i = 0; i < 16; i++) pixel[i] = winograd_zeros;
}

// Transforms one tile of a pair of images. count[i]: tiles of position i so far.
static void spread_tile(const struct wgrad *g, int64_t pair, int64_t ty, int64_t tx, unsigned rows, char *x, char *dy,
                        int64_t count[16])
{
    const struct dnnl_conv *c = g->conv;
    bool second = 2 * pair + 1 < c->n;
    int64_t image = c->h * c->w * c->c, result = c->p * c->q * c->k;
    const uint16_t *a[16], *b[16], *from = g->x + 2 * pair * image;
    char *to[16], *dy_to[16];
    for (int i = 0; i < WINOGRAD_SPOTS; i++) {
        bool needed = rows >> i / 4 & g->needs[tx] >> i % 4 & 1;
        size_t spot = needed ? (size_t)i : WINOGRAD_SPOTS, at = needed ? (size_t)count[i] : 0;
        to[i] = x + spot * g->x_spot + at * XB * UNIT;
        dy_to[i] = dy + spot * g->dy_spot + at * KB * UNIT;
        count[i] += needed;
    }
    input_pixels(g, from, ty, tx, a);
    input_pixels(g, second ? from + image : NULL, ty, tx, b);
    spread_inputs(a, b, c->c, 2 * c->w * c->c, to, g->x_block);
    if (c->y_pooled) {
        spread_pooled(pooled_output(g, 2 * pair, ty, tx), pooled_output(g, 2 * pair + 1, ty, tx), c->k, g->columns * c->k, dy_to,
                      g->dy_block);
        return;
    }
    from = g->dy + 2 * pair * result;
    output_pixels(g, from, ty, tx, a);
    output_pixels(g, second ? from + result : NULL, ty, tx, b);
    spread_outputs(a, b, c->k, 2 * c->q * c->k, dy_to, g->dy_block);
}

// Transforms the rows of tiles [first, first + rows).
static void spread_group(const struct wgrad *g, int64_t first, int64_t rows, char *x, char *dy, int64_t count[16])
{
    memset(count, 0, WINOGRAD_SPOTS * sizeof *count);
    for (int64_t i = first; i < first + rows; i++) {
        int64_t pair = i / g->rows, ty = i % g->rows;
        unsigned needs = winograd_rows(ty, g->conv->p, g->conv->h, g->conv->before[0]);
        for (int64_t tx = 0; tx < g->columns; tx++) spread_tile(g, pair, ty, tx, needs, x, dy, count);
    }
}

// ---- products

// sum[ct][64] += x[tile][ct] dy[tile][64] over the tiles
static inline AVX512 ALWAYS void sum_tile(const int ct, const char *x, const char *dy, int64_t tiles, float *sum)
{
    __m512 a[6][4];
#pragma GCC unroll 6
    for (int i = 0; i < ct; i++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) a[i][j] = _mm512_loadu_ps(sum + i * KB + j * 16);
    for (int64_t t = 0; t < tiles; t++, x += XB * UNIT, dy += KB * UNIT) {
        __m512 d[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) d[j] = _mm512_loadu_ps(dy + j * 64);
#pragma GCC unroll 6
        for (int c = 0; c < ct; c++) {
            float one;
            memcpy(&one, x + c * UNIT, UNIT);
            __m512 b = _mm512_set1_ps(one);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) a[c][j] = _mm512_dpbf16_ps(a[c][j], (__m512bh)d[j], (__m512bh)b);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < ct; i++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) _mm512_storeu_ps(sum + i * KB + j * 16, a[i][j]);
}

static AVX512 void sum_six(const char *x, const char *dy, int64_t tiles, float *sum) { sum_tile(6, x, dy, tiles, sum); }
static AVX512 void sum_four(const char *x, const char *dy, int64_t tiles, float *sum) { sum_tile(4, x, dy, tiles, sum); }

// All sums of one position.
static void sum_spot(const struct wgrad *g, const char *x, const char *dy, int64_t tiles, float *sum)
{
    for (int64_t kb = 0; kb < g->k_blocks; kb++, dy += g->dy_block)
        for (int64_t cb = 0; cb < g->c_blocks; cb++, sum += XB * KB) {
            int64_t channels = g->conv->c - cb * XB < XB ? g->conv->c - cb * XB : XB;
            for (int64_t i = 0, wide; i < channels; i += wide) {  // 16 is 6 + 6 + 4, 12 is 6 + 6, 8 is 4 + 4
                wide = channels - i >= 10 || channels - i == 6 ? 6 : 4;
                (wide == 6 ? sum_six : sum_four)(x + (size_t)cb * g->x_block + i * UNIT, dy, tiles, sum + i * KB);
            }
        }
}

static float *thread_sums(const struct wgrad *g, int thread)
{
    return (float *)(g->work + (size_t)thread * (g->sum_bytes + g->x_bytes + g->dy_bytes));
}

static void add_groups(void *context, int64_t begin, int64_t end, int thread)
{
    const struct wgrad *g = context;
    float *sum = thread_sums(g, thread);
    char *x = (char *)sum + g->sum_bytes, *dy = x + g->x_bytes;
    int64_t all = g->pairs * g->rows, spot = g->k_blocks * g->c_blocks * XB * KB;
    memset(sum, 0, g->sum_bytes);
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * g->group, rows = all - first < g->group ? all - first : g->group, count[WINOGRAD_SPOTS];
        spread_group(g, first, rows, x, dy, count);
        for (int s = 0; s < WINOGRAD_SPOTS; s++)
            sum_spot(g, x + (size_t)s * g->x_spot, dy + (size_t)s * g->dy_spot, count[s], sum + s * spot);
    }
}

// ---- results

// r0 = s0 + (s1 + s2)/2, r1 = (s1 - s2)/2, r2 = (s1 + s2)/2 + s3
static inline AVX512 ALWAYS void join_row(__m512 s0, __m512 s1, __m512 s2, __m512 s3, __m512 *r0, __m512 *r1, __m512 *r2)
{
    const __m512 half = _mm512_set1_ps(0.5f);
    __m512 sum = _mm512_mul_ps(half, _mm512_add_ps(s1, s2));
    *r0 = _mm512_add_ps(s0, sum);
    *r1 = _mm512_mul_ps(half, _mm512_sub_ps(s1, s2));
    *r2 = _mm512_add_ps(sum, s3);
}

// dw = G' S G at 16 lanes of the sums; the threads' are added in order.
static inline AVX512 ALWAYS void join_lanes(const struct wgrad *g, int64_t at, __m512 dw[9])
{
    int64_t spot = g->k_blocks * g->c_blocks * XB * KB;
    __m512 s[16], t[12];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) s[i] = _mm512_loadu_ps(thread_sums(g, 0) + i * spot + at);
    for (int n = 1; n < g->used; n++) {
        const float *more = thread_sums(g, n) + at;
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) s[i] = _mm512_add_ps(s[i], _mm512_loadu_ps(more + i * spot));
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) join_row(s[j], s[4 + j], s[8 + j], s[12 + j], &t[j], &t[4 + j], &t[8 + j]);
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++)
        join_row(t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3], &dw[3 * i], &dw[3 * i + 1], &dw[3 * i + 2]);
}

// The gradient of 64 k and 16 c.
static AVX512 void join_block(const struct wgrad *g, int64_t kb, int64_t cb)
{
    const struct dnnl_conv *c = g->conv;
    float part[9][XB * KB] __attribute__((aligned(64)));  // [c][k]
    for (int64_t i = 0; i < XB * KB; i += 16) {
        __m512 dw[9];
        join_lanes(g, (kb * g->c_blocks + cb) * XB * KB + i, dw);
#pragma GCC unroll 9
        for (int t = 0; t < 9; t++) _mm512_store_ps(part[t] + i, dw[t]);
    }
    int64_t channels = c->c - cb * XB < XB ? c->c - cb * XB : XB;
    __mmask16 in = channels == XB ? 0xffff : (__mmask16)((1u << channels) - 1);
    for (int t = 0; t < 9; t++)
        for (int64_t k = 0; k < KB; k += 16) {
            float *to = g->dw + ((kb * KB + k) * 9 + t) * c->c + cb * XB;
            __m512i v[16];
            for (int i = 0; i < XB; i++) v[i] = _mm512_load_si512(part[t] + i * KB + k);
            transpose16(v);
            for (int i = 0; i < 16; i++) _mm512_mask_storeu_epi32(to + i * 9 * c->c, in, v[i]);
        }
}

static void join_blocks(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct wgrad *g = context;
    for (int64_t i = begin; i < end; i++) join_block(g, i / g->c_blocks, i % g->c_blocks);
}

#else

bool winograd_wgrad_fits(const struct dnnl_conv *c)
{
    (void)c;
    return false;
}

static void add_groups(void *context, int64_t begin, int64_t end, int thread)
{
    (void)context, (void)begin, (void)end, (void)thread;
    BUG("winograd_wgrad_run without AVX-512");
}

static void join_blocks(void *context, int64_t begin, int64_t end, int thread) { add_groups(context, begin, end, thread); }

#endif

void winograd_wgrad_run(const struct dnnl_conv *c, int threads, const void *x, const void *dy, const uint8_t *dy_at, float *dw,
                        void *work)
{
    struct wgrad g = plan_wgrad(c, threads);
    g.x = x, g.dy = dy, g.dy_at = dy_at, g.dw = dw, g.work = work;
    threads_for(g.groups, 1, add_groups, &g);
    threads_for(g.k_blocks * g.c_blocks, 1, join_blocks, &g);
}
