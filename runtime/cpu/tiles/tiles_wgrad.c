// SPDX-License-Identifier: Apache-2.0
// dw[k,r,s,c]: at each tap the product of x[c][image] and dy[image][k], summed over pixels. The 32 channels of the instruction
// are 32 images at one pixel here, so taps outside the image are skipped and all others are whole tiles.
//
// A group is 32 images or some rows of them, as tiles in the L2 cache: x transposed, [16 c][row][column][16 c][32 images], and
// dy in pairs of images, [16 k][row][column][16 pairs][16 k]. Sums are 32 c by 16 k at three neighbouring taps of a row: a dy
// that was loaded serves six of them, and most of their x is in the L1 cache, because the next pixel reads it at the tap
// before. Each thread sums its own groups, and the threads' sums are added in order: same number of threads, same bytes.
#include "runtime/cpu/tiles/tiles_inside.h"

#include "runtime/common/base/threads.h"

enum { IMAGES = 32, LEAST_IMAGES = 12, TAPS = 3 };  // TAPS: side by side
enum { AHEAD = 4 };  // pixels that are fetched before they are read
enum { GROUP_BYTES = 1280 << 10, GROUP_LIMIT = 16 << 20 };  // the L2 cache has 2 MB
// From these sums on, going over all of them once per group costs more than reading larger groups from beyond the L2 cache.
enum { LARGE_SUMS = 1 << 20, LARGE_GROUP = 2600 << 10 };

struct wgrad {
    const struct dnnl_conv *conv;
    const uint16_t *x, *dy;
    const uint8_t *dy_at;
    float *dw;
    char *work;
    int64_t units, rows, bands, groups;  // 32 images and rows of dy in a group; groups of a unit; of the batch
    int64_t k_tiles, c_tiles, c_pairs;
    int used;                            // threads that have a group
    size_t x_row, dy_row, x_unit, dy_unit, x_tile, dy_tile;  // bytes of a row, of a unit, of 16 channels
    size_t x_bytes, dy_bytes, sum_bytes;    // of a thread
};

static struct wgrad plan_wgrad(const struct dnnl_conv *c, int threads)
{
    struct wgrad g = {.conv = c, .k_tiles = c->k / TILE_SIDE, .c_tiles = (c->c + TILE_SIDE - 1) / TILE_SIDE};
    g.x_row = (size_t)c->w * TILE, g.dy_row = (size_t)c->q * TILE;
    g.c_pairs = (g.c_tiles + 1) / 2;
    g.sum_bytes = (size_t)(g.k_tiles * g.c_pairs * 2 * c->r * c->s) * TILE;
    int64_t capacity = g.sum_bytes >= LARGE_SUMS ? LARGE_GROUP : GROUP_BYTES;
    size_t row = g.x_row * (size_t)(g.c_tiles * c->stride[0]) + g.dy_row * (size_t)g.k_tiles;
    size_t halo = g.x_row * (size_t)(g.c_tiles * (c->r - c->stride[0]));
    g.rows = (int64_t)halo < capacity ? (capacity - (int64_t)halo) / (int64_t)row : 0;
    if (g.rows < 2) g.rows = 2;
    int64_t all = (c->n + IMAGES - 1) / IMAGES, share = (all + threads - 1) / threads;
    int64_t most = (c->p * all + threads - 1) / threads;  // rows, so that every thread has a group
    if (g.rows > most) g.rows = most;
    g.bands = (c->p + g.rows - 1) / g.rows;
    g.rows = ((c->p + g.bands - 1) / g.bands + 1) / 2 * 2;  // the same whether y is pooled or not, so that sums have one order
    g.bands = (c->p + g.rows - 1) / g.rows;
    g.x_unit = g.x_row * (size_t)((g.rows - 1) * c->stride[0] + c->r), g.dy_unit = g.dy_row * (size_t)g.rows;
    g.units = capacity / (int64_t)(g.x_unit * (size_t)g.c_tiles + g.dy_unit * (size_t)g.k_tiles);
    if (g.units > share) g.units = share;
    if (g.units < 1 || g.bands > 1) g.units = 1;
    g.groups = (all + g.units - 1) / g.units * g.bands;
    g.used = g.groups < threads ? (int)g.groups : threads;
    g.x_tile = g.x_unit * (size_t)g.units, g.dy_tile = g.dy_unit * (size_t)g.units;
    g.x_bytes = g.x_tile * (size_t)g.c_tiles, g.dy_bytes = g.dy_tile * (size_t)g.k_tiles;
    return g;
}

size_t tiles_wgrad_bytes(const struct dnnl_conv *c, int threads)
{
    struct wgrad g = plan_wgrad(c, threads);
    return (g.sum_bytes + g.x_bytes + g.dy_bytes) * (size_t)threads;
}

#if defined __x86_64__

#include "runtime/cpu/product/transpose16.h"

bool tiles_wgrad_fit(const struct dnnl_conv *c)
{
    if (c->dtype != BF16 || c->groups != 1 || c->n < LEAST_IMAGES) return false;
    if (c->k % TILE_SIDE || c->c < TILE_SIDE || c->c % 2) return false;
    if (c->y_pooled && (c->p % 2 || c->q % 2)) return false;
    struct wgrad g = plan_wgrad(c, 1);
    return g.x_bytes + g.dy_bytes <= GROUP_LIMIT;
}

// ---- tiles of a group

struct group {
    int64_t first, end;         // rows of dy
    int64_t x_first, x_end;     // of x
    int64_t units;
    char *x, *dy;
};

// 32 images of a group, or fewer; the others are zeros.
struct unit {
    int64_t image, images;
    char *x, *dy;
};

static inline AVX512 ALWAYS void fetch(const uint16_t *from, int64_t ahead)
{
    _mm_prefetch((const char *)((uintptr_t)from + (uintptr_t)ahead * sizeof *from), _MM_HINT_T0);
}

// 16 channels of two images side by side, the first in the low halves.
static inline AVX512 ALWAYS __m512i join_images(__m256i low, __m256i high)
{
    return _mm512_or_si512(_mm512_cvtepu16_epi32(low), _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
}

// 16 channels of a pixel of 32 images, of which `images` exist; they are `apart` elements apart. What is read soon lies `ahead`:
// the processor does not fetch by itself from so many images at once.
static inline AVX512 ALWAYS void load_pairs(const uint16_t *from, int64_t apart, int64_t ahead, int64_t images, __mmask16 in,
                                             __m512i v[16])
{
    for (int i = 0; i < 16; i++, from += 2 * apart) {
        fetch(from, ahead), fetch(from, ahead + apart);
        __m256i low = _mm256_maskz_loadu_epi16(2 * i < images ? in : 0, from);
        __m256i high = _mm256_maskz_loadu_epi16(2 * i + 1 < images ? in : 0, from + apart);
        v[i] = join_images(low, high);
    }
}

static AVX512 void spread_x(const struct wgrad *g, const struct group *b, const struct unit *u)
{
    const struct dnnl_conv *c = g->conv;
    int64_t apart = c->h * c->w * c->c, pixels = (b->x_end - b->x_first) * c->w;
    const uint16_t *from = g->x + u->image * apart + b->x_first * c->w * c->c;
    for (int64_t i = 0; i < pixels; i++, from += c->c)
        for (int64_t t = 0; t < g->c_tiles; t++) {
            __m512i v[16];
            load_pairs(from + t * TILE_SIDE, apart, AHEAD * c->c, u->images, avx512_below(c->c, t * TILE_SIDE), v);
            transpose16(v);
            char *to = u->x + (size_t)t * g->x_tile + i * TILE;
            for (int j = 0; j < 16; j++) _mm512_store_si512((void *)(to + j * TILE_LINE), v[j]);
        }
}

static AVX512 void spread_dy(const struct wgrad *g, const struct group *b, const struct unit *u)
{
    const struct dnnl_conv *c = g->conv;
    int64_t apart = c->p * c->q * c->k, pixels = (b->end - b->first) * c->q;
    const uint16_t *from = g->dy + u->image * apart + b->first * c->q * c->k;
    for (int64_t i = 0; i < pixels; i++, from += c->k)
        for (int64_t t = 0; t < g->k_tiles; t++) {
            __m512i v[16];
            load_pairs(from + t * TILE_SIDE, apart, AHEAD * c->k, u->images, 0xffff, v);
            char *to = u->dy + (size_t)t * g->dy_tile + i * TILE;
            for (int j = 0; j < 16; j++) _mm512_store_si512((void *)(to + j * TILE_LINE), v[j]);
        }
}

// 16 channels of a window of two images: values, and their positions as words.
struct pool_window {
    __m512i value, at;
};

static inline AVX512 ALWAYS struct pool_window load_window(const struct wgrad *g, int64_t from, int64_t apart, bool low,
                                                            bool high)
{
    const uint16_t *y = g->dy + from;
    const uint8_t *at = g->dy_at + from;
    __mmask16 first = low ? 0xffff : 0, second = high ? 0xffff : 0;
    __m256i none = _mm256_setzero_si256();
    return (struct pool_window){
        join_images(_mm256_maskz_loadu_epi16(first, y), _mm256_maskz_loadu_epi16(second, y + apart)),
        join_images(low ? _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)at)) : none,
                    high ? _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(at + apart))) : none),
    };
}

// The same of pooled dy: a pixel has the value of its window where it was the largest of the four, else zero.
static AVX512 void spread_pooled(const struct wgrad *g, const struct group *b, const struct unit *u)
{
    const struct dnnl_conv *c = g->conv;
    int64_t apart = c->p / 2 * (c->q / 2) * c->k;
    for (int64_t p = 0; p < b->end - b->first; p += 2)
        for (int64_t q = 0; q < c->q; q += 2)
            for (int64_t t = 0; t < g->k_tiles; t++) {
                int64_t from = u->image * apart + ((b->first + p) / 2 * (c->q / 2) + q / 2) * c->k + t * TILE_SIDE;
                char *to = u->dy + (size_t)t * g->dy_tile + (p * c->q + q) * TILE;
                for (int i = 0; i < 16; i++, from += 2 * apart, to += TILE_LINE) {
                    fetch(g->dy + from, AHEAD * c->k), fetch(g->dy + from + apart, AHEAD * c->k);
                    struct pool_window w = load_window(g, from, apart, 2 * i < u->images, 2 * i + 1 < u->images);
                    for (int j = 0; j < 4; j++) {
                        __mmask32 here = _mm512_cmpeq_epi16_mask(w.at, _mm512_set1_epi16((short)j));
                        _mm512_store_si512((void *)(to + (j / 2 * c->q + j % 2) * TILE), _mm512_maskz_mov_epi16(here, w.value));
                    }
                }
            }
}

// ---- sums

// 32 c by 16 k at some taps of a row.
struct taps {
    const char *x, *dy;           // of the first pixel of dy, tap (0, 0), which may lie outside
    size_t x_unit, dy_unit, x_tile, x_row, dy_row, x_step;
    int64_t units, rows, columns; // of dy
    int64_t left, width, stride;  // the column of the first tap; of x
    const char *ahead;            // sums that are needed next, `lines` of them for every pixel
    int64_t lines;
};

// Adds a pixel. in: the taps inside the image. two: there are more than 16 c.
TILES ALWAYS static inline void add_pixel(const bool two, const char *x, size_t apart, const char *dy, unsigned in)
{
    _tile_loadd(7, dy, TILE_LINE);
    if (in & 1) {
        _tile_loadd(6, x, TILE_LINE);
        _tile_dpbf16ps(0, 6, 7);
        if (two) {
            _tile_loadd(6, x + apart, TILE_LINE);
            _tile_dpbf16ps(3, 6, 7);
        }
    }
    if (in & 2) {
        _tile_loadd(6, x + TILE, TILE_LINE);
        _tile_dpbf16ps(1, 6, 7);
        if (two) {
            _tile_loadd(6, x + TILE + apart, TILE_LINE);
            _tile_dpbf16ps(4, 6, 7);
        }
    }
    if (in & 4) {
        _tile_loadd(6, x + 2 * TILE, TILE_LINE);
        _tile_dpbf16ps(2, 6, 7);
        if (two) {
            _tile_loadd(6, x + 2 * TILE + apart, TILE_LINE);
            _tile_dpbf16ps(5, 6, 7);
        }
    }
}

TILES ALWAYS static inline void add_row(const bool two, const struct taps *t, unsigned wanted, const char *x, const char *dy,
                                        const char **ahead)
{
    int64_t left = t->left;
    for (int64_t q = 0; q < t->columns; q++, x += t->x_step, dy += TILE, left += t->stride) {
        unsigned in = wanted;
        if (left < 0) in &= left < -2 ? 0 : 7u << -left;
        if (left + 2 >= t->width) in &= left >= t->width ? 0 : 7u >> (left + 3 - t->width);
        add_pixel(two, x, t->x_tile, dy, in);
        for (int64_t i = 0; i < t->lines; i++, *ahead += TILE_LINE) _mm_prefetch(*ahead, _MM_HINT_T0);
    }
}

// sum[tap][2][16 c][16 k]
TILES ALWAYS static inline void add_taps(const bool two, const struct taps *t, int64_t count, float *sum)
{
    const char *ahead = t->ahead;
    _tile_loadd(0, sum, TILE_LINE);
    if (two) _tile_loadd(3, sum + 256, TILE_LINE);
    if (count > 1) _tile_loadd(1, sum + 512, TILE_LINE);
    if (two && count > 1) _tile_loadd(4, sum + 768, TILE_LINE);
    if (count > 2) _tile_loadd(2, sum + 1024, TILE_LINE);
    if (two && count > 2) _tile_loadd(5, sum + 1280, TILE_LINE);
    for (int64_t u = 0; u < t->units; u++)
        for (int64_t p = 0; p < t->rows; p++)
            add_row(two, t, (1u << count) - 1, t->x + (size_t)u * t->x_unit + (size_t)p * t->x_row,
                    t->dy + (size_t)u * t->dy_unit + (size_t)p * t->dy_row, &ahead);
    _tile_stored(0, sum, TILE_LINE);
    if (two) _tile_stored(3, sum + 256, TILE_LINE);
    if (count > 1) _tile_stored(1, sum + 512, TILE_LINE);
    if (two && count > 1) _tile_stored(4, sum + 768, TILE_LINE);
    if (count > 2) _tile_stored(2, sum + 1024, TILE_LINE);
    if (two && count > 2) _tile_stored(5, sum + 1280, TILE_LINE);
}

TILES static void add_one(const struct taps *t, int64_t count, float *sum) { add_taps(false, t, count, sum); }
TILES static void add_two(const struct taps *t, int64_t count, float *sum) { add_taps(true, t, count, sum); }

// All taps of 16 k and a pair of 16 c.
static void add_block(const struct wgrad *g, const struct group *b, int64_t kt, int64_t pair, float *sum)
{
    const struct dnnl_conv *c = g->conv;
    struct taps t = {.x_tile = g->x_tile, .x_unit = g->x_unit, .dy_unit = g->dy_unit, .x_row = g->x_row * (size_t)c->stride[0],
                     .dy_row = g->dy_row, .units = b->units, .columns = c->q, .x_step = (size_t)c->stride[1] * TILE,
                     .width = c->w, .stride = c->stride[1]};
    for (int64_t r = 0; r < c->r; r++) {
        // Rows of dy whose tap lies inside: p * stride + r - before in [0, h).
        int64_t down = r - c->before[0], p = b->first, end = b->end;
        while (p < end && p * c->stride[0] + down < 0) p++;
        while (end > p && (end - 1) * c->stride[0] + down >= c->h) end--;
        if (p == end) continue;
        t.rows = end - p;
        t.lines = (2 * TAPS * TILE_SIDE + t.units * t.rows * c->q - 1) / (t.units * t.rows * c->q);
        t.dy = b->dy + (size_t)kt * g->dy_tile + (size_t)(p - b->first) * g->dy_row;
        for (int64_t s = 0; s < c->s; s += TAPS) {
            t.left = s - c->before[1];
            // As integers, because the first tap may lie before the array.
            t.x = (const char *)((uintptr_t)(b->x + (size_t)pair * 2 * g->x_tile +
                                             (size_t)(p * c->stride[0] + down - b->x_first) * g->x_row) +
                                 (uintptr_t)(t.left * TILE));
            int64_t count = c->s - s < TAPS ? c->s - s : TAPS;
            float *to = sum + (r * c->s + s) * 512;
            t.ahead = (const char *)((uintptr_t)to + (uintptr_t)count * 2 * TILE);
            (2 * pair + 1 < g->c_tiles ? add_two : add_one)(&t, count, to);
        }
    }
}

static float *thread_sums(const struct wgrad *g, int thread)
{
    return (float *)(g->work + (size_t)thread * (g->sum_bytes + g->x_bytes + g->dy_bytes));
}

static void spread_group(const struct wgrad *g, const struct group *b, int64_t first)
{
    const struct dnnl_conv *c = g->conv;
    for (int64_t i = 0; i < b->units; i++) {
        struct unit u = {.image = first + i * IMAGES, .x = b->x + (size_t)i * g->x_unit, .dy = b->dy + (size_t)i * g->dy_unit};
        u.images = c->n - u.image < IMAGES ? c->n - u.image : IMAGES;
        spread_x(g, b, &u);
        (c->y_pooled ? spread_pooled : spread_dy)(g, b, &u);
    }
}

// A piece is a group.
static void add_groups(void *context, int64_t begin, int64_t end, int thread)
{
    const struct wgrad *g = context;
    const struct dnnl_conv *c = g->conv;
    float *sum = thread_sums(g, thread);
    int64_t block = c->r * c->s * 512, units = (c->n + IMAGES - 1) / IMAGES;
    memset(sum, 0, g->sum_bytes);
    tiles_begin(TILE_SIDE, TILE_SIDE);
    for (int64_t i = begin; i < end; i++) {
        int64_t unit = i / g->bands * g->units, first = i % g->bands * g->rows;
        struct group b = {.first = first, .end = first + g->rows < c->p ? first + g->rows : c->p,
                          .units = units - unit < g->units ? units - unit : g->units, .x = (char *)sum + g->sum_bytes};
        b.dy = b.x + g->x_bytes;
        int64_t top = b.first * c->stride[0] - c->before[0], bottom = (b.end - 1) * c->stride[0] - c->before[0] + c->r;
        b.x_first = top < 0 ? 0 : top, b.x_end = bottom < c->h ? bottom : c->h;
        spread_group(g, &b, unit * IMAGES);
        tiles_filled();
        for (int64_t pair = 0; pair < g->c_pairs; pair++)
            for (int64_t kt = 0; kt < g->k_tiles; kt++) add_block(g, &b, kt, pair, sum + (pair * g->k_tiles + kt) * block);
    }
    tiles_end();
}

// ---- results

// Adds the threads' sums of a tile, [16 c][16 k], and writes them as 16 k rows of c.
static AVX512 void join_tile(const struct wgrad *g, int64_t tile, float *to, int64_t apart, int64_t channels)
{
    __mmask16 in = avx512_below(channels, 0);
    __m512i v[16];
    const float *first = thread_sums(g, 0) + tile * 256;
    for (int i = 0; i < 16; i++) v[i] = _mm512_load_si512(first + i * 16);
    for (int t = 1; t < g->used; t++) {
        const float *more = thread_sums(g, t) + tile * 256;
        for (int i = 0; i < 16; i++)
            v[i] = _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(v[i]), _mm512_load_ps(more + i * 16)));
    }
    transpose16(v);
    for (int i = 0; i < 16; i++) _mm512_mask_storeu_epi32(to + i * apart, in, v[i]);
}

// A piece is (16 k, 16 c).
static void join_blocks(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct wgrad *g = context;
    const struct dnnl_conv *c = g->conv;
    int64_t taps = c->r * c->s;
    for (int64_t i = begin; i < end; i++) {
        int64_t k = i / g->c_tiles * TILE_SIDE, from = i % g->c_tiles * TILE_SIDE;
        int64_t block = from / TILE_SIDE / 2 * g->k_tiles + k / TILE_SIDE, half = from / TILE_SIDE % 2;
        for (int64_t tap = 0; tap < taps; tap++)
            join_tile(g, 2 * (block * taps + tap) + half, g->dw + (k * taps + tap) * c->c + from, taps * c->c, c->c - from);
    }
}

#else

bool tiles_wgrad_fit(const struct dnnl_conv *c)
{
    (void)c;
    return false;
}

static void add_groups(void *context, int64_t begin, int64_t end, int thread)
{
    (void)context, (void)begin, (void)end, (void)thread;
    BUG("tiles_wgrad_run without tiles");
}

static void join_blocks(void *context, int64_t begin, int64_t end, int thread) { add_groups(context, begin, end, thread); }

#endif

void tiles_wgrad_run(const struct dnnl_conv *c, int threads, const void *x, const void *dy, const uint8_t *dy_at, float *dw,
                     void *work)
{
    struct wgrad g = plan_wgrad(c, threads);
    g.x = x, g.dy = dy, g.dy_at = dy_at, g.dw = dw, g.work = work;
    threads_for(g.groups, 1, add_groups, &g);
    threads_for(g.k_tiles * g.c_tiles, 1, join_blocks, &g);
}
