// SPDX-License-Identifier: Apache-2.0
// x[N,H,W,C] * w[K,R,S,C] -> y[N,P,Q,K] in f32, and its gradients. What the window of pixel q reads in one row of x are S C
// adjacent numbers, `stride` C behind the numbers of pixel q - 1. So for a row of the window these numbers are the rows of a
// matrix, not copied: rows may overlap. Lines of x or dy are read once with their padding; sums are f32.
//
// y: the product of that matrix and row r of all filters, summed over r.
// dw: row r is the product of that matrix and a line of dy, one of them transposed: if the matrix has more than WIDE_WINDOW
// columns, these are the columns of the product, else the filters. In bf16 units are pairs of pixels where the processor
// multiplies these, with vectors or with tiles. There is a share of the images for each thread, and the sums of the shares are
// added in order: same number of threads, same bytes.
// dx: pixels whose columns have the same remainder by the stride read adjacent columns of dy, with every stride-th column of the
// window in reverse.
#include "runtime/cpu/conv/lines.h"

#include "runtime/common/base/threads.h"
#include "runtime/cpu/tiles/tiles.h"
#include "runtime/element.h"

enum { LEAST_WINDOW = 100, MOST_CHANNELS = 64, WIDE_WINDOW = 64, BLOCK = 8 };  // BLOCK: lines of y or dx at a time

struct lines {
    const struct dnnl_conv *conv;
    const struct loops *loops;
    const void *x, *dy;
    const float *w, *bias;
    void *to;
    int shares;               // of the images, for dw
    bool pairs, across;       // for dw: pairs of pixels; the numbers of a row of a window are columns of products, not rows
    int64_t wide;             // k of y and dw, c of dx, in whole vectors: columns of products, across their rows
    int64_t numbers, units;   // for dw: of a row of a window, in whole vectors; pixels or pairs of a line
    int64_t pixels;           // of a product for dx, at most
    int64_t lines, side;      // that a task reads, and the numbers of one with its padding
    int64_t before;           // numbers of padding before a line
    float *filters, *scratch; // scratch: of the threads
    int64_t filter_count, scratch_each;
};

bool lines_fit(const struct loops *loops, const struct dnnl_conv *c)
{
    if (c->groups != 1 || c->r * c->s < LEAST_WINDOW || c->c > MOST_CHANNELS || c->k > MOST_CHANNELS || c->y_pooled) return false;
    if (c->pass == DNNL_FORWARD) return c->dtype == F32 && c->act == ACT_NONE && strcmp(loops->isa, "avx512") != 0;
    return c->dtype == F32 || (c->dtype == BF16 && c->pass == DNNL_WGRAD);
}

// Products have even numbers of rows, those of pairs multiples of PAIRS_TILE.
static int64_t even(int64_t n) { return n + n % 2; }
static int64_t whole_tiles(int64_t n) { return (n + PAIRS_TILE - 1) / PAIRS_TILE * PAIRS_TILE; }

static struct lines plan_lines(const struct loops *loops, const struct dnnl_conv *c, int threads)
{
    struct lines o = {.conv = c, .shares = c->n < threads ? (int)c->n : threads};
    const int64_t stride = c->stride[1];
    if (c->pass == DNNL_WGRAD) {
        o.pairs = c->dtype == BF16 && pairs_fit() && strcmp(loops->isa, "avx512") == 0;
        o.units = o.pairs ? (c->q + 1) / 2 : c->q;
        o.wide = loops_lanes(c->k), o.numbers = loops_lanes(c->s * c->c), o.across = o.numbers > WIDE_WINDOW;
        o.lines = c->h, o.before = c->before[1] * c->c;
        o.side = (c->q * stride + c->s + 1 + c->before[1] + c->w) * c->c + o.numbers;
        o.scratch_each = o.lines * o.side + (c->p * o.units + c->r * o.numbers) * o.wide + o.side + stride * c->c;
    } else if (c->pass == DNNL_FORWARD) {
        o.wide = loops_lanes(c->k), o.lines = (BLOCK - 1) * c->stride[0] + c->r, o.before = c->before[1] * c->c;
        o.pixels = even(c->q);
        o.side = (o.pixels * stride + c->s + c->before[1] + c->w) * c->c;
        o.filter_count = c->r * c->s * c->c * o.wide;
        o.scratch_each = o.lines * o.side + o.pixels * o.wide;
    } else {
        o.wide = loops_lanes(c->c), o.lines = (BLOCK + c->r) / c->stride[0] + 2, o.before = c->s * c->k;
        o.pixels = even((c->w + stride - 1) / stride);
        o.side = (c->q + 2 * c->s + o.pixels) * c->k;
        o.filter_count = c->r * c->s * c->k * o.wide;
        o.scratch_each = o.lines * o.side + o.pixels * o.wide;
    }
    o.filter_count = loops_lanes(o.filter_count), o.scratch_each = loops_lanes(o.scratch_each);
    return o;
}

size_t lines_bytes(const struct loops *loops, const struct dnnl_conv *c, int threads)
{
    const struct lines o = plan_lines(loops, c, threads);
    return (size_t)(o.filter_count + o.scratch_each * (c->pass == DNNL_WGRAD ? o.shares : threads)) * sizeof(float);
}

static void widen_some(const struct lines *o, const void *from, int64_t at, int64_t count, float *to)
{
    o->loops->widen(o->conv->dtype, (const char *)from + at * (int64_t)dtype_size(o->conv->dtype), to, count);
}

// Line `line` of an image of `lines` with its padding; zeros outside.
static void read_line(const struct lines *o, const void *from, int64_t line, int64_t lines, int64_t count, float *to)
{
    memset(to, 0, (size_t)o->side * sizeof *to);
    if (line >= 0 && line < lines) widen_some(o, from, line * count, count, to + o->before);
}

static const void *image_of(const struct lines *o, const void *of, int64_t image, int64_t numbers)
{
    return (const char *)of + image * numbers * (int64_t)dtype_size(o->conv->dtype);
}

// ---- y. Filters are [r][s][c][wide].
static void pack_filters(void *context, int64_t begin, int64_t end, int thread)  // rows of the window
{
    (void)thread;
    const struct lines *o = context;
    const struct dnnl_conv *c = o->conv;
    const int64_t numbers = c->s * c->c;
    memset(o->filters + begin * numbers * o->wide, 0, (size_t)((end - begin) * numbers * o->wide) * sizeof(float));
    for (int64_t r = begin; r < end; r++)
        for (int64_t i = 0; i < numbers; i++)
            for (int64_t k = 0; k < c->k; k++) o->filters[(r * numbers + i) * o->wide + k] = o->w[(k * c->r + r) * numbers + i];
}

// A line of y; `lines` are those that its window reads.
static void forward_line(const struct lines *o, const float *lines, float *sums, float *y)
{
    const struct dnnl_conv *c = o->conv;
    const int64_t numbers = c->s * c->c;
    for (int64_t q = 0; q < o->pixels; q++)
        for (int64_t k = 0; k < c->k; k++) sums[q * o->wide + k] = o->bias ? o->bias[k] : 0.0f;
    for (int64_t r = 0; r < c->r; r++) {
        struct product one = {.a = lines + r * o->side, .b = o->filters + r * numbers * o->wide, .c = sums, .rows = o->pixels,
                              .columns = o->wide, .depth = numbers, .a_row = c->stride[1] * c->c, .a_unit = 1,
                              .b_row = o->wide, .c_row = o->wide, .adds = true};
        o->loops->product(&one);
    }
    for (int64_t q = 0; q < c->q; q++) memcpy(y + q * c->k, sums + q * o->wide, (size_t)c->k * sizeof *y);
}

static void forward_piece(void *context, int64_t begin, int64_t end, int thread)  // blocks of lines of the images
{
    const struct lines *o = context;
    const struct dnnl_conv *c = o->conv;
    const int64_t blocks = (c->p + BLOCK - 1) / BLOCK, stride = c->stride[0];
    float *lines = o->scratch + o->scratch_each * thread, *sums = lines + o->lines * o->side;
    memset(sums, 0, (size_t)(o->pixels * o->wide) * sizeof *sums);
    for (int64_t i = begin; i < end; i++) {
        const int64_t p = i % blocks * BLOCK, last = p + BLOCK < c->p ? p + BLOCK : c->p, first = p * stride - c->before[0];
        const void *x = image_of(o, o->x, i / blocks, c->h * c->w * c->c);
        for (int64_t j = 0; j < o->lines; j++) read_line(o, x, first + j, c->h, c->w * c->c, lines + j * o->side);
        for (int64_t line = p; line < last; line++)
            forward_line(o, lines + (line - p) * stride * o->side, sums,
                         (float *)o->to + (i / blocks * c->p + line) * c->q * c->k);
    }
}

// ---- dw
struct dw_scratch {
    float *lines, *dy;  // of an image: [h][side]; [p][units][wide]
    float *sums;        // of the share: [r][wide][numbers] across, else [r][numbers][wide]
    uint16_t *half;     // a line in bf16
};

static struct dw_scratch carve_dw(const struct lines *o, int64_t share)
{
    float *lines = o->scratch + o->scratch_each * share, *dy = lines + o->lines * o->side;
    float *sums = dy + o->conv->p * o->units * o->wide;
    return (struct dw_scratch){lines, dy, sums, (uint16_t *)(sums + o->conv->r * o->wide * o->numbers)};
}

// Line h of x with its padding; a pair is a number and the one that the next pixel of y reads in its place.
static void read_x(const struct lines *o, const void *x, int64_t h, const struct dw_scratch *s)
{
    const struct dnnl_conv *c = o->conv;
    const int64_t next = c->stride[1] * c->c;
    if (!o->pairs) {
        read_line(o, x, h, c->h, c->w * c->c, s->lines + h * o->side);
        return;
    }
    memset(s->half, 0, (size_t)(o->side + next) * sizeof *s->half);
    memcpy(s->half + o->before, (const uint16_t *)x + h * c->w * c->c, (size_t)(c->w * c->c) * sizeof *s->half);
    o->loops->join_rows(s->half, s->half + next, o->side, (uint32_t *)s->lines + h * o->side);
}

static void read_dy(const struct lines *o, const void *dy, int64_t p, const struct dw_scratch *s)
{
    const struct dnnl_conv *c = o->conv;
    float *to = s->dy + p * o->units * o->wide;
    if (!o->pairs) {
        for (int64_t q = 0; q < c->q; q++) widen_some(o, dy, (p * c->q + q) * c->k, c->k, to + q * o->wide);
        return;
    }
    const struct pairs_matrix line = {(uint16_t *)(uintptr_t)dy + p * c->q * c->k, c->k, c->q, c->k};
    pairs_pack_pairs(&line, o->wide, (uint32_t *)to);
}

// Row r of the windows of lines [first, first + BLOCK) of y. Its sums (22 KB for 16 filters of 21 x 16) and the lines stay in
// L1 and L2.
static void add_block(const struct lines *o, int64_t first, int64_t r, const struct dw_scratch *s)
{
    const struct dnnl_conv *c = o->conv;
    const int64_t next = c->stride[1] * c->c * (o->pairs ? 2 : 1);
    const int64_t rows = o->pairs ? whole_tiles(c->s * c->c) : even(c->s * c->c);
    struct product one = {.c = s->sums + r * o->wide * o->numbers, .rows = o->across ? o->wide : rows,
                          .columns = o->across ? o->numbers : o->wide, .depth = o->units, .a_row = 1, .adds = true};
    one.c_row = one.columns, one.a_unit = o->across ? o->wide : next, one.b_row = o->across ? next : o->wide;
    for (int64_t p = first; p < first + BLOCK && p < c->p; p++) {
        const int64_t h = p * c->stride[0] + r - c->before[0];
        if (h < 0 || h >= c->h) continue;
        const float *x = s->lines + h * o->side, *dy = s->dy + p * o->units * o->wide;
        one.a = o->across ? dy : x, one.b = o->across ? x : dy;
        multiply_units(o->loops, o->pairs, c->tiles, &one);
    }
}

static void sum_piece(void *context, int64_t begin, int64_t end, int thread)  // shares of the images
{
    (void)thread;
    const struct lines *o = context;
    const struct dnnl_conv *c = o->conv;
    for (int64_t i = begin; i < end; i++) {
        const struct dw_scratch s = carve_dw(o, i);
        memset(s.dy, 0, (size_t)((c->p * o->units + c->r * o->numbers) * o->wide) * sizeof *s.dy);
        for (int64_t n = c->n * i / o->shares; n < c->n * (i + 1) / o->shares; n++) {
            const void *x = image_of(o, o->x, n, c->h * c->w * c->c), *dy = image_of(o, o->dy, n, c->p * c->q * c->k);
            for (int64_t h = 0; h < c->h; h++) read_x(o, x, h, &s);
            for (int64_t p = 0; p < c->p; p++) read_dy(o, dy, p, &s);
            for (int64_t block = 0; block < c->p; block += BLOCK)
                for (int64_t r = 0; r < c->r; r++) add_block(o, block, r, &s);
        }
    }
}

static void gather_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of the windows of all filters
{
    (void)thread;
    const struct lines *o = context;
    const struct dnnl_conv *c = o->conv;
    const float *sums = carve_dw(o, 0).sums;
    const int64_t numbers = c->s * c->c;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < numbers; j++) {
            const int64_t k = i / c->r, at = o->across ? k * o->numbers + j : j * o->wide + k;
            float sum = 0.0f;
            for (int t = 0; t < o->shares; t++) sum += sums[o->scratch_each * t + i % c->r * o->numbers * o->wide + at];
            ((float *)o->to)[i * numbers + j] = sum;
        }
}

// ---- dx. Filters are [r][s][k][wide] with the columns of each remainder in reverse.
static int64_t columns_of(const struct dnnl_conv *c, int64_t remainder)
{
    return c->s > remainder ? (c->s - remainder + c->stride[1] - 1) / c->stride[1] : 0;
}

static void pack_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of the window
{
    (void)thread;
    const struct lines *o = context;
    const struct dnnl_conv *c = o->conv;
    for (int64_t r = begin; r < end; r++) {
        float *to = o->filters + r * c->s * c->k * o->wide;
        for (int64_t remainder = 0; remainder < c->stride[1]; remainder++)
            for (int64_t i = columns_of(c, remainder) - 1; i >= 0; i--)
                for (int64_t k = 0; k < c->k; k++, to += o->wide) {
                    const int64_t s = remainder + c->stride[1] * i;
                    memset(to, 0, (size_t)o->wide * sizeof *to);
                    memcpy(to, o->w + ((k * c->r + r) * c->s + s) * c->c, (size_t)c->c * sizeof *to);
                }
    }
}

// Line h of dx; `lines` begin with line `first` of dy.
static void back_line(const struct lines *o, int64_t h, int64_t first, const float *lines, float *sums, float *dx)
{
    const struct dnnl_conv *c = o->conv;
    const int64_t stride = c->stride[1];
    for (int64_t remainder = 0, tap = 0, count; remainder < stride; remainder++, tap += count) {
        const int64_t w = ((remainder - c->before[1]) % stride + stride) % stride;  // the first pixel
        const int64_t pixels = c->w > w ? (c->w - w + stride - 1) / stride : 0;
        const int64_t q = (w + c->before[1] - remainder) / stride;  // where it meets the first of these columns
        count = columns_of(c, remainder);
        memset(sums, 0, (size_t)(o->pixels * o->wide) * sizeof *sums);
        for (int64_t r = 0; r < c->r && count > 0; r++) {
            const int64_t p = h + c->before[0] - r;
            if (p < 0 || p % c->stride[0] || p / c->stride[0] >= c->p) continue;
            struct product one = {.a = lines + (p / c->stride[0] - first) * o->side + (c->s + q - (count - 1)) * c->k,
                                  .b = o->filters + (r * c->s + tap) * c->k * o->wide, .c = sums, .rows = even(pixels),
                                  .columns = o->wide, .depth = count * c->k, .a_row = c->k, .a_unit = 1, .b_row = o->wide,
                                  .c_row = o->wide, .adds = true};
            o->loops->product(&one);
        }
        for (int64_t j = 0; j < pixels; j++)
            memcpy(dx + (w + j * stride) * c->c, sums + j * o->wide, (size_t)c->c * sizeof *dx);
    }
}

static void back_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct lines *o = context;
    const struct dnnl_conv *c = o->conv;
    const int64_t blocks = (c->h + BLOCK - 1) / BLOCK, stride = c->stride[0];
    float *lines = o->scratch + o->scratch_each * thread, *sums = lines + o->lines * o->side;
    for (int64_t i = begin; i < end; i++) {
        const int64_t h = i % blocks * BLOCK, last = h + BLOCK < c->h ? h + BLOCK : c->h, least = h + c->before[0] - c->r + 1;
        const int64_t first = least > 0 ? least / stride : 0;
        float *dx = (float *)o->to + i / blocks * c->h * c->w * c->c;
        const void *dy = image_of(o, o->dy, i / blocks, c->p * c->q * c->k);
        for (int64_t j = 0; j < o->lines; j++) read_line(o, dy, first + j, c->p, c->q * c->k, lines + j * o->side);
        for (int64_t line = h; line < last; line++) back_line(o, line, first, lines, sums, dx + line * c->w * c->c);
    }
}

void lines_run(const struct loops *loops, const struct dnnl_conv *c, int threads, void *const in[3], void *to, void *work)
{
    struct lines o = plan_lines(loops, c, threads);
    o.loops = loops, o.x = in[0], o.w = in[0], o.dy = in[1], o.to = to;
    o.filters = work, o.scratch = o.filters + o.filter_count;
    if (c->pass == DNNL_FORWARD) {
        o.w = in[1], o.bias = in[2];
        threads_for(c->r, 1, pack_filters, &o);
        threads_for(c->n * ((c->p + BLOCK - 1) / BLOCK), 1, forward_piece, &o);
        return;
    }
    if (c->pass == DNNL_WGRAD) {
        threads_for(o.shares, 1, sum_piece, &o);
        threads_for(c->k * c->r, 1, gather_piece, &o);
        return;
    }
    threads_for(c->r, 1, pack_piece, &o);
    threads_for(c->n * ((c->h + BLOCK - 1) / BLOCK), 1, back_piece, &o);
}
