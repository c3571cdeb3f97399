// SPDX-License-Identifier: Apache-2.0
// dw[K,3,3,C] = sum over tiles of G' ((A dy A') (B' x B)) G, at 36 positions. A thread takes bands of tiles, transforms them to
//   x [position][panel of c][tile][c of the panel]      dy [position][tile][K]
// and adds the products to its sums [position][K][C]. The threads' sums are added in order: same number of threads, same bytes.
// A band is long, because its sums (9 MB at 256 x 256) are read and written once for each.
#include "runtime/cpu/conv/winograd4.h"

#include "runtime/base/threads.h"

enum { SKEW = 48, BAND_BYTES = 12 << 20, BAND_TILES = 256, LEAST_TILES = 64 };
enum { LARGEST_SUMS = 64 << 20 };  // bytes of a thread

struct wgrad {
    const struct dnnl_conv *conv;
    const struct loops *loops;
    const float *x, *dy;
    float *dw, *work;
    int64_t rows, columns, tiles, band, bands;
    int64_t c_wide, dy_row;  // channels in whole panels; floats of a tile of dy
    int64_t x_spot, dy_spot, sum_spot, x_floats, dy_floats, sum_floats;
    int used;                // threads that have a band
};

static struct wgrad plan_wgrad(const struct loops *loops, const struct dnnl_conv *c, int threads)
{
    struct wgrad g = {.conv = c, .loops = loops, .rows = winograd4_tiles(c->p), .columns = winograd4_tiles(c->q)};
    g.tiles = c->n * g.rows * g.columns;
    g.c_wide = winograd4_panels(loops, c->c) * loops->panel_lanes;
    g.dy_row = c->k % 128 ? c->k : c->k + 16;  // adjacent tiles in other sets of a cache
    int64_t most = BAND_BYTES / ((g.c_wide + g.dy_row) * WINOGRAD4_SPOTS * (int64_t)sizeof(float));
    most = most > BAND_TILES ? BAND_TILES : most < LEAST_TILES ? LEAST_TILES : most;
    g.bands = (g.tiles + most - 1) / most;
    g.bands = (g.bands + threads - 1) / threads * threads;
    g.band = (g.tiles + g.bands - 1) / g.bands;
    g.bands = (g.tiles + g.band - 1) / g.band;
    g.used = g.bands < threads ? (int)g.bands : threads;
    g.x_spot = g.band * g.c_wide + SKEW, g.dy_spot = g.band * g.dy_row + SKEW, g.sum_spot = c->k * g.c_wide + SKEW;
    g.x_floats = (WINOGRAD4_SPOTS * g.x_spot + 15) & ~INT64_C(15);
    g.dy_floats = (WINOGRAD4_SPOTS * g.dy_spot + 15) & ~INT64_C(15);
    g.sum_floats = (WINOGRAD4_SPOTS * g.sum_spot + 15) & ~INT64_C(15);
    return g;
}

bool winograd4_wgrad_fits(const struct loops *loops, const struct dnnl_conv *c)
{
    if (!winograd4_shape(loops, c) || c->k % 2) return false;
    if (c->n * winograd4_tiles(c->p) * winograd4_tiles(c->q) < LEAST_TILES) return false;
    return c->k * winograd4_panels(loops, c->c) * loops->panel_lanes <= LARGEST_SUMS / (WINOGRAD4_SPOTS * (int64_t)sizeof(float));
}

static int64_t thread_floats(const struct wgrad *g) { return g->x_floats + g->dy_floats + g->sum_floats; }

static float *thread_sums(const struct wgrad *g, int64_t i) { return g->work + i * thread_floats(g); }

size_t winograd4_wgrad_bytes(const struct loops *loops, const struct dnnl_conv *c, int threads)
{
    struct wgrad g = plan_wgrad(loops, c, threads);
    return plan_round_up((size_t)(thread_floats(&g) * g.used) * sizeof(float));
}

static void spread_band(const struct wgrad *g, int64_t first, int64_t count, float *x, float *dy)
{
    const struct dnnl_conv *c = g->conv;
    int64_t lanes = g->loops->panel_lanes;
    for (int64_t t = 0; t < count; t++) {
        int64_t image = (first + t) / (g->rows * g->columns), ty = (first + t) / g->columns % g->rows * 4;
        int64_t tx = (first + t) % g->columns * 4;
        const float *pixel[WINOGRAD4_SPOTS];
        winograd4_pixels(g->x + image * c->h * c->w * c->c, c->h, c->w, c->c, ty - c->before[0], tx - c->before[1], 6, pixel);
        g->loops->winograd4_inputs(pixel, c->c, &(struct positions){x + t * lanes, g->x_spot, g->band * lanes});
        winograd4_pixels(g->dy + image * c->p * c->q * c->k, c->p, c->q, c->k, ty, tx, 4, pixel);
        g->loops->winograd4_gradients(pixel, c->k, &(struct positions){dy + t * g->dy_row, g->dy_spot, lanes});
    }
}

// A piece is what one thread adds up: an equal share of the bands.
static void add_bands(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct wgrad *g = context;
    int64_t lanes = g->loops->panel_lanes;
    for (int64_t i = begin; i < end; i++) {
        float *sum = thread_sums(g, i), *x = sum + g->sum_floats, *dy = x + g->x_floats;
        int64_t from = i * g->bands / g->used, until = (i + 1) * g->bands / g->used;
        for (int64_t b = from; b < until; b++) {
            int64_t first = b * g->band, count = g->tiles - first < g->band ? g->tiles - first : g->band;
            spread_band(g, first, count, x, dy);
            for (int64_t spot = 0; spot < WINOGRAD4_SPOTS; spot++)
                for (int64_t c = 0; c < g->c_wide; c += lanes)
                    g->loops->product(&(struct product){
                        .a = dy + spot * g->dy_spot, .b = x + spot * g->x_spot + c * g->band, .c = sum + spot * g->sum_spot + c,
                        .rows = g->conv->k, .columns = lanes, .depth = count, .a_row = 1, .a_unit = g->dy_row, .b_row = lanes,
                        .c_row = g->c_wide, .adds = b > from});
        }
    }
}

static void join_sums(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct wgrad *g = context;
    const struct dnnl_conv *c = g->conv;
    for (int64_t k = begin; k < end; k++) {
        float *sum = thread_sums(g, 0) + k * g->c_wide, *dw[9];
        for (int64_t spot = 0; spot < WINOGRAD4_SPOTS; spot++)
            for (int64_t i = 1; i < g->used; i++) {
                float *to = sum + spot * g->sum_spot;
                g->loops->add(F32, to, to + i * thread_floats(g), to, c->c);
            }
        for (int t = 0; t < 9; t++) dw[t] = g->dw + (k * 9 + t) * c->c;
        g->loops->winograd4_sums(&(struct positions){sum, g->sum_spot, g->loops->panel_lanes}, c->c, dw);
    }
}

void winograd4_wgrad_run(const struct loops *loops, const struct dnnl_conv *c, int threads, const float *x, const float *dy,
                         float *dw, void *work)
{
    struct wgrad g = plan_wgrad(loops, c, threads);
    g.x = x, g.dy = dy, g.dw = dw, g.work = work;
    threads_for(g.used, 1, add_bands, &g);
    threads_for(c->k, 1, join_sums, &g);
}
