// SPDX-License-Identifier: Apache-2.0
// The tables of both axes are computed for each sample, in double without contraction, so they are the same on every CPU.
#include "data/image/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/image/scale_inside.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/isa.h"

// With more taps, the rounding of each product could overflow 16 bits. Such shrinking uses plain sums of 32 bits.
enum { TAPS_MOST = 32 };

struct axis {
    int32_t *first;  // for each output
    int16_t *weight; // taps for each output
    int taps;
    size_t capacity, weights;
};

struct scaler {
    const struct scale_loops *loops;
    struct axis down, across;
    int16_t (*spread)[SCALE_LANES];  // the weights of `across` in the layout of the loops
    int16_t *packed, *row;           // three lanes per pixel; SCALE_ROWS rows with four lanes per pixel
    size_t spreads, lanes;
};

struct scaler *scaler_new(void)
{
    static const struct scale_loops *const sets[ISA_SETS] = {
        &scale_loops_base,
#ifndef ISA_ONLY_BASE
        &scale_loops_avx2, &scale_loops_avx512,
#endif
    };
    struct scaler *s = zalloc(sizeof *s);
    s->loops = sets[isa_choose()];
    return s;
}

void scaler_free(struct scaler *s)
{
    if (s == NULL) return;
    free(s->down.first);
    free(s->down.weight);
    free(s->across.first);
    free(s->across.weight);
    free(s->spread);
    free(s->packed);
    free(s->row);
    free(s);
}

// ---- tables

static int clamp(double x, int low, int high)
{
    return x < low ? low : x > high ? high : (int)x;
}

// The first pixel whose centre lies within `reach` of the centre.
static int first_tap(double centre, double reach, int bound)
{
    return clamp(centre - reach + 0.5, 0, bound - 1);
}

void scale_reach(double begin, double length, int64_t count, int bound, int *first, int *end)
{
    double step = length / (double)count, reach = step > 1 ? step : 1, last = begin + ((double)count - 0.5) * step;
    *first = first_tap(begin + 0.5 * step, reach, bound);
    *end = clamp(last + reach + 0.5, first_tap(last, reach, bound) + 1, bound);
}

static double triangle(double distance, double reach)
{
    double w = reach - fabs(distance);
    return 0.5 * (w + fabs(w));  // at least 0, without an unpredictable branch
}

// The weights sum to 2^15: the remainder of rounding is added to the pixel in the middle, which has the greatest weight. A
// single weight of 1 becomes 2^15 - 1, which changes no pixel.
static void set_weights(double from_centre, double reach, int taps, int16_t *weight)
{
    double sum = 0;
    int left = 1 << SCALE_BITS, middle = clamp(0.5 - from_centre, 0, taps - 1);
    for (int k = 0; k < taps; k++) sum += triangle(from_centre + k, reach);
    double unit = sum > 0 ? (1 << SCALE_BITS) / sum : 0;
    for (int k = 0; k < taps; k++) {
        int w = (int)(triangle(from_centre + k, reach) * unit + 0.5);
        left -= w;
        weight[k] = (int16_t)(w - (w >> SCALE_BITS));
    }
    left += weight[middle];
    weight[middle] = (int16_t)(left - (left >> SCALE_BITS));
}

static void set_axis(struct axis *axis, double begin, double length, int64_t count, int bound, bool mirror)
{
    double step = length / (double)count, reach = step > 1 ? step : 1;
    int taps = (int)ceil(2 * reach);
    size_t outputs = (size_t)count + SCALE_GROUP, weights = outputs * (size_t)taps;
    if (outputs > axis->capacity) axis->first = grow(axis->first, (axis->capacity = outputs) * sizeof *axis->first);
    if (weights > axis->weights) axis->weight = grow(axis->weight, (axis->weights = weights) * sizeof *axis->weight);
    axis->taps = taps;
    for (int64_t i = 0; i < count; i++) {
        double centre = begin + ((double)i + 0.5) * step;
        int64_t at = mirror ? count - 1 - i : i;
        int16_t *weight = axis->weight + at * taps;
        int first = first_tap(centre, reach, bound), inside = bound - first < taps ? bound - first : taps;
        axis->first[at] = first;
        set_weights(first + 0.5 - centre, reach, inside, weight);  // 0 for taps beyond the reach
        for (int k = inside; k < taps; k++) weight[k] = 0;
    }
}

// Repeats each weight for the lanes of a pixel, in groups of pixels. first becomes a position in the row.
static void spread_weights(struct scaler *s, int64_t width, int row_first)
{
    struct axis *a = &s->across;
    int64_t whole = (width + SCALE_GROUP - 1) / SCALE_GROUP * SCALE_GROUP;
    size_t spreads = (size_t)whole * (size_t)a->taps;
    if (spreads > s->spreads) s->spread = grow(s->spread, (s->spreads = spreads) * sizeof *s->spread);
    for (int64_t x = 0; x < width; x++) a->first[x] -= row_first;
    for (int64_t x = width; x < whole; x++) a->first[x] = a->first[width - 1];
    for (int64_t x = 0; x < whole; x++) {
        const int16_t *weight = a->weight + (x < width ? x : width - 1) * a->taps;
        int16_t(*to)[SCALE_LANES] = s->spread + x / SCALE_GROUP * SCALE_GROUP * a->taps + x % SCALE_GROUP;
        for (int k = 0; k < a->taps; k++)
            for (int c = 0; c < SCALE_LANES; c++) to[k * SCALE_GROUP][c] = weight[k];
    }
}

// ---- both axes

// Row y of the target, scaled along the vertical axis only.
static void sum_rows(struct scaler *s, const struct scale_part *part, const uint8_t *from, int64_t columns, int64_t y,
                     int16_t *row)
{
    const uint8_t *rows = from + (int64_t)(s->down.first[y] - part->top) * part->stride;
    const int16_t *weight = s->down.weight + y * s->down.taps;
    int taps = s->down.taps;
    while (taps > 1 && weight[taps - 1] == 0) taps--;  // the part may end there
    s->loops->rows(rows, part->stride, weight, taps, columns * part->channels, part->channels == 3 ? s->packed : row);
    if (part->channels == 3) s->loops->spread(s->packed, columns, row);
}

static void draw_narrow(struct scaler *s, const struct scale_part *part, const uint8_t *from, int64_t columns,
                        int64_t height, const struct scale_across *across, uint8_t *into)
{
    size_t lanes = (size_t)(columns + SCALE_SPARE) * SCALE_LANES;
    if (lanes > s->lanes) {
        free(s->packed);
        free(s->row);
        s->packed = zalloc(lanes * sizeof *s->row);
        s->row = zalloc(SCALE_ROWS * lanes * sizeof *s->row);
        s->lanes = lanes;
    }
    for (int64_t y = 0; y < height; y += SCALE_ROWS) {
        int count = height - y < SCALE_ROWS ? (int)(height - y) : SCALE_ROWS;
        for (int r = 0; r < count; r++) sum_rows(s, part, from, columns, y + r, s->row + (size_t)r * s->lanes);
        s->loops->pixels(s->row, (int64_t)s->lanes, across, count, into + y * across->width * 3);
    }
}

static void draw_wide(struct scaler *s, const struct scale_part *part, const uint8_t *from, int row_first, int64_t height,
                      int64_t width, uint8_t *into)
{
    const int64_t half = (int64_t)1 << (2 * SCALE_BITS - 1);
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            const uint8_t *pixel = from + (int64_t)(s->down.first[y] - part->top) * part->stride +
                                   (int64_t)(s->across.first[x] - row_first) * part->channels;
            int64_t sum[3] = {half, half, half};
            for (int j = 0; j < s->down.taps; j++) {
                int64_t weight = s->down.weight[y * s->down.taps + j];
                if (weight == 0) continue;  // the part may end there
                for (int k = 0; k < s->across.taps; k++) {
                    int64_t w = weight * s->across.weight[x * s->across.taps + k];
                    const uint8_t *at = pixel + j * part->stride + k * part->channels;
                    for (int c = 0; c < 3 && w != 0; c++) sum[c] += w * at[c];
                }
            }
            for (int c = 0; c < 3; c++) *into++ = (uint8_t)clamp((double)(sum[c] >> 2 * SCALE_BITS), 0, 255);
        }
    }
}

void scale_draw(struct scaler *s, const struct scale_part *part, const struct scale_into *into)
{
    int first, end;
    const struct area *area = into->area;
    const int64_t height = into->height, width = into->width;
    set_axis(&s->down, area->top, area->height, height, part->height, false);
    set_axis(&s->across, area->left, area->width, width, part->width, into->mirror);
    scale_reach(area->left, area->width, width, part->width, &first, &end);
    const uint8_t *from = part->pixels + (int64_t)(first - part->left) * part->channels;
    if (s->down.taps > TAPS_MOST || s->across.taps > TAPS_MOST) {
        draw_wide(s, part, from, first, height, width, into->pixels);
        return;
    }
    spread_weights(s, width, first);
    struct scale_across across = {s->across.first, (const int16_t(*)[SCALE_LANES])s->spread, s->across.taps, width};
    draw_narrow(s, part, from, end - first, height, &across, into->pixels);
}
