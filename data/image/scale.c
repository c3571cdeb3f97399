// SPDX-License-Identifier: Apache-2.0
#include "data/image/scale.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/arena.h"

enum { WEIGHT_BITS = 14, BETWEEN_BITS = 7, CHANNELS = 4 };  // what lies between the two axes has 8 + 7 bits

// One axis: output i is the sum of taps[i] weights, from weight[i * most] on, times the source from first[i] on.
struct axis {
    int *first, *taps;
    int16_t *weight;
    int most;
    size_t room, weights;
};

struct scaler {
    struct axis down, across;
    int16_t *row;
    size_t room;
};

struct scaler *scaler_new(void)
{
    return zalloc(sizeof(struct scaler));
}

static void free_axis(struct axis *axis)
{
    free(axis->first);
    free(axis->taps);
    free(axis->weight);
}

void scaler_free(struct scaler *s)
{
    if (s == NULL) return;
    free_axis(&s->down);
    free_axis(&s->across);
    free(s->row);
    free(s);
}

// The filter at one output: it reaches from first to end.
struct tap {
    double centre, reach;
    int first, end;
};

static struct tap tap_at(double begin, double step, int64_t i, int bound)
{
    double centre = begin + ((double)i + 0.5) * step, reach = step > 1 ? step : 1;
    int first = (int)floor(centre - reach + 0.5), end = (int)floor(centre + reach + 0.5);
    if (first < 0) first = 0;
    if (end > bound) end = bound;
    if (first >= bound) first = bound - 1;
    if (end <= first) end = first + 1;
    return (struct tap){centre, reach, first, end};
}

void scale_reach(double begin, double length, int64_t count, int bound, int *first, int *end)
{
    double step = length / (double)count;
    *first = tap_at(begin, step, 0, bound).first;
    *end = tap_at(begin, step, count - 1, bound).end;
}

// Weights sum to exactly 1: what rounding leaves is added to the greatest.
static void set_weights(const struct tap *t, int16_t *weight)
{
    int n = t->end - t->first, left = 1 << WEIGHT_BITS, best = 0;
    double sum = 0;
    for (int k = 0; k < n; k++) sum += fmax(0, 1 - fabs(t->first + k + 0.5 - t->centre) / t->reach);
    for (int k = 0; k < n; k++) {
        double w = fmax(0, 1 - fabs(t->first + k + 0.5 - t->centre) / t->reach);
        weight[k] = (int16_t)(sum > 0 ? lrint(w / sum * (1 << WEIGHT_BITS)) : 0);
        left -= weight[k];
        if (weight[k] > weight[best]) best = k;
    }
    weight[best] = (int16_t)(weight[best] + left);
}

static void set_axis(struct axis *axis, double begin, double length, int64_t count, int bound, bool mirror)
{
    double step = length / (double)count;
    axis->most = (int)ceil(2 * (step > 1 ? step : 1)) + 2;
    if ((size_t)count > axis->room) {
        axis->room = (size_t)count;
        axis->first = grow(axis->first, axis->room * sizeof(int));
        axis->taps = grow(axis->taps, axis->room * sizeof(int));
    }
    if ((size_t)count * (size_t)axis->most > axis->weights) {
        axis->weights = (size_t)count * (size_t)axis->most;
        axis->weight = grow(axis->weight, axis->weights * sizeof(int16_t));
    }
    for (int64_t i = 0; i < count; i++) {
        struct tap t = tap_at(begin, step, i, bound);
        int64_t at = mirror ? count - 1 - i : i;
        axis->first[at] = t.first, axis->taps[at] = t.end - t.first;
        set_weights(&t, axis->weight + at * axis->most);
    }
}

static void sum_rows(const uint8_t *pixels, int64_t stride, const int16_t *weight, int taps, int64_t n, int16_t *row)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t sum = 1 << (WEIGHT_BITS - BETWEEN_BITS - 1);
        for (int k = 0; k < taps; k++) sum += weight[k] * pixels[k * stride + i];
        row[i] = (int16_t)(sum >> (WEIGHT_BITS - BETWEEN_BITS));
    }
}

static void sum_pixels(const int16_t *row, const struct axis *axis, int left, int64_t width, uint8_t *into)
{
    for (int64_t x = 0; x < width; x++) {
        const int16_t *from = row + (int64_t)(axis->first[x] - left) * CHANNELS, *weight = axis->weight + x * axis->most;
        int32_t sum[CHANNELS] = {0};
        for (int k = 0; k < axis->taps[x]; k++)
            for (int c = 0; c < CHANNELS; c++) sum[c] += weight[k] * from[k * CHANNELS + c];
        for (int c = 0; c < 3; c++)
            into[3 * x + c] = (uint8_t)((sum[c] + (1 << (WEIGHT_BITS + BETWEEN_BITS - 1))) >> (WEIGHT_BITS + BETWEEN_BITS));
    }
}

void scale_draw(struct scaler *s, const struct scale_part *part, const struct area *area, bool mirror, int64_t height,
                int64_t width, uint8_t *into)
{
    int first, end;
    set_axis(&s->down, area->top, area->height, height, part->height, false);
    set_axis(&s->across, area->left, area->width, width, part->width, mirror);
    scale_reach(area->left, area->width, width, part->width, &first, &end);
    int64_t lanes = (int64_t)(end - first) * CHANNELS;
    if ((size_t)lanes > s->room) s->row = grow(s->row, (s->room = (size_t)lanes) * sizeof(int16_t));
    const uint8_t *left = part->pixels + (int64_t)(first - part->left) * CHANNELS;
    for (int64_t y = 0; y < height; y++) {
        sum_rows(left + (s->down.first[y] - part->top) * part->stride, part->stride, s->down.weight + y * s->down.most,
                 s->down.taps[y], lanes, s->row);
        sum_pixels(s->row, &s->across, first, width, into + y * width * 3);
    }
}
