// SPDX-License-Identifier: Apache-2.0
// Contrast needs the mean of what it gets: a first pass makes the changes before it, a second pass all of them. Both go block by
// block, so that nothing is allocated. Cost: 24 ns per pixel, 2 ms for 300 x 300.
#include "data/image/jitter.h"

#include "runtime/common/base/rng.h"

enum { BLOCK = 256, ORDERS = 24 /* of four changes */ };

struct block {
    float at[3][BLOCK];  // red, green, blue
};

struct jitter jitter_random(uint64_t seed, uint32_t epoch, int64_t sample, const double most[JITTERS])
{
    struct rng4 r = rng_draw(seed, RNG_JITTER, epoch, (uint32_t)sample, 0);
    uint32_t order = rng_below(rng_draw(seed, RNG_JITTER, epoch, (uint32_t)sample, 1).v[0], ORDERS);
    struct jitter j = {.order = {JITTER_BRIGHTNESS, JITTER_CONTRAST, JITTER_SATURATION, JITTER_HUE}};
    for (int i = 0; i < JITTERS; i++) {
        double middle = i == JITTER_HUE ? 0 : 1, low = i == JITTER_HUE ? -most[i] : fmax(0, 1 - most[i]);
        j.by[i] = (float)(low + (middle + most[i] - low) * (r.v[i] * 0x1p-32));
    }
    for (uint32_t left = JITTERS; left > 1; left--) {  // Fisher-Yates
        int last = j.order[left - 1];
        uint32_t at = order % left;
        order /= left;
        j.order[left - 1] = j.order[at], j.order[at] = last;
    }
    return j;
}

static inline float cut(float x)
{
    x = x < 0 ? 0 : x;
    return x > 1 ? 1 : x;
}

static inline float least(float a, float b)
{
    return a < b ? a : b;
}

static inline float greatest(float a, float b)
{
    return a > b ? a : b;
}

static inline float grey(const struct block *b, int i)
{
    return 0.2989f * b->at[0][i] + 0.587f * b->at[1][i] + 0.114f * b->at[2][i];
}

static void change_brightness(struct block *b, float by)
{
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < BLOCK; i++) b->at[c][i] = cut(b->at[c][i] * by);
}

static void change_contrast(struct block *b, float by, float mean)
{
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < BLOCK; i++) b->at[c][i] = cut(by * b->at[c][i] + (1 - by) * mean);
}

static void change_saturation(struct block *b, float by)
{
    for (int i = 0; i < BLOCK; i++) {
        float rest = (1 - by) * grey(b, i);
        for (int c = 0; c < 3; c++) b->at[c][i] = cut(by * b->at[c][i] + rest);
    }
}

// A channel of a colour of hue h (in sixths of a turn), largest value v and range d, without a branch: channel n is
// v - d max(0, min(k, 4 - k, 1)) with k = (n + h) mod 6, n = 5, 3, 1.
static inline float channel(float n, float h, float v, float d)
{
    float k = n + h;
    k = k >= 6 ? k - 6 : k;
    k = k >= 6 ? k - 6 : k;
    return v - d * greatest(0, least(least(k, 4 - k), 1));
}

static void change_hue(struct block *b, float turns)
{
    const float sixths = turns * 6 + 6;  // 3 to 9
    for (int i = 0; i < BLOCK; i++) {
        float red = b->at[0][i], green = b->at[1][i], blue = b->at[2][i];
        float v = greatest(red, greatest(green, blue)), d = v - least(red, least(green, blue)), over = d > 0 ? 1 / d : 0;
        float h = v == red ? (green - blue) * over : v == green ? 2 + (blue - red) * over : 4 + (red - green) * over;
        h += sixths;  // 2 to 14
        h = h >= 6 ? h - 6 : h;
        h = h >= 6 ? h - 6 : h;
        b->at[0][i] = channel(5, h, v, d), b->at[1][i] = channel(3, h, v, d), b->at[2][i] = channel(1, h, v, d);
    }
}

// The first `count` changes of a block.
static void change(const struct jitter *j, int count, float mean, struct block *b)
{
    for (int i = 0; i < count; i++) {
        float by = j->by[j->order[i]];
        switch (j->order[i]) {
        case JITTER_BRIGHTNESS: change_brightness(b, by); break;
        case JITTER_CONTRAST: change_contrast(b, by, mean); break;
        case JITTER_SATURATION: change_saturation(b, by); break;
        default:
            if (by != 0) change_hue(b, by);
        }
    }
}

static int load(const uint8_t *rgb, int64_t left, struct block *b)
{
    int count = left < BLOCK ? (int)left : BLOCK;
    if (count < BLOCK) *b = (struct block){0};
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) b->at[c][i] = (float)rgb[3 * i + c] * (1.0f / 255);
    return count;
}

static float mean_before_contrast(const struct jitter *j, const uint8_t *rgb, int64_t pixels)
{
    struct block b;
    double sum = 0;
    int before = 0;
    while (j->order[before] != JITTER_CONTRAST) before++;
    for (int64_t at = 0; at < pixels; at += BLOCK) {
        int count = load(rgb + 3 * at, pixels - at, &b);
        change(j, before, 0, &b);
        for (int i = 0; i < count; i++) sum += (double)grey(&b, i);
    }
    return pixels > 0 ? (float)(sum / (double)pixels) : 0;
}

void jitter_colours(const struct jitter *j, uint8_t *rgb, int64_t pixels)
{
    const float mean = j->by[JITTER_CONTRAST] != 1 ? mean_before_contrast(j, rgb, pixels) : 0;
    struct block b;
    for (int64_t at = 0; at < pixels; at += BLOCK) {
        int count = load(rgb + 3 * at, pixels - at, &b);
        change(j, JITTERS, mean, &b);
        for (int i = 0; i < count; i++)
            for (int c = 0; c < 3; c++) rgb[3 * (at + i) + c] = (uint8_t)(b.at[c][i] * 255 + 0.5f);
    }
}
