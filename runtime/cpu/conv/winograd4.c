// SPDX-License-Identifier: Apache-2.0
// x[N,H,W,C] * w[K,3,3,C] -> y[N,P,Q,K] and, with transposed filters, the gradient of x.
//
// Filters are transformed first, to [panel of k][position][C][k of the panel]. The tiles of all images are numbered in order; a
// thread takes bands of them. It transforms the inputs of a band to V[position][tile][C]. Then, for one block of k at a time, it
// computes the 36 products M[position][tile][k of the block] and transforms them into outputs. A panel of filters at a position
// stays in the L1 cache, V and M in L2 or L3. Of few tiles, as of a single image, threads take blocks of k instead of bands, so
// that every filter is read once. The sum of an output does not depend on its band: results do not depend on the number of
// threads.
#include "runtime/cpu/conv/winograd4.h"

#include "runtime/common/base/threads.h"
#include "runtime/cpu/loops/loops_stem.h"

enum { BLOCK = 64 };  // filters of a block
enum { SKEW = 48 };   // floats that keep the same tile of 36 positions out of the same set of a cache
enum { BAND_BYTES = 2 << 20, BAND_TILES = 96, LEAST_TILES = 32 };  // V and M of a band; tiles of a band
enum { LEAST_ALL = 48, LEAST_KEPT = 4 };  // fewer tiles are not worth packing, or reading, filters of four times the size

static const float zeros[WINOGRAD4_CHANNELS];  // a pixel outside the image

struct job {
    const struct dnnl_conv *conv;
    const struct loops *loops;
    const struct stem_loops *stem;
    const struct conv_data *data;
    const float *filters;
    float *work;
    int64_t rows, columns, tiles;  // of an image; of the batch
    int64_t band, block, v_row;    // tiles of a band; filters of a block; floats of a tile of V
    bool shares_filters;           // threads take blocks of filters instead of bands
    int64_t v_spot, m_spot, v_floats, m_floats;
};

static struct job plan_job(const struct loops *loops, const struct dnnl_conv *c, int threads)
{
    struct job g = {.conv = c, .loops = loops, .rows = winograd4_tiles(c->p), .columns = winograd4_tiles(c->q)};
    g.tiles = c->n * g.rows * g.columns;
    g.block = winograd4_panels(loops, c->k) * loops->panel_lanes;
    if (g.block > BLOCK) g.block = BLOCK;
    g.v_row = c->c % 128 ? c->c : c->c + 16;  // adjacent tiles in other sets of a cache
    int64_t most = BAND_BYTES / ((g.v_row + g.block) * WINOGRAD4_SPOTS * (int64_t)sizeof(float));
    most = most > BAND_TILES ? BAND_TILES : most < LEAST_TILES ? LEAST_TILES : most;
    int64_t bands = (g.tiles + most - 1) / most;
    g.shares_filters = g.tiles < LEAST_ALL && (c->k + g.block - 1) / g.block >= threads;
    bands = g.shares_filters ? 1 : (bands + threads - 1) / threads * threads;  // as much for every thread
    g.band = ((g.tiles + bands - 1) / bands + 1) & ~INT64_C(1);  // products have an even number of rows
    g.v_spot = g.band * g.v_row + SKEW, g.m_spot = g.band * g.block + SKEW;
    g.v_floats = (WINOGRAD4_SPOTS * g.v_spot + 15) & ~INT64_C(15);
    g.m_floats = (WINOGRAD4_SPOTS * g.m_spot + 15) & ~INT64_C(15);
    return g;
}

// Cycles of a tile: a core does 2 multiply-adds of vectors at a time; the transform of a vector of channels takes about 130.
static bool is_faster(const struct loops *loops, const struct dnnl_conv *c)
{
    double lanes = loops->panel_lanes / 2.0, tiles = (double)(winograd4_tiles(c->p) * winograd4_tiles(c->q));
    double product = (double)(c->c * c->k) / lanes / 2.0, transforms = (double)(c->c + c->k) / lanes * 130.0;
    return tiles * (WINOGRAD4_SPOTS * product + transforms) < 0.8 * 9.0 * (double)(c->p * c->q) * product;
}

// Vectors of channels are whole, or the last one overlaps the one before it in the first panel.
static bool whole_vectors(const struct loops *loops, int64_t channels)
{
    int64_t lanes = loops->panel_lanes / 2;
    return channels <= WINOGRAD4_CHANNELS && (channels % lanes == 0 || (channels > lanes && channels < loops->panel_lanes));
}

bool winograd4_shape(const struct loops *loops, const struct dnnl_conv *c)
{
    return c->dtype == F32 && c->r == 3 && c->s == 3 && c->groups == 1 && c->stride[0] == 1 && c->stride[1] == 1 &&
           !c->x_pooled && !c->y_pooled && whole_vectors(loops, c->c) && whole_vectors(loops, c->k) && is_faster(loops, c);
}

bool winograd4_fits(const struct loops *loops, const struct dnnl_conv *c, bool kept)
{
    return winograd4_shape(loops, c) && c->n * winograd4_tiles(c->p) * winograd4_tiles(c->q) >= (kept ? LEAST_KEPT : LEAST_ALL);
}

size_t winograd4_bytes(const struct loops *loops, const struct dnnl_conv *c, int threads)
{
    struct job g = plan_job(loops, c, threads);
    return plan_round_up((size_t)(g.v_floats + g.m_floats) * sizeof(float) * (size_t)threads);
}

// ---- filters
size_t winograd4_pack_bytes(const struct loops *loops, const struct dnnl_conv *c)
{
    return plan_round_up((size_t)(WINOGRAD4_SPOTS * winograd4_panels(loops, c->k) * loops->panel_lanes * c->c) * sizeof(float));
}

struct packing {
    const struct loops *loops;
    const struct dnnl_conv *conv;
    bool transposed;
    const float *w;
    float *to;
};

enum { MOST_LANES = 32 };

// One channel of one panel of filters. Plain filters [k][9][c] are gathered; transposed ones, [c][9][k], are turned by 180
// degrees.
static void pack_channel(const struct packing *g, int64_t panel, int64_t c)
{
    const struct dnnl_conv *conv = g->conv;
    int64_t lanes = g->loops->panel_lanes, first = panel * lanes, wide = conv->k - first < lanes ? conv->k - first : lanes;
    float plain[9][MOST_LANES] = {{0}};
    const float *tap[9];
    for (int t = 0; t < 9; t++) {
        const float *from = g->transposed ? g->w + (c * 9 + 8 - t) * conv->k + first : g->w + (first * 9 + t) * conv->c + c;
        int64_t step = g->transposed ? 1 : 9 * conv->c;
        for (int64_t i = 0; i < wide; i++) plain[t][i] = from[i * step];
        tap[t] = plain[t];
    }
    struct positions to = {g->to + (panel * WINOGRAD4_SPOTS * conv->c + c) * lanes, conv->c * lanes, lanes};
    g->loops->winograd4_filters(tap, lanes, &to);
}

static void pack_filters(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct packing *g = context;
    for (int64_t i = begin; i < end; i++) pack_channel(g, i / g->conv->c, i % g->conv->c);
}

void winograd4_pack(const struct loops *loops, const struct dnnl_conv *c, bool transposed, const float *w, void *filters)
{
    BUG_IF(loops->panel_lanes > MOST_LANES);
    struct packing g = {loops, c, transposed, w, filters};
    threads_for(winograd4_panels(loops, c->k) * c->c, 16, pack_filters, &g);
}

// ---- a band
void winograd4_pixels(const float *image, int64_t h, int64_t w, int64_t channels, int64_t top, int64_t left, int side,
                      const float **pixel)
{
    for (int64_t i = 0; i < side; i++)
        for (int64_t j = 0; j < side; j++) {
            bool inside = top + i >= 0 && top + i < h && left + j >= 0 && left + j < w;
            pixel[i * side + j] = inside ? image + ((top + i) * w + left + j) * channels : zeros;
        }
}

static void spread_band(const struct job *g, int64_t first, int64_t count, float *v)
{
    const struct dnnl_conv *c = g->conv;
    for (int64_t t = 0; t < count; t++) {
        int64_t image = (first + t) / (g->rows * g->columns), ty = (first + t) / g->columns % g->rows;
        int64_t tx = (first + t) % g->columns;
        const float *pixel[WINOGRAD4_SPOTS];
        winograd4_pixels((const float *)g->data->x + image * c->h * c->w * c->c, c->h, c->w, c->c, 4 * ty - c->before[0],
                         4 * tx - c->before[1], 6, pixel);
        g->loops->winograd4_inputs(pixel, c->c, &(struct positions){v + t * g->v_row, g->v_spot, g->loops->panel_lanes});
    }
}

// Writes the outputs of tile t for the filters [k, k + wide).
static void join_tile(const struct job *g, int64_t t, const struct positions *m, int64_t k, int64_t wide)
{
    const struct dnnl_conv *c = g->conv;
    int64_t image = t / (g->rows * g->columns), ty = t / g->columns % g->rows * 4, tx = t % g->columns * 4;
    float plain[16][BLOCK], *to[16], *y = (float *)g->data->y + image * c->p * c->q * c->k + k;
    for (int i = 0; i < 16; i++) {
        bool inside = ty + i / 4 < c->p && tx + i % 4 < c->q;
        to[i] = c->act == ACT_NONE && inside ? y + ((ty + i / 4) * c->q + tx + i % 4) * c->k : plain[0] + i * wide;
    }
    g->loops->winograd4_outputs(m, wide, g->data->bias ? g->data->bias + k : NULL, to);
    if (c->act == ACT_NONE) return;
    g->stem->activate(plain[0], 16 * wide, c->act);
    for (int i = 0; i < 16; i++)
        if (ty + i / 4 < c->p && tx + i % 4 < c->q)
            memcpy(y + ((ty + i / 4) * c->q + tx + i % 4) * c->k, plain[0] + i * wide, (size_t)wide * sizeof(float));
}

static void run_block(const struct job *g, int64_t first, int64_t count, const float *v, float *m, int64_t k)
{
    const struct dnnl_conv *c = g->conv;
    int64_t lanes = g->loops->panel_lanes, wide = c->k - k < g->block ? c->k - k : g->block;
    int64_t panels = (wide + lanes - 1) / lanes;
    for (int64_t i = 0; i < WINOGRAD4_SPOTS * panels; i++) {
        // Many tiles at a position meet all panels in turn; for few, filters are read in their order.
        int64_t spot = g->shares_filters ? i % WINOGRAD4_SPOTS : i / panels;
        int64_t panel = g->shares_filters ? i / WINOGRAD4_SPOTS : i % panels;
        g->loops->product(&(struct product){
            .a = v + spot * g->v_spot, .b = g->filters + ((k / lanes + panel) * WINOGRAD4_SPOTS + spot) * c->c * lanes,
            .c = m + spot * g->m_spot + panel * lanes, .rows = (count + 1) & ~INT64_C(1), .columns = lanes, .depth = c->c,
            .a_row = g->v_row, .a_unit = 1, .b_row = lanes, .c_row = g->block});
    }
    for (int64_t t = 0; t < count; t++)
        join_tile(g, first + t, &(struct positions){m + t * g->block, g->m_spot, lanes}, k, wide);
}

// A band for the filters [from, to).
static void run_band(const struct job *g, int64_t b, int64_t from, int64_t to, float *v)
{
    int64_t first = b * g->band, count = g->tiles - first < g->band ? g->tiles - first : g->band;
    spread_band(g, first, count, v);
    if (count % 2)  // the last product of an odd number of rows reads one more
        for (int64_t s = 0; s < WINOGRAD4_SPOTS; s++)
            memset(v + s * g->v_spot + count * g->v_row, 0, (size_t)g->v_row * sizeof *v);
    for (int64_t k = from; k < to; k += g->block) run_block(g, first, count, v, v + g->v_floats, k);
}

static void run_bands(void *context, int64_t begin, int64_t end, int thread)
{
    const struct job *g = context;
    float *v = g->work + (g->v_floats + g->m_floats) * thread;
    for (int64_t b = begin; b < end; b++) run_band(g, b, 0, g->conv->k, v);
}

// Every thread transforms all inputs, and reads its own filters.
static void run_filters(void *context, int64_t begin, int64_t end, int thread)
{
    const struct job *g = context;
    int64_t to = end * g->block < g->conv->k ? end * g->block : g->conv->k;
    run_band(g, 0, begin * g->block, to, g->work + (g->v_floats + g->m_floats) * thread);
}

void winograd4_run(const struct loops *loops, const struct dnnl_conv *c, int threads, const void *filters,
                   const struct conv_data *data, void *work)
{
    struct job g = plan_job(loops, c, threads);
    g.stem = stem_loops(), g.data = data, g.filters = filters, g.work = work;
    if (g.shares_filters) threads_for((c->k + g.block - 1) / g.block, 1, run_filters, &g);
    else threads_for((g.tiles + g.band - 1) / g.band, 1, run_bands, &g);
}
