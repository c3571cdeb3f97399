// SPDX-License-Identifier: Apache-2.0
// dw[K,3,3,C] = sum over tiles of G' ((A dy A') (B' x B)) G, at 36 positions. Bands of tiles follow one another. All threads
// transform the tiles of a band to
//   x [position][panel of c][tile][c of the panel]      dy [position][tile][K]
// and then add the products to the sums [position][K][C], a panel of c of a position at a time. So there is one set of sums,
// memory does not grow with the threads, and no result depends on their number. A band is long, because its sums (9 MB at 256 x
// 256) are read and written once for each.
#include "runtime/cpu/conv/winograd4.h"

#include "runtime/common/base/threads.h"

enum { SKEW = 48, BAND_BYTES = 12 << 20, BAND_TILES = 512, LEAST_TILES = 64 };
enum { LARGEST_SUMS = 64 << 20 };  // bytes

struct wgrad {
    const struct dnnl_conv *conv;
    const struct loops *loops;
    const float *x, *dy;
    float *dw, *sums, *x_work, *dy_work;
    int64_t rows, columns, tiles, band;
    int64_t first, count;    // tiles of the band in work
    int64_t c_wide, dy_row;  // channels in whole panels; floats of a tile of dy
    int64_t x_spot, dy_spot, sum_spot, x_floats, dy_floats, sum_floats;
};

static struct wgrad plan_wgrad(const struct loops *loops, const struct dnnl_conv *c)
{
    struct wgrad g = {.conv = c, .loops = loops, .rows = winograd4_tiles(c->p), .columns = winograd4_tiles(c->q)};
    g.tiles = c->n * g.rows * g.columns;
    g.c_wide = winograd4_panels(loops, c->c) * loops->panel_lanes;
    g.dy_row = c->k % 128 ? c->k : c->k + 16;  // adjacent tiles in other sets of a cache
    int64_t most = BAND_BYTES / ((g.c_wide + g.dy_row) * WINOGRAD4_SPOTS * (int64_t)sizeof(float));
    most = most > BAND_TILES ? BAND_TILES : most < LEAST_TILES ? LEAST_TILES : most;
    int64_t bands = (g.tiles + most - 1) / most;
    g.band = (g.tiles + bands - 1) / bands;
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

size_t winograd4_wgrad_bytes(const struct loops *loops, const struct dnnl_conv *c)
{
    struct wgrad g = plan_wgrad(loops, c);
    return plan_round_up((size_t)(g.x_floats + g.dy_floats + g.sum_floats) * sizeof(float));
}

// Pieces are tiles of the band.
static void spread_tiles(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct wgrad *g = context;
    const struct dnnl_conv *c = g->conv;
    int64_t lanes = g->loops->panel_lanes;
    for (int64_t t = begin; t < end; t++) {
        int64_t number = g->first + t, image = number / (g->rows * g->columns);
        int64_t ty = number / g->columns % g->rows * 4, tx = number % g->columns * 4;
        const float *pixel[WINOGRAD4_SPOTS];
        winograd4_pixels(g->x + image * c->h * c->w * c->c, c->h, c->w, c->c, ty - c->before[0], tx - c->before[1], 6, pixel);
        g->loops->winograd4_inputs(pixel, c->c, &(struct positions){g->x_work + t * lanes, g->x_spot, g->band * lanes});
        winograd4_pixels(g->dy + image * c->p * c->q * c->k, c->p, c->q, c->k, ty, tx, 4, pixel);
        g->loops->winograd4_gradients(pixel, c->k, &(struct positions){g->dy_work + t * g->dy_row, g->dy_spot, lanes});
    }
}

// Pieces are the panels of c of all positions.
static void add_products(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct wgrad *g = context;
    int64_t lanes = g->loops->panel_lanes, panels = g->c_wide / lanes;
    for (int64_t i = begin; i < end; i++) {
        int64_t spot = i / panels, c = i % panels * lanes;
        g->loops->product(&(struct product){
            .a = g->dy_work + spot * g->dy_spot, .b = g->x_work + spot * g->x_spot + c * g->band,
            .c = g->sums + spot * g->sum_spot + c, .rows = g->conv->k, .columns = lanes, .depth = g->count, .a_row = 1,
            .a_unit = g->dy_row, .b_row = lanes, .c_row = g->c_wide, .adds = g->first > 0});
    }
}

static void join_sums(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct wgrad *g = context;
    const struct dnnl_conv *c = g->conv;
    for (int64_t k = begin; k < end; k++) {
        float *dw[9];
        for (int t = 0; t < 9; t++) dw[t] = g->dw + (k * 9 + t) * c->c;
        g->loops->winograd4_sums(&(struct positions){g->sums + k * g->c_wide, g->sum_spot, g->loops->panel_lanes}, c->c, dw);
    }
}

void winograd4_wgrad_run(const struct loops *loops, const struct dnnl_conv *c, const float *x, const float *dy, float *dw,
                         void *work)
{
    struct wgrad g = plan_wgrad(loops, c);
    g.x = x, g.dy = dy, g.dw = dw;
    g.sums = work, g.x_work = g.sums + g.sum_floats, g.dy_work = g.x_work + g.x_floats;
    for (; g.first < g.tiles; g.first += g.band) {
        g.count = g.tiles - g.first < g.band ? g.tiles - g.first : g.band;
        threads_for(g.count, 4, spread_tiles, &g);
        threads_for(WINOGRAD4_SPOTS * (g.c_wide / loops->panel_lanes), 1, add_products, &g);
    }
    threads_for(c->k, 16, join_sums, &g);
}
